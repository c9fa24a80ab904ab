//! PCIe DMA.
