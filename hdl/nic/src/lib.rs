//! Top levels: the receive lane, put together from the blocks of the other `hdl` crates (see `docs/rx_lane.md`).

pub mod drop_counters;
pub mod rx_core;
pub mod rx_lane;

pub use drop_counters::DropCounters;
pub use rx_core::RxCore;
pub use rx_lane::{RxLane, RxLane1024, RxLane512};
