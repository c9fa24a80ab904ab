//! Send queues in hardware: WQE prefetch, outstanding messages, completion in order (`docs/transmit.md`, `docs/requester.md`).
#![forbid(unsafe_code)]

pub mod block_pool;
mod completion;
mod cursor;
mod decide;
mod entry;
mod flush_turns;
mod lookup;
pub mod message_table;
mod outstanding;
mod pop;
pub mod prefetch_state;
mod psn_search;
pub mod records;
mod ring;
mod take;
pub mod wqe_prefetch;

pub use message_table::MessageTable;
pub use wqe_prefetch::WqePrefetch;
