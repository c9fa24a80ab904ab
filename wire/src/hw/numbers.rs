//! Numbers that many records carry.

use rust_hdl::prelude::Bits;

pub use crate::rows::QPN_BITS;

/// Local queue pair number: it selects the rows of a queue pair in every table of the card. A card with fewer than 65,536 queue pairs has zeros in the upper bits.
// Written as a number: rustc fails on blocks with constants in aliases.
pub type Qpn = Bits<16>;
const _: () = assert!(QPN_BITS == 16);

/// Packet sequence number, compared modulo 2^24.
pub type Psn = Bits<24>;

/// Index of an entry of a send queue, modulo 2^16. The ring has fewer entries: the low bits select one.
pub type SqIndex = Bits<16>;
