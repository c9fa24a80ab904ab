//! The PCIe DMA engines, AMD's streams around them, and what shares them.

mod ats;
mod bars;
mod dma_write;
mod equivalence;
mod flush;
mod read;
mod requester;
mod share;
