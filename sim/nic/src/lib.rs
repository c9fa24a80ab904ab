//! The Verilated NIC as one of the NICs of `sim-world`.
//!
//! [`NicModel`] is the card's pins. [`RtlNic`] puts around them what a card is plugged into: MACs of two 200G ports, two PCIe endpoints with
//! the host's memory behind them, and software that programs its tables by register writes and reads its completion rings.

mod bar;
mod beat;
mod counted;
mod error;
mod field;
mod host;
mod mac;
mod mixed_nic;
mod model;
mod pcie;
mod pins;
mod rings;
mod rtl_nic;
mod sampled;
mod times;
mod tlp;

pub use beat::Beat;
pub use error::NicError;
pub use host::{CardPair, ConfigEffect, FabricPair, Hosts, Line, LoneCard, SentFrame, SimHosts};
pub use mixed_nic::MixedNic;
pub use model::{NicInputs, NicModel, NicOutputs, PortInputs, PortOutputs, WriteBeat};
pub use rtl_nic::RtlNic;
pub use times::{PinTimes, SimRate, Span};

/// Picoseconds of one clock: 250 MHz.
pub const CLOCK_PS: u64 = 4_000;
/// Bytes of a beat.
pub const BEAT: usize = 128;
