//! Arbiters that let several clients share one PCIe interface.

mod equivalence;
mod read_arbiter;
mod readers;
mod write_arbiter;
