//! The properties, a file per block.

mod block_fifo;
mod credit;
mod doorbells;
mod page_lookup;
mod round_robin;
mod stream_skid;
mod sync_fifo;
mod wake_queue;

pub use block_fifo::BlockFifoProof;
pub use credit::CreditProof;
pub use doorbells::DoorbellsProof;
pub use page_lookup::PageLookupProof;
pub use round_robin::RoundRobinProof;
pub use stream_skid::StreamSkidProof;
pub use sync_fifo::SyncFifoProof;
pub use wake_queue::WakeQueueProof;
