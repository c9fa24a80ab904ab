//! Send queues in hardware: WQE prefetch, outstanding messages, completion in order (`docs/transmit.md`, `docs/requester.md`).
#![forbid(unsafe_code)]

mod ahead_count;
pub mod block_pool;
mod completion;
mod cursor;
mod decide;
mod entry;
mod entry_store;
mod flush_turns;
mod lookup;
pub mod message_table;
mod outstanding;
mod pop;
mod prefetch_rows;
pub mod prefetch_state;
mod prefetch_step;
mod psn_search;
mod pushed_entry;
mod read_choice;
pub mod records;
mod ring;
mod take;
mod visit_queue;
pub mod wqe_prefetch;

pub use message_table::MessageTable;
pub use wqe_prefetch::WqePrefetch;
