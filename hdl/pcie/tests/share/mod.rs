//! Arbiters that let several clients share one PCIe interface.

mod equivalence;
mod write_arbiter;
