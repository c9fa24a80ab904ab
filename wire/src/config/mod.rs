//! What software configures a card and its queue pairs with: values, their checks, and the table rows that follow from them.
//!
//! The driver and the software reference of the transport take the same configurations: [`EndpointConfig`] of a card, [`QpConfig`] of a queue pair.

mod coalescing;
mod endpoint;
mod explicit;
mod lane;
mod nscc;
mod path;
mod path_use;
mod profile;
mod requester;
mod rows;
mod spray;
mod srv6;
mod tenant;

pub use coalescing::{coalesce_from, default_sack_every, MAX_SACK_EVERY, NO_COALESCING};
pub use endpoint::{
    ConfigError, EndpointConfig, ImmConfig, Peer, PlaneAddress, QpConfig, TransportConfig, PAGES,
    PORTS,
};
pub use lane::{MaxPayload, MaxPayloadError, RxConfig};
pub use nscc::{NsccParams, ParamError, MAX_WINDOW};
pub use path::{EvIndex, Path, PlaneMask};
pub use path_use::{AllowedPaths, PathUseError};
pub use profile::{EntropyProfile, GeneratedEntropy, HeaderFields, ProfileError, ProfileRows};
pub use requester::{
    Backoff, MrcConfig, QpIdentity, RcConfig, RequesterConfigError, SqRing, DEFAULT_RTO,
    RNR_RETRY_FOREVER,
};
pub use spray::{Policy, SkipScope, SprayConfig, SprayError};
pub use srv6::{EntropyField, Srv6Template, TemplateError};
pub use tenant::{
    RateLimit, TenantShare, TenantShareError, MAX_BUCKET, MAX_RATE, MIN_BUCKET, MIN_RATE,
};

/// Packets that the window of an MRC sender may span: the largest MPR that this card sends with.
pub const WINDOW: u32 = 4096;

/// WRITEs with immediate that a peer may have in flight on a queue pair of this card at most (MAX_WIMM). A power of two, at most 256: the state of a queue pair has a bit for each.
pub const MOST_IMMEDIATES: u16 = 256;

/// WRITEs with immediate that the stash of this card holds for all queue pairs together. A power of two. Software gives each queue pair a part of it ([`ImmConfig::stash_entries`]): 16 for each
/// of 1,024 queue pairs, or 256 for 64 of them.
pub const STASH_ENTRIES: u32 = 16_384;

/// [`STASH_ENTRIES`] of a card with 2^`queue_pair_bits` queue pairs: one for each queue pair at least.
pub const fn stash_entries(queue_pair_bits: usize) -> u32 {
    match queue_pair_bits {
        0..=14 => STASH_ENTRIES,
        _ => 1 << queue_pair_bits,
    }
}

/// Packets of a block of the transmit window. PSN p lies in the block with the number p / 32.
pub const WINDOW_BLOCK: u32 = 32;

/// Packets that the window of an RC queue pair may span.
pub const RC_WINDOW: u32 = 1024;

/// Packets that an MRC receiver tracks from the first missing one on: the largest MPR that a peer of this card may send with. A power of two. A SACK says it in units
/// of [`MPR_UNIT`].
pub const RECEIVE_WINDOW: u32 = 4096;

/// The same on a card with more than 8,192 queue pairs, and on one with more than 32,768, whose windows would not fit the device otherwise.
pub const SMALL_RECEIVE_WINDOW: u32 = 1024;
pub const SMALLEST_RECEIVE_WINDOW: u32 = 256;

/// Unit of the MPR in a SACK, in packets. An MPR of 0 changes nothing.
pub const MPR_UNIT: u32 = 128;

/// Packets that the window of each queue pair of a card with 2^`queue_pair_bits` queue pairs has when it receives.
pub const fn receive_window(queue_pair_bits: usize) -> u32 {
    match queue_pair_bits {
        0..=13 => RECEIVE_WINDOW,
        14..=15 => SMALL_RECEIVE_WINDOW,
        _ => SMALLEST_RECEIVE_WINDOW,
    }
}

/// log2 of the queue pairs that have counters, on a card with 2^`queue_pair_bits` queue pairs: all, but 4,096 on one with more than 32,768.
pub const fn counted_bits(queue_pair_bits: usize) -> usize {
    match queue_pair_bits {
        0..=15 => queue_pair_bits,
        _ => 12,
    }
}

/// Largest MPR between two cards like this one: what the sender keeps and the receiver tracks.
pub const MAX_MPR: u32 = if WINDOW < RECEIVE_WINDOW {
    WINDOW
} else {
    RECEIVE_WINDOW
};

/// MPR of a queue pair whose user does not say otherwise.
pub const DEFAULT_MPR: u16 = MAX_MPR as u16;

/// log2 of the words of 64 PSNs in the rings of received PSNs that the hardware has for each queue pair. A ring has two windows: a window that begins in
/// the middle of a word has packets of one word more than fill it, and these words must have places of their own.
pub const RECEIVE_RING_BITS: usize = ring_bits(RECEIVE_WINDOW);

/// log2 of the words of the ring of a window of `window` packets.
pub const fn ring_bits(window: u32) -> usize {
    (2 * window / 64).ilog2() as usize
}

/// Words of such a ring.
pub const RECEIVE_RING: usize = 1 << RECEIVE_RING_BITS;

/// Bits of a PSN that name its place in such a ring.
pub const RECEIVE_PLACE_BITS: usize = RECEIVE_RING_BITS + 6;
