//! The PCIe DMA. This module is the write engine: it turns `PlaceCommand`s and the contents of the packet buffer into memory write TLPs. The read
//! engine is [`read`]. [`requester`] connects both to AMD's PCIe blocks. The arbiters that share both between several users are in [`mod@share`]. [`flush`] tells when writes have reached memory.
//! [`bars`] serves the host's accesses to the card, and [`ats`] its invalidations.
//!
//! ```text
//! PlaceCommand ─► segment_issue ─► request_splitter ─► beat_fetch ─► (packet buffer, 2 cycles) ─► byte_rotator ─► byte_mask ─► FIFO ─► TLP stream
//! └───────────────────────────────────────────── dma_write ────────────────────────────────────────────────────────────────────┘
//! ```
//! | block | does | cycles |
//! |---|---|---|
//! | [`segment_issue`] | one segment of a command per cycle, with its position in the packet buffer | 2 |
//! | [`request_splitter`] | one chunk (a TLP) per cycle: cuts segments at multiples of the largest request | 3 |
//! | [`beat_fetch`] | one buffer read per TLP beat and cycle, with an entry of the FIFO reserved | 2 |
//! | [`byte_rotator`](hdl_primitives::byte_rotator) | moves the first double word of the chunk to byte lane 0 | 2 |
//! | [`byte_mask`](hdl_primitives::byte_mask) | sets bytes outside the payload to zero | 0 |
//! | [`dma_write`] | the engine, for lane width 1,024 or 512 | `DmaWrite::LATENCY` |
#![forbid(unsafe_code)]

pub mod ats;
pub mod bars;
pub mod beat_fetch;
pub mod bundles;
pub mod byte_enables;
pub mod dma_write;
pub mod flush;
pub mod read;
pub mod records;
pub mod request_splitter;
pub mod requester;
pub mod segment_issue;
pub mod share;
mod sim;

pub use dma_write::{DmaWrite, DmaWrite1024, DmaWrite512};
