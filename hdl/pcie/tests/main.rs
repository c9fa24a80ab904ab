//! The PCIe DMA engines, their shims, and what shares them.

mod bars;
mod dma_write;
mod equivalence;
mod flush;
mod rc_shim;
mod read;
mod rq_shim;
mod share;
