//! Netlists that simulate: a block's Verilog becomes cells of UltraScale+ ([`Synthesis`]), and models of the cells are added ([`Synthesis::with_models`]), so that
//! what drives a block's model can drive its netlist.
//!
//! LUTs, registers, carries, LUT RAM and shift registers are the models that Yosys brings. Block RAM, UltraRAM and DSP slices are those of `cells`,
//! which were written from AMD's user guides UG573 and UG579.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod block_ram;
mod cells;
mod synthesis;

pub use cells::cells;
pub use synthesis::Synthesis;
