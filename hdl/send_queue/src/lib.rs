//! Send queues in hardware: WQE fetch, messages under way, completion in order (`docs/transmit.md`, `docs/requester.md`).
#![forbid(unsafe_code)]

pub mod ahead;
mod completion;
mod decide;
mod entry;
mod look;
pub mod message_table;
pub mod records;
mod ring;
mod under_way;
pub mod wqe_prefetch;

pub use message_table::MessageTable;
pub use wqe_prefetch::WqePrefetch;
