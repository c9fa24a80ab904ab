//! Windows and limits of the receive front end. Where the fields of a header lie is in [`stellar_wire::hw::layout`].

use stellar_wire::mrc::{CcState, Meth, Seth, Tseth};
use stellar_wire::mtu::{LENGTH_BITS, MAX_PAYLOAD};
use stellar_wire::{icrc, Bth, Header, ImmDt, Ipv6, Reth, Udp};

/// UDP to the last extension header of the packet with the most of them: the selective acknowledgement of MRC.
pub const TRANSPORT_BYTES: usize = Udp::LEN + Bth::LEN + Seth::LEN + CcState::LEN;
// An MRC last or only with time stamp and immediate is the longest WRITE.
const _: () = assert!(Meth::LEN + Tseth::LEN + Reth::LEN + ImmDt::LEN <= Seth::LEN + CcState::LEN);
/// Bits of a window on [`TRANSPORT_BYTES`].
pub const TRANSPORT_BITS: usize = 8 * TRANSPORT_BYTES;
/// Bits of a window on all headers from the first IP byte on.
pub const WINDOW_BITS: usize = 8 * (Ipv6::LEN + TRANSPORT_BYTES);
/// Bytes of a RoCE datagram that are never payload or pad, without extension headers.
pub const DATAGRAM_OVERHEAD: usize = Udp::LEN + Bth::LEN + icrc::LEN;

/// Longest IP packet the lane stores, in bytes: the largest payload, all headers, and room for neighbours' jumbo frames
/// to be recognised for what they are. A whole number of beats of either lane width.
pub const MAX_IP_BYTES: usize = MAX_PAYLOAD + 256;
const _: () = assert!((8 * MAX_IP_BYTES) & 1023 == 0 && MAX_IP_BYTES < 1 << LENGTH_BITS);
