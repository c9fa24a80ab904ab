//! Layouts that cross hardware blocks: the records, table entries and enumerations of the lanes.
//!
//! Every struct here is a rust-hdl `LogicStruct`: the first field sits at bit 0. Hardware blocks use them as signal types,
//! test benches pack and unpack the same definitions, so that no bit offset is written down twice. Records of table rows come from
//! [`crate::rows`], which declares them together with their plain form; they also derive [`FromBits`], by which hardware reads them out of a
//! table write.
//! `docs/rx_lane.md` and `docs/tx_lane.md` draw the pipelines that these records travel through.

pub mod ack;
pub mod address;
pub mod ats;
pub mod completer;
pub mod config;
pub mod congestion;
pub mod control;
pub mod core;
pub mod dma;
pub mod fence;
pub mod frame;
pub mod host_queues;
pub mod layout;
pub mod messages;
mod numbers;
pub mod pack;
pub mod payload;
pub mod read;
pub mod receive;
pub mod requester;
pub mod responder;
pub mod rq;
pub mod spray;
pub mod tables;
pub mod tenant;
pub mod tx;
mod tx_extensions;
pub mod tx_frame;
pub mod window;
pub mod wqe;

pub use hdl_macros_support::FromBits;
pub use numbers::{Psn, Qpn, SqIndex, QPN_BITS};
