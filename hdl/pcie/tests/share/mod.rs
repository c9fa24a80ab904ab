//! Arbiters that let several clients share one PCIe interface.

mod equivalence;
mod read_share;
mod readers;
mod write_share;
