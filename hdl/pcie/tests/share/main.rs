//! Blocks that let several users share one PCIe interface.

mod equivalence;
mod read_share;
mod readers;
mod write_share;
