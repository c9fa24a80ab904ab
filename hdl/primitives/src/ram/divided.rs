//! The Verilog of memories that synthesis gets in parts, because it would put LUTs behind the whole, or has no primitive for it.

use std::fmt::Write;

use rust_hdl::prelude::*;

use super::{Block36, Ram, Style};

/// log2 of the words of a group of a deep UltraRAM.
const ULTRA_GROUP: usize = 15;
/// log2 of the words of a group of a deep LUT RAM: the largest primitive with two ports.
const LUT_GROUP: usize = 8;
/// log2 of the words of the smallest quick block RAM that is sliced, and of one whose slices have a bit: that is a whole block RAM.
const FIRST_SLICED: usize = 13;
const BIT_SLICE: usize = 15;
/// log2 of the words of an UltraRAM, and of a memory of so many of them that two levels of LUTs select one, and what was written meanwhile, only if each is enabled by a register.
const ULTRA_WORDS: usize = 12;
const FIRST_ENABLED: usize = 16;

impl<T: Synth, const A: usize, S: Style> Ram<T, A, S> {
    /// The memory for synthesis, if that gets it in parts.
    pub(super) fn divided_verilog() -> Option<String> {
        let is_block = Self::ram_style() == Block36::RAM_STYLE;
        match Self::LATENCY {
            0 if A > LUT_GROUP => Some(Self::grouped_verilog(LUT_GROUP)),
            2 if A > ULTRA_GROUP => Some(Self::grouped_verilog(ULTRA_GROUP)),
            1 if S::QUICK && is_block && (FIRST_SLICED..=BIT_SLICE).contains(&A) => {
                Some(Self::sliced_verilog(1 << (BIT_SLICE - A)))
            }
            1 if !is_block && A >= FIRST_ENABLED => Some(Self::enabled_verilog()),
            _ => None,
        }
    }

    /// The memory of group `index` of 2^`group` words, and its writes.
    fn group_memory(index: usize, group: usize) -> String {
        format!(
            "  (* ram_style = \"{style}\" *) reg [{top}:0] memory_{index} [0:{last}];\n\
             \x20 always @(posedge clock)\n\
             \x20   if (write_enable && write_address[{high}:{group}] == {index}) memory_{index}[write_address[{low}:0]] <= write_data;",
            style = Self::ram_style(),
            top = T::BITS - 1,
            last = (1 << group) - 1,
            high = A - 1,
            low = group - 1
        )
    }

    /// The memory for synthesis, as UltraRAMs of which a register enables one, so that their words are only gated and joined.
    fn enabled_verilog() -> String {
        let top = T::BITS - 1;
        let (high, low) = (A - 1, ULTRA_WORDS - 1);
        let mut out = String::new();
        let mut joined = String::new();
        for index in 0..1 << (A - ULTRA_WORDS) {
            let memory = Self::group_memory(index, ULTRA_WORDS);
            let _ = writeln!(
                out,
                "{memory}\n\
                 \x20 reg [{top}:0] read_{index};\n\
                 \x20 reg enable_{index};\n\
                 \x20 always @(posedge clock) read_{index} <= memory_{index}[read_address[{low}:0]];\n\
                 \x20 always @(posedge clock) enable_{index} <= read_address[{high}:{ULTRA_WORDS}] == {index} && !collides;"
            );
            let _ = write!(
                joined,
                " | ({{{0}{{enable_{index}}}}} & read_{index})",
                T::BITS
            );
        }
        let (collides, written) = if S::BYPASS {
            let written = format!(
                "  reg [{top}:0] written;\n  reg same;\n\
                 \x20 always @(posedge clock) written <= write_data;\n\
                 \x20 always @(posedge clock) same <= collides;\n"
            );
            let _ = write!(joined, " | ({{{}{{same}}}} & written)", T::BITS);
            ("write_enable && write_address == read_address", written)
        } else {
            ("1'b0", String::new())
        };
        format!(
            "  wire collides = {collides};\n{out}{written}  always @(*) read_data = {};\n",
            joined.trim_start_matches(" | ")
        )
    }

    /// The memory for synthesis, as slices of `width` bits.
    fn sliced_verilog(width: usize) -> String {
        let mut out = String::new();
        let read = if S::BYPASS {
            out += &Self::bypass_verilog("0");
            "read"
        } else {
            "read_data"
        };
        for (index, low) in (0..T::BITS).step_by(width).enumerate() {
            let high = (low + width).min(T::BITS) - 1;
            let _ = writeln!(
                out,
                "  (* ram_style = \"{style}\" *) reg [{top}:0] memory_{index} [0:{last}];\n\
                 \x20 always @(posedge clock) if (write_enable) memory_{index}[write_address] <= write_data[{high}:{low}];\n\
                 \x20 always @(posedge clock) {read}[{high}:{low}] <= memory_{index}[read_address];",
                style = Self::ram_style(),
                top = high - low,
                last = Self::DEPTH - 1
            );
        }
        out
    }

    /// The memory for synthesis, as groups of 2^`group` words.
    fn grouped_verilog(group: usize) -> String {
        let top = T::BITS - 1;
        let (high, low) = (A - 1, group - 1);
        let mut out = String::new();
        let mut choice = String::new();
        // The word is a wire if it is read at once, and else a register.
        let chosen = if Self::LATENCY == 0 {
            "word"
        } else {
            "read_data"
        };
        for index in 0..1 << (A - group) {
            let _ = writeln!(out, "{}", Self::group_memory(index, group));
            let word = format!("memory_{index}[read_address[{low}:0]]");
            if Self::LATENCY == 0 {
                let _ = writeln!(out, "  wire [{top}:0] shown_{index} = {word};");
            } else {
                let _ = writeln!(
                    out,
                    "  reg [{top}:0] read_{index};\n\
                     \x20 reg [{top}:0] shown_{index};\n\
                     \x20 always @(posedge clock) read_{index} <= {word};\n\
                     \x20 always @(posedge clock) shown_{index} <= read_{index};"
                );
            }
            let _ = writeln!(choice, "      {index}: {chosen} = shown_{index};");
        }
        let bits = high - group;
        if Self::LATENCY == 0 {
            let _ = writeln!(
                out,
                "  reg [{top}:0] word;\n\
                 \x20 assign read_data = word;\n\
                 \x20 wire [{bits}:0] shown_from = read_address[{high}:{group}];"
            );
        } else {
            let _ = writeln!(
                out,
                "  reg [{bits}:0] read_from;\n\
                 \x20 reg [{bits}:0] shown_from;\n\
                 \x20 always @(posedge clock) read_from <= read_address[{high}:{group}];\n\
                 \x20 always @(posedge clock) shown_from <= read_from;"
            );
        }
        let _ = writeln!(
            out,
            "  always @(*)\n\
             \x20   case (shown_from)\n\
             {choice}\
             \x20     default: {chosen} = shown_0;\n\
             \x20   endcase"
        );
        out
    }
}
