//! Send queues in hardware: WQE prefetch, outstanding messages, completion in order (`docs/transmit.md`, `docs/requester.md`).
#![forbid(unsafe_code)]

mod ahead_count;
mod ask;
pub mod block_pool;
mod completion;
mod cursor;
mod decide;
mod entry;
mod entry_store;
mod flush_turns;
mod lookup;
mod message_accept;
mod message_outputs;
mod message_rows;
mod message_step;
pub mod message_table;
mod next_read;
mod operation;
mod operation_flow;
mod outstanding;
mod pop;
mod position;
mod prefetch_accept;
mod prefetch_ask;
mod prefetch_rows;
pub mod prefetch_state;
mod prefetch_step;
mod psn_search;
mod pushed_entry;
mod read_choice;
pub mod records;
mod respond;
mod ring;
mod seek;
mod take;
mod taking;
mod visit_queue;
pub mod wqe_prefetch;

pub use message_table::MessageTable;
pub use wqe_prefetch::WqePrefetch;
