//! Numbers that many records carry.

use rust_hdl::prelude::Bits;

/// Local queue pair number: it selects the rows of a queue pair in every table of the card.
pub type Qpn = Bits<10>;

/// Packet sequence number, compared modulo 2^24.
pub type Psn = Bits<24>;

/// Index of an entry of a send queue, modulo 2^16. The ring has fewer entries: the low bits select one.
pub type SqIndex = Bits<16>;
