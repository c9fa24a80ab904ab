//! The Verilog of memories.

use std::fmt::Write;

use rust_hdl::prelude::*;

use super::{Ram, Style, Ultra};
use crate::sim::ram::gated_read;
use crate::sim::{self, Gated};

/// Reads a word into `register`. In simulation, a memory that may give either gives the new data at addresses with an odd number of ones.
fn read_verilog<S: Style>(register: &str) -> String {
    let plain = format!("  always @(posedge clock) {register} <= memory[read_address];\n");
    if !S::EITHER {
        return plain;
    }
    format!(
        "`ifdef SYNTHESIS\n{plain}`else\n  always @(posedge clock) {register} <= \
         write_enable && write_address == read_address && ^read_address ? write_data : memory[read_address];\n`endif\n"
    )
}

/// Whether a memory of 2^`address_bits` words is deep, and so an UltraRAM, which has 2^12 words of 72 bits.
const fn is_deep(address_bits: usize, word_bits: usize) -> bool {
    address_bits >= 13 && word_bits >= 64 || address_bits == 12 && word_bits >= 128
}

impl<T: Synth, const A: usize, S: Style> Ram<T, A, S> {
    /// Value of Vivado's `ram_style` attribute.
    pub(super) fn ram_style() -> &'static str {
        if A >= S::ULTRA_FROM && is_deep(A, T::BITS) {
            Ultra::RAM_STYLE
        } else {
            S::RAM_STYLE
        }
    }

    pub(super) fn verilog(&self) -> String {
        let zero = format!("{:x}", T::default().verilog());
        let is_zero = zero
            .rsplit('h')
            .next()
            .is_some_and(|digits| digits.chars().all(|c| c == '0'));
        assert!(
            is_zero || Self::ram_style() != Ultra::RAM_STYLE,
            "UltraRAM powers up as zero, but the default of {} is {zero}: use BlockRam or make the default zero",
            T::descriptor().name
        );
        let whole = Self::whole_verilog(&zero, is_zero);
        // Parts have no initial contents, so they power up as zero.
        let out = match Self::divided_verilog().filter(|_| is_zero) {
            Some(divided) => format!("`ifdef SYNTHESIS\n{divided}`else\n{whole}`endif\n"),
            None => whole,
        };
        let gated = gated_read(Self::LATENCY, A, "write_enable");
        sim::text::<Self>(&out, Gated::Beside(gated))
    }

    /// The memory as one array. `zero` is the default of a word, and `is_zero` that all of its bits are.
    fn whole_verilog(zero: &str, is_zero: bool) -> String {
        let top = T::BITS - 1;
        let mut out = String::new();
        let _ = writeln!(
            out,
            "  (* ram_style = \"{}\" *) reg [{top}:0] memory [0:{}];",
            Self::ram_style(),
            Self::DEPTH - 1
        );
        if S::BYPASS {
            out += &Self::bypass_verilog(zero);
            out += "  always @(posedge clock) read <= memory[read_address];\n";
        } else if Self::LATENCY == 2 {
            let _ = writeln!(out, "  reg [{top}:0] read;");
        }
        // Block and UltraRAM power up as zero anyway, and Yosys takes minutes to unroll the loop of a deep memory.
        let guarded = Self::LATENCY > 0 && is_zero;
        if guarded {
            out += "`ifndef SYNTHESIS\n";
        }
        let _ = writeln!(
            out,
            "  integer i;\n  initial for (i = 0; i < {}; i = i + 1) memory[i] = {zero};",
            Self::DEPTH
        );
        if guarded {
            out += "`endif\n";
        }
        out += "  always @(posedge clock) if (write_enable) memory[write_address] <= write_data;\n";
        match Self::LATENCY {
            0 => out += "  assign read_data = memory[read_address];\n",
            1 if S::BYPASS => {}
            1 => {
                let _ = writeln!(out, "  initial read_data = {zero};");
                out += &read_verilog::<S>("read_data");
            }
            _ => {
                let _ = writeln!(
                    out,
                    "  initial read = {zero};\n  initial read_data = {zero};"
                );
                out += &read_verilog::<S>("read");
                out += "  always @(posedge clock) read_data <= read;\n";
            }
        }
        out
    }

    /// The memory, which gives `read`, keeps the form that synthesis recognises; the word that was written meanwhile waits in a register beside it.
    pub(super) fn bypass_verilog(zero: &str) -> String {
        let top = T::BITS - 1;
        format!(
            "  reg [{top}:0] read;\n  reg [{top}:0] written;\n  reg same;\n\
             \x20 initial read = {zero};\n  initial written = {zero};\n  initial same = 1'b0;\n\
             \x20 always @(posedge clock) written <= write_data;\n\
             \x20 always @(posedge clock) same <= write_enable && (write_address == read_address);\n\
             \x20 always @(*) read_data = same ? written : read;\n"
        )
    }
}
