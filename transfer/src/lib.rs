//! Transfer engine: one-sided writes between the memories of many hosts, counted by their immediates.
//!
//! It follows "RDMA Point-to-Point Communication for LLM Systems" (arXiv 2510.27656): delivery is reliable and has no order, so nothing here waits
//! for a last packet or a last message. A receiver expects a number of writes with an immediate ([`Engine::expect`]). A write counts once, when all
//! of its bytes are in memory.
//!
//! ```text
//! Engine ─► LocalRegion ─► RegionDescriptor ─ (serde) ─► the peer's Transfer
//!    │  └─► offer ─ (serde) ─► connect ─► PeerId
//!    ├─ submit(Transfer::write | pages | scatter)   one-sided, sharded over the NICs
//!    ├─ expect(immediate, count) · barrier          what waits
//!    ├─ send · call · reply                         two-sided, into slots with credits
//!    └─ progress ─► callbacks and next_event
//! ```
//!
//! ```no_run
//! use stellar_transfer::{Engine, Event, LocalRegion, Nic, RegionDescriptor, Transfer};
//!
//! /// Writes a page, and waits until it is there.
//! fn put<N: Nic>(
//!     engine: &mut Engine<N>,
//!     from: &LocalRegion<N>,
//!     to: &RegionDescriptor,
//! ) -> Result<(), Box<dyn std::error::Error>> {
//!     let transfer = Transfer::write(from.slice(0, 4096), to.at(8192)).with_immediate(7);
//!     let id = engine.submit(&transfer)?;
//!     loop {
//!         if !engine.progress() {
//!             engine.relax();
//!         }
//!         match engine.next_event() {
//!             Some(Event::Done { id: done, result }) if done == id => return Ok(result?),
//!             _ => {}
//!         }
//!     }
//! }
//! ```
//!
//! [`Engine`] does all of its work in [`Engine::progress`], on the caller's thread, so a run on simulated hosts is a function of the calls made.
//! [`Worker`] is a thread that calls it.
//!
//! [`Nic`] is the interface of a NIC. [`DriverNic`] implements it with the driver's verbs.
//!
//! **Flow control**: [`EngineConfig::depth`] limits the outstanding writes of a queue pair. [`EngineConfig::immediates`] of the receiver limits the
//! writes with immediate that its engine has not polled, so no completion ring overruns. The receiver's slots limit messages; a slot becomes free
//! when the application takes its message. [`EngineConfig::transfers`] limits outstanding transfers.
//!
//! **Failure**: a queue pair that fails takes the link to its peer down. Every transfer, call and expectation that depends on the peer ends with
//! [`PeerLost`], which contains the reason. The peer is notified if a queue pair is left for that.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod channel;
mod counters;
mod credit;
mod driver_nic;
mod engine;
mod error;
mod event;
mod ids;
mod link;
mod messages;
mod nic;
mod offer;
mod plan;
mod region;
mod request;
mod sequence;
mod shard;
mod worker;

pub use counters::Senders;
pub use driver_nic::{DriverNic, DriverNicConfig, DriverQueuePair, HostMemory};
pub use engine::{Engine, EngineConfig};
pub use error::{
    ConfigError, ConnectError, JoinError, LinkError, PeerLost, ProtocolError, SetupError,
    SubmitError,
};
pub use event::Event;
pub use ids::{CallId, EngineId, PeerId, RequestId, TransferId};
pub use nic::{Access, Happened, Memory, Nic, NicError, NicEvent, Payload, QueueDepth, Write};
pub use offer::{join, LinkOffer, Offered};
pub use region::{InUse, LocalRegion, RegionDescriptor};
pub use request::{LocalSlice, Pages, RemoteSlice, Sharding, Transfer};
pub use stellar_driver::{RemoteRegion, WcStatus};
pub use worker::Worker;
