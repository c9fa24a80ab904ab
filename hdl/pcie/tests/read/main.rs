//! The DMA read engine: each block against its own simulation, and the whole against a completer that answers as PCIe allows.

mod bench;
mod completer;
mod completions;
mod equivalence;
mod equivalence_completions;
mod faults;
mod functional;
mod load;
mod rate;
mod reference;
