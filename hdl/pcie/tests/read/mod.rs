//! The DMA read engine: each block compared with its own simulation, and the whole engine with a completer that follows PCIe.

mod bench;
mod completer;
mod completions;
mod entries;
mod equivalence;
mod equivalence_completions;
mod faults;
mod functional;
mod load;
mod rate;
mod reference;
