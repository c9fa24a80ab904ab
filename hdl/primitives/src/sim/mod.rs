//! Verilog that gated models use for hand-written primitives. It is for simulation only and never part of the hardware
//! (`docs/decisions/0004-gated-models.md`).
//!
//! A gated model gives a module a clock edge only if the edge would change something in it. For the registers of a kernel, the emitter generates this
//! condition. For a hand-written primitive, the condition is written here, as an assignment to `gate_active`. If Verilator makes slow code of the
//! hardware's text, the text here replaces it and has the same outputs in the same cycles. A gated clock has an event at both of its edges, so the
//! text uses `always @(edge clock)`.

mod byte_mask;
mod byte_rotator;
mod crc32;
pub mod ram;

pub(crate) use byte_mask::byte_mask;
pub(crate) use byte_rotator::byte_rotator;

/// Verilog of a primitive that only gated models have.
pub enum Gated {
    /// Lines that are added to those of the hardware.
    Beside(String),
    /// Lines that replace those of the hardware.
    Instead(String),
}

/// Returns the text of primitive `B` in the form that the emitter expects: the `hardware`, then the lines for gated models.
pub fn text<B>(hardware: &str, gated: Gated) -> String {
    let (place, lines) = match gated {
        Gated::Beside(lines) => ("beside", lines),
        Gated::Instead(lines) => ("instead", lines),
    };
    let path = std::any::type_name::<B>();
    format!("// @module {path}\n{hardware}// @gated {place}\n{lines}")
}
