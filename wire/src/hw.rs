//! Layouts that cross hardware blocks: the records, table entries and enumerations of the receive lane.
//!
//! Every struct here is a rust-hdl `LogicStruct`: the first field sits at bit 0. Hardware blocks use them as signal types,
//! test benches and drivers pack and unpack the same definitions, so that no bit offset is written down twice.
//! `docs/rx_lane.md` draws the pipeline that these records travel through.

pub mod ack;
pub mod core;
pub mod dma;
pub mod frame;
pub mod pack;
pub mod rq;
pub mod tables;
