//! What gated models have for hand-written primitives. Hardware never sees any of it: it is for simulation alone (`docs/decisions/0004-gated-models.md`).
//!
//! A gated model gives a module a clock edge only when that changes something in it. A kernel's registers say so by themselves; a hand-written
//! primitive says it here, with an assignment to `gate_active`. Where Verilator makes slow code of the hardware's text, a primitive has another
//! text here, with the same outputs in the same cycles. The edges of a gated clock are both of its edges: `always @(edge clock)`.

mod byte_mask;
mod byte_rotator;
mod crc32;
pub mod ram;

pub(crate) use byte_mask::byte_mask;
pub(crate) use byte_rotator::byte_rotator;

/// Verilog of a primitive in gated models.
pub enum Gated {
    /// Lines beside those of the hardware.
    Beside(String),
    /// Lines in place of those of the hardware.
    Instead(String),
}

/// The text of primitive `B` as the emitter takes it: the `hardware`, then what gated models have.
pub fn text<B>(hardware: &str, gated: Gated) -> String {
    let (place, lines) = match gated {
        Gated::Beside(lines) => ("beside", lines),
        Gated::Instead(lines) => ("instead", lines),
    };
    let path = std::any::type_name::<B>();
    format!("// @module {path}\n{hardware}// @gated {place}\n{lines}")
}
