//! The PCIe DMA. Here the write part: from `PlaceCommand`s and the packet buffer to memory write TLPs. The read part is [`read`], and [`mod@share`]
//! joins several users of either.
//!
//! ```text
//! PlaceCommand ─► piece_issue ─► request_splitter ─► beat_fetch ─► (packet buffer, 2 cycles) ─► byte_rotator ─► byte_mask ─► FIFO ─► TLP stream
//! └───────────────────────────────────────────── dma_write ────────────────────────────────────────────────────────────────────┘      │
//!                                                                                       AMD requester request stream ◄─ rq_shim ◄─────┘
//! ```
//! | block | does | cycles |
//! |---|---|---|
//! | [`piece_issue`] | one piece of a command per cycle, with its place in the packet buffer | 2 |
//! | [`request_splitter`] | one chunk (a TLP) per cycle: cuts at multiples of the largest request | 3 |
//! | [`beat_fetch`] | one buffer read per cycle and TLP beat, only with room reserved for what comes back | 2 |
//! | [`byte_rotator`](hdl_primitives::byte_rotator) | brings the chunk's first double word to byte lane 0 | 2 |
//! | [`byte_mask`](hdl_primitives::byte_mask) | zeroes what is not payload | 0 |
//! | [`dma_write`] | the whole, for lane width 1,024 or 512 | see there |
//! | [`rq_shim`] | puts the descriptor in front of the payload | 1 |
#![forbid(unsafe_code)]

pub mod beat_fetch;
pub mod byte_enables;
pub mod dma_write;
pub mod piece_issue;
pub mod read;
pub mod records;
pub mod request_splitter;
pub mod rq_shim;
pub mod share;

pub use dma_write::{DmaWrite, DmaWrite1024, DmaWrite512};
pub use rq_shim::{RqShim, RqShim1024, RqShim512};
