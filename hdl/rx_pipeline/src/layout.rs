//! Windows and limits of the receive front end. Where the fields of a header lie is in [`stellar_wire::hw::layout`].

use stellar_wire::mrc::{CcState, Meth, Seth, Tseth};
use stellar_wire::mtu::{LENGTH_BITS, MAX_PAYLOAD};
use stellar_wire::{icrc, Bth, Header, ImmDt, Ipv6, Reth, Udp};

/// Bytes from UDP to the end of the extension headers, in the packet with the longest ones: the SACK of MRC.
pub const TRANSPORT_BYTES: usize = Udp::LEN + Bth::LEN + Seth::LEN + CcState::LEN;
// The longest WRITE is an MRC last or only packet with time stamp and immediate.
const _: () = assert!(Meth::LEN + Tseth::LEN + Reth::LEN + ImmDt::LEN <= Seth::LEN + CcState::LEN);
/// Bits of the window on the transport headers.
pub const TRANSPORT_BITS: usize = 8 * TRANSPORT_BYTES;
/// Bits of the window on all headers, from the first IP byte on.
pub const WINDOW_BITS: usize = 8 * (Ipv6::LEN + TRANSPORT_BYTES);
/// Bytes of a RoCE datagram that are never payload or pad, without extension headers.
pub const DATAGRAM_OVERHEAD: usize = Udp::LEN + Bth::LEN + icrc::LEN;

/// Longest IP packet that the lane stores, in bytes: the largest payload, all headers, and a margin in which longer frames are
/// recognised as oversize. It is a whole number of beats at either lane width.
pub const MAX_IP_BYTES: usize = MAX_PAYLOAD + 256;
const _: () = assert!((8 * MAX_IP_BYTES) & 1023 == 0 && MAX_IP_BYTES < 1 << LENGTH_BITS);
