//! Bus-functional models: the other ends of the streams at the pins of a Verilated design, by cycles.
//!
//! [`MacRx`] and [`MacTx`] are the two directions of an Ethernet MAC. [`WriteAssembler`] is the receiver of a stream of PCIe memory writes, and checks the
//! rules of PCIe. [`RequestReader`] and [`CompletionWriter`] are AMD's PCIe block at the requester streams, with straddle. They know no design and no network: `sim-cosim` puts them around a receive lane, and `sim-nic` around the card.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod beat;
mod bits;
mod completions;
mod field;
mod mac_rx;
mod mac_tx;
mod pacing;
mod requests;
mod tlp_error;
mod tlp_header;
mod write_assembler;

pub use beat::Beat;
pub use completions::{CompletionBeat, CompletionWriter};
pub use field::Field;
pub use mac_rx::{MacBeat, MacRx};
pub use mac_tx::MacTx;
pub use pacing::{Pacing, WIRE_OVERHEAD};
pub use requests::{Request, RequestReader, Requests};
pub use tlp_error::TlpError;
pub use write_assembler::{Accepted, WriteAssembler, WriteBeat};

/// Picoseconds of a cycle: 250 MHz.
pub const CLOCK_PS: u64 = 4_000;
/// Bytes of a beat of the widest stream, 1,024 bits.
pub const BEAT: usize = 128;
/// Rate of a 200 Gb/s port, in bytes per cycle.
pub const PORT_BYTES_PER_CLOCK: u64 = 100;
