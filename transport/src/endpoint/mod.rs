//! The whole card in software: receive lane, requesters, responders and scheduler over two ports.
//!
//! [`Endpoint`] has no clock of its own and never blocks. Its caller passes in frames, takes the next frame of a port when the port is
//! free, and calls [`Endpoint::on_timer`] at [`Endpoint::next_deadline`]. The same calls in the same order give the same bytes.
//!
//! Packets leave and arrive as bytes ([`Endpoint::poll_transmit`], [`Endpoint::receive`]) or as records without payload ([`Endpoint::poll_packet`],
//! [`Endpoint::receive_packet`]), which take a sixth of the time (`docs/results.md`). The decisions are the same code, so a simulation of many cards takes records.
//!
//! ```
//! use stellar_transport::endpoint::{Endpoint, EndpointConfig, Memory, MemoryFault, PlaneAddress};
//! use stellar_transport::rx::{RxConfig, WriteTlp};
//! use stellar_transport::time::Ticks;
//! use stellar_wire::MacAddr;
//!
//! struct NoMemory;
//! impl Memory for NoMemory {
//!     fn read(&mut self, address: u64, _: bool, into: &mut [u8]) -> Result<(), MemoryFault> {
//!         Err(MemoryFault { address, length: into.len() })
//!     }
//!     fn write(&mut self, _: &WriteTlp) {}
//! }
//!
//! let plane = |n: u8| PlaneAddress { mac: MacAddr([2, 0, 0, 0, 0, n]), ip: [10, 0, n, 1].into() };
//! let config = EndpointConfig {
//!     planes: [plane(0), plane(1)],
//!     rx: RxConfig::default(),
//!     data_dscp: 0,
//!     control_dscp: 46,
//!     event_entries: 256,
//! };
//! let mut card = Endpoint::new(config, NoMemory)?;
//! assert_eq!(card.poll_transmit(0, Ticks(0)), None); // no queue pair, nothing to send
//! # Ok::<(), stellar_transport::endpoint::ConfigError>(())
//! ```

mod ahead;
mod card;
mod control;
mod counters;
mod departure;
mod error;
mod framing;
mod memory;
mod model;
mod observe;
mod packet;
mod path_use;
mod qp;
mod qp_counts;
mod qp_table;
mod receive;
pub mod scheduler;
mod timers;
mod transmit;

pub use card::Endpoint;
pub use counters::EndpointCounters;
pub use error::{DoorbellError, PostError, TableWriteError};
pub use memory::{Memory, MemoryFault};
pub use model::{CardModel, PayloadPolicy};
pub use observe::CongestionView;
pub use packet::{Departure, Packet, Transit};
pub use stellar_wire::config::{
    ConfigError, EndpointConfig, ImmConfig, Peer, PlaneAddress, QpConfig, TenantShare,
    TenantShareError, TransportConfig, PAGES, PORTS,
};
pub use transmit::SentFrame;
