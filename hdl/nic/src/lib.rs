//! Top levels: the receive lane and two lanes on one core, put together from the blocks of the other `hdl` crates (see `docs/rx_lane.md`).

pub mod ack_order_queue;
pub mod counter_bank;
pub mod drop_counters;
pub mod failure_fork;
pub mod fence_barrier;
pub mod host_reader;
pub mod nic;
pub mod nic_config;
pub mod placed_credits;
pub mod port_counters;
pub mod requester_pair;
pub mod rx_core;
pub mod rx_dual_lane;
pub mod rx_lane;
pub mod stream_merge;
pub mod table_bits;
pub mod top;
pub mod tx_dual_lane;

pub use ack_order_queue::AckOrderQueue;
pub use counter_bank::CounterBank;
pub use drop_counters::DropCounters;
pub use failure_fork::FailureFork;
pub use fence_barrier::FenceBarrier;
pub use host_reader::HostReader;
pub use nic::{Nic, RESET_CLOCKS, RESET_HOLD, VERIFICATION_PORTS};
pub use nic_config::NicConfig;
pub use placed_credits::PlacedCredits;
pub use port_counters::PortCounters;
pub use requester_pair::RequesterPair;
pub use rx_core::RxCore;
pub use rx_dual_lane::{RxDualLane, RxDualLane1024, RxDualLane512};
pub use rx_lane::{RxLane, RxLane1024, RxLane512};
pub use stream_merge::StreamMerge;
pub use top::Top;
pub use tx_dual_lane::{TxDualLane, TxEvents};
