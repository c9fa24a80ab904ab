//! The Verilated NIC as one of the NICs of `sim-world`.
//!
//! [`NicModel`] is the card's pins. [`RtlNic`] puts around them what a card is plugged into: MACs of its ports (`sim-bfm`), PCIe endpoints with
//! the host's memory behind them, and software that programs its tables by register writes and reads its completion rings.

mod bar;
mod counted;
mod error;
mod host;
mod mixed_nic;
mod mmio;
mod model;
mod pcie;
mod pins;
mod port;
mod rings;
mod rtl_nic;
mod sampled;
mod shape;
mod times;

pub use error::NicError;
pub use hdl_nic::Shape;
pub use host::{CardPair, ConfigEffect, FabricPair, Hosts, Line, LoneCard, SentFrame, SimHosts};
pub use mixed_nic::{AsPlanned, CardReceives, CardSends, Mix, MixedNic};
pub use model::{CqBeat, NicInputs, NicModel, NicOutputs, PortInputs, PortOutputs, RqBeat};
pub use pcie::{
    stream_rates, write_latency, AcsSettings, Credits, HostSide, IommuSettings, PcieSettings,
    RcBeat, ReadCompletions, RequestSizes, StreamRate,
};
pub use port::Link;
pub use rtl_nic::RtlNic;
pub use shape::{choose_shape, chosen_shape, host_ports, with_shape};
pub use sim_bfm::{Beat, BEAT, CLOCK_PS};
pub use times::{PinTimes, SimRate, Span};
