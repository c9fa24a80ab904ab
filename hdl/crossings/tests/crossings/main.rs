//! Every crossing: its Verilog against its own rust-hdl simulation and the tools, then Verilated models on two clocks against plain Rust, with
//! metastability.
mod agreement;
mod async_fifo;
mod bench;
mod chained;
mod clocks;
mod constraints;
mod levels;
