//! The properties, a file per block.

mod async_fifo;
mod block_fifo;
mod credit;
mod doorbells;
mod fence_barrier;
mod fence_control;
mod gray_crossing;
mod page_lookup;
mod region_check;
mod request_splitter;
mod round_robin;
mod send_window;
mod stream_skid;
mod sync_fifo;
mod tag_pool;
mod tx_window;
mod wake_queue;

pub use async_fifo::AsyncFifoProof;
pub use block_fifo::BlockFifoProof;
pub use credit::CreditProof;
pub use doorbells::DoorbellsProof;
pub use fence_barrier::FenceBarrierProof;
pub use fence_control::FenceControlProof;
pub use gray_crossing::GrayCrossingProof;
pub use page_lookup::PageLookupProof;
pub use region_check::RegionCheckProof;
pub use request_splitter::RequestSplitterProof;
pub use round_robin::RoundRobinProof;
pub use send_window::SendWindowProof;
pub use stream_skid::StreamSkidProof;
pub use sync_fifo::SyncFifoProof;
pub use tag_pool::TagPoolProof;
pub use tx_window::TxWindowProof;
pub use wake_queue::WakeQueueProof;
