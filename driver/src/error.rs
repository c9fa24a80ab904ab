//! What can go wrong with verbs.

use stellar_wire::config::{ConfigError, ParamError, PathUseError, ProfileError, TenantShareError};
use stellar_wire::WireError;
use thiserror::Error;

use crate::device::DeviceError;
use crate::probe::ProbeError;
use crate::profiles::ProfileUseError;
use crate::qp::{IllegalTransition, QpState, Transport};

/// Why a verb failed. Nothing has changed, unless the error is the card's.
#[derive(Debug, Error)]
pub enum Error {
    /// The card, its memory or its interrupts.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The card's configuration spaces.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// Translated addresses while ATS is off.
    #[error("ATS is off in the card's configuration spaces, so no request may have a translated address: have the host enable it (Linux does for a function behind an IOMMU and a switch with ATS), or register memory by its bus addresses")]
    NoAts,
    /// Attributes that cannot work.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The path cannot be congestion controlled.
    #[error(transparent)]
    Path(#[from] ParamError),
    /// Entropy values that cannot be a profile.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// An entropy profile that the card or the queue pair cannot have.
    #[error(transparent)]
    ProfileUse(#[from] ProfileUseError),
    /// The queue pair is in a state in which the call is not allowed.
    #[error(transparent)]
    Transition(#[from] IllegalTransition),
    /// Attributes or a peer of the other transport.
    #[error("queue pair {qp} is of {own}, and {what} of {given}: make both ends with one `QueuePairConfig::transport`, and give attributes of that")]
    Transport {
        /// The queue pair.
        qp: u32,
        /// Its transport.
        own: Transport,
        /// What does not fit.
        what: &'static str,
        /// Its transport.
        given: Transport,
    },
    /// All of a kind are in use.
    #[error("no {what} left; the card has {have}: free some")]
    Exhausted {
        /// The kind of object.
        what: &'static str,
        /// How many there are.
        have: u32,
    },
    /// The card has no queue pair of this number.
    #[error("no queue pair {qp}: the card has 0 to {}", .queue_pairs - 1)]
    NoQueuePair {
        /// The number.
        qp: u32,
        /// How many there are.
        queue_pairs: u32,
    },
    /// The card keeps no counters for this queue pair.
    #[error("no counters of queue pair {qp}: the card counts for 0 to {}", .counted - 1)]
    NotCounted {
        /// The number.
        qp: u32,
        /// How many have counters.
        counted: u32,
    },
    /// The card has lost completions of this queue pair (verbs: `IBV_EVENT_CQ_ERR`).
    #[error("the completion queue of queue pair {0} was full, and lost completions: move the queue pair to ERROR or RESET, and give it a longer queue or poll more often")]
    Overrun(u32),
    /// An impossible size of a queue.
    #[error("{queue} queue of {entries} entries; use a power of two from {least} to {most}")]
    QueueSize {
        /// The kind of queue.
        queue: &'static str,
        /// Asked for.
        entries: u32,
        /// Smallest.
        least: u32,
        /// Largest.
        most: u32,
    },
    /// An impossible region.
    #[error("memory region: {0}")]
    Region(String),
    /// Two objects that cannot work together.
    #[error("{0} belong to different contexts; make both from one")]
    OtherContext(&'static str),
    /// Memory that is another card's.
    #[error("the memory is mapped for another card; allocate it from a context of this one")]
    OtherCard,
    /// Too large for the card.
    #[error("{field} is {value}; the card takes {least} to {most}")]
    Attribute {
        /// The name of the attribute.
        field: &'static str,
        /// Asked for.
        value: u64,
        /// Smallest.
        least: u64,
        /// Largest.
        most: u64,
    },
    /// The card wrote an entry no driver can read.
    #[error("the card wrote an entry that cannot be: {0}; reset it")]
    BadEntry(#[from] WireError),
    /// The card reports work that was not posted.
    #[error("queue pair {qp}: the card frees send queue entries up to {head}, of {freed} to {producer} that are posted; reset it")]
    BadHead {
        /// The queue pair.
        qp: u32,
        /// The index up to which the card reports entries as executed.
        head: u16,
        /// First entry that is posted.
        freed: u16,
        /// The index after the last posted entry.
        producer: u16,
    },
    /// A path that cannot be denied or allowed.
    #[error("queue pair {qp}: {reason}")]
    PathUse {
        /// The queue pair.
        qp: u32,
        /// Why.
        reason: PathUseError,
    },
    /// Paths for an RC queue pair of a card without them.
    #[error("an RC queue pair of this card has one path (bit 40 of DATA_PATH is 0), so `RcRtrAttributes::paths` must be None: use MRC for many paths, or load an image with paths over RC")]
    NoRcPaths,
    /// The queue pair does not send, so it has no paths.
    #[error("queue pair {qp} is in {state:?}; its paths can be denied in Rts, and all are allowed when it enters Rts")]
    NoPaths {
        /// The queue pair.
        qp: u32,
        /// Its state.
        state: QpState,
    },
    /// A share that the card cannot give.
    #[error(transparent)]
    Share(#[from] TenantShareError),
    /// The context has no share of its own.
    #[error("doorbell page {page} has no share of its own: all pages from {} on have one together; close contexts, or open those with a share first", crate::limits::TENANTS)]
    SharedTenant {
        /// The context's page.
        page: u16,
    },
    /// A context that was opened from another card.
    #[error("the context is of another card; use the device that it was opened from")]
    ContextOfOtherCard,
    /// The completion queue has no interrupt to wait for.
    #[error("the completion queue was made without an interrupt; make it with one, or poll")]
    NoInterrupt,
}
