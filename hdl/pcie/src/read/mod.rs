//! The read part of the PCIe DMA: from `ReadCommand`s to memory read requests, and from their completions back to the payload, in order.
//!
//! ```text
//! ReadCommand ─► read_scoreboard ─► segment_issue ─► request_splitter ─► read_issue ─► memory read requests
//!                 │  ▲  ▲ requests that left ───────────────────────┘ ▲   │ entries by tag
//!                 │  │                                       tag_pool ┘   ▼
//!                 │  └─ reports ─ completion_writer ◄─ completion_check ◄─ completions (never stalled)
//!                 │ complete          │ bytes           └─► tags back to tag_pool
//!                 ▼                   ▼
//!             in_order_return ◄─────── ring_buffer (granules of 128 bytes, even and odd words)
//!                 └─► payload stream
//! ```
//! | block | does | cycles |
//! |---|---|---|
//! | [`read_scoreboard`] | space for each command, before any of its requests; which commands are complete; their order | 1 |
//! | [`command_counts`] | its counts of requests per command | 0 |
//! | [`tag_pool`] | free tags | 2 |
//! | [`read_issue`] | a tag for each request, and the entry that says where its bytes go | 2 |
//! | [`completion_check`] | each completion against what its request still waits for; deadlines | 3 |
//! | [`completion_writer`] | rotates each beat to its place | 3 |
//! | [`ring_buffer`] | two banks of [`byte_ram`] | 2 |
//! | [`in_order_return`] | complete commands as a stream | 5 |
//! | [`dma_read`] | the whole, for lane width 1,024 or 512 | see there |
//! | [`entry_reader`] | queue entries through an engine of their own | 1 for a request, 2 for its entries |
//!
//! Commands are cut into segments and chunks as in the write engine: [`crate::segment_issue`], [`crate::request_splitter`].

pub mod byte_ram;
pub mod command_counts;
pub mod completion_check;
pub mod completion_writer;
pub mod dma_read;
pub mod entry_reader;
pub mod in_order_return;
pub mod read_issue;
pub mod read_scoreboard;
pub mod records;
pub mod ring_buffer;
pub mod tag_pool;

pub use dma_read::{DmaRead, DmaRead1024, DmaRead512};
pub use entry_reader::EntryReader;
