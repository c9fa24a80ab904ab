//! Streams, FIFOs, RAMs, arbiters, CRC and other building blocks.
//!
//! | module | what | latency in clocks |
//! |---|---|---|
//! | [`ram`] | `LutRam`, `BlockRam`, `BypassRam`, `UltraRam` of any record | in the type: 0, 1, 1, 2 |
//! | [`sync_fifo`] | first-word-fall-through FIFO in LUT RAM | 1 |
//! | [`block_fifo`] | first-word-fall-through FIFO in block RAM | 2 |
//!
//! Parameters are checked when a block is constructed (`Default::default` or `new`): a wrong one panics and says what to change.
#![forbid(unsafe_code)]

pub mod block_fifo;
pub mod ram;
pub mod sync_fifo;

pub use block_fifo::BlockFifo;
pub use ram::{BlockRam, BypassRam, LutRam, UltraRam};
pub use sync_fifo::SyncFifo;
