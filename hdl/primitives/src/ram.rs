//! Memories with one write port and one read port on one clock. The type says where the bits live and how late the data comes:
//!
//! | type | Xilinx primitive | latency | a read of the address written in the same cycle gives |
//! |---|---|---|---|
//! | [`LutRam`] | distributed RAM | 0 (asynchronous read) | the old contents, and the new ones after the edge |
//! | [`BlockRam`] | RAMB36 | 1 | the old contents |
//! | [`BypassRam`] | RAMB36, compare and mux behind it | 1 | the new contents |
//! | [`RowRam`] | RAMB36, or URAM288 if it is deep | 1 | the old contents or the new ones |
//! | [`QuickRam`], [`QuickBypassRam`] | those of [`RowRam`] and [`BypassRam`], but an URAM288 only above 2^14 words | 1 | as those |
//! | [`UltraRam`] | URAM288 with its output register | 2 | the old contents or the new ones |
//!
//! A [`RowRam`] or [`BypassRam`] of at least 2^13 words of 64 bits, or of 2^12 words of 128 bits, is an UltraRAM, whose output register is left out: eight block RAMs
//! hold as much as one. The data of an UltraRAM come a LUT level later, so rows on which much depends in the same cycle are in a [`QuickRam`] or [`QuickBypassRam`].
//!
//! The two ports of an UltraRAM act one after the other in a cycle, and synthesis chooses which of them reads. So a block must not depend on what a collision
//! gives. In simulation it gives the new contents at half of the addresses, those with an odd number of ones, and the old ones at the others.
//!
//! Synthesis gets an UltraRAM of more than 2^15 words as groups of 2^15 words, eight primitives deep. Each group has an output register of its own, and the
//! address of two cycles before selects among them, so that no path leads through more than eight primitives. It gets a LUT RAM of more than 2^8 words as groups of
//! 2^8 words, because Yosys 0.23 has no primitive for more, but asks for one that has 2^16.
//!
//! The data type is any record, so no user packs or unpacks bits. Contents start as `T::default()`.

use std::fmt::Write;
use std::marker::PhantomData;

use rust_hdl::prelude::*;

use crate::sim::ram::gated_read;
use crate::sim::{self, Gated};

/// The differences between the memory types.
pub trait Style: 'static {
    /// Value of Vivado's `ram_style` attribute.
    const RAM_STYLE: &'static str;
    /// Cycles from a read address to its data; 0 is an asynchronous read.
    const LATENCY: usize;
    /// Whether a read of the address written in the same cycle gives the new data.
    const BYPASS: bool = false;
    /// Whether such a read may give either the old data or the new data.
    const EITHER: bool = false;
    /// Address bits from which a deep memory is an UltraRAM (see the module).
    const ULTRA_FROM: usize = usize::MAX;
}

/// Distributed RAM in LUTs.
#[derive(Default)]
pub struct Distributed;
/// Block RAM.
#[derive(Default)]
pub struct Block36;
/// Block RAM, or UltraRAM, whose reads see the write of the same cycle.
pub struct Bypassed;
/// Block RAM, or UltraRAM.
pub struct Row;
/// Block RAM up to 2^14 words, UltraRAM above.
pub struct Quick;
/// The same, whose reads see the write of the same cycle.
pub struct QuickBypassed;
/// UltraRAM.
pub struct Ultra;

impl Style for Distributed {
    const RAM_STYLE: &'static str = "distributed";
    const LATENCY: usize = 0;
}

impl Style for Block36 {
    const RAM_STYLE: &'static str = "block";
    const LATENCY: usize = 1;
}

impl Style for Bypassed {
    const RAM_STYLE: &'static str = "block";
    const LATENCY: usize = 1;
    const BYPASS: bool = true;
    const ULTRA_FROM: usize = 0;
}

impl Style for Row {
    const RAM_STYLE: &'static str = "block";
    const LATENCY: usize = 1;
    const EITHER: bool = true;
    const ULTRA_FROM: usize = 0;
}

/// Address bits of a quick memory that is an UltraRAM.
const NOT_QUICK: usize = 15;

impl Style for Quick {
    const RAM_STYLE: &'static str = "block";
    const LATENCY: usize = 1;
    const EITHER: bool = true;
    const ULTRA_FROM: usize = NOT_QUICK;
}

impl Style for QuickBypassed {
    const RAM_STYLE: &'static str = "block";
    const LATENCY: usize = 1;
    const BYPASS: bool = true;
    const ULTRA_FROM: usize = NOT_QUICK;
}

impl Style for Ultra {
    const RAM_STYLE: &'static str = "ultra";
    const LATENCY: usize = 2;
    const EITHER: bool = true;
}

/// Asynchronous read. One LUT level up to 64 words.
pub type LutRam<T, const A: usize> = Ram<T, A, Distributed>;
/// Data one cycle after the address; read-before-write.
pub type BlockRam<T, const A: usize> = Ram<T, A, Block36>;
/// Data one cycle after the address; write-before-read. One LUT level behind the memory.
pub type BypassRam<T, const A: usize> = Ram<T, A, Bypassed>;
/// Data one cycle after the address. A read of the address written in the same cycle gives the old contents or the new ones. For a row of each queue pair.
pub type RowRam<T, const A: usize> = Ram<T, A, Row>;
/// As [`RowRam`], for rows on which much depends in the cycle in which they come.
pub type QuickRam<T, const A: usize> = Ram<T, A, Quick>;
/// As [`BypassRam`], for rows on which much depends in the cycle in which they come.
pub type QuickBypassRam<T, const A: usize> = Ram<T, A, QuickBypassed>;
/// Data two cycles after the address. A read of the address written in the same cycle gives the old contents or the new ones.
pub type UltraRam<T, const A: usize> = Ram<T, A, Ultra>;

/// A memory of 2^`A` words of `T`. Use it by its names [`LutRam`], [`BlockRam`], [`BypassRam`], [`RowRam`], [`QuickRam`], [`QuickBypassRam`], [`UltraRam`].
#[derive(LogicBlock)]
pub struct Ram<T: Synth, const A: usize, S: Style> {
    pub clock: Signal<In, Clock>,
    pub write_enable: Signal<In, Bit>,
    pub write_address: Signal<In, Bits<A>>,
    pub write_data: Signal<In, T>,
    pub read_address: Signal<In, Bits<A>>,
    pub read_data: Signal<Out, T>,
    _words: Vec<T>,
    /// Data read but not yet at the output (latency 2).
    _read: T,
    _style: PhantomData<S>,
}

impl<T: Synth, const A: usize, S: Style> Ram<T, A, S> {
    /// Cycles from a read address to its data.
    pub const LATENCY: usize = S::LATENCY;
    /// Number of words.
    pub const DEPTH: usize = 1 << A;
}

impl<T: Synth, const A: usize, S: Style> Default for Ram<T, A, S> {
    fn default() -> Self {
        assert!(
            (1..=24).contains(&A),
            "a RAM with {A} address bits: use 1 to 24 (split a larger memory into banks)"
        );
        assert!(
            T::BITS > 0,
            "a RAM of words without bits: give the record a field"
        );
        Self {
            clock: Default::default(),
            write_enable: Default::default(),
            write_address: Default::default(),
            write_data: Default::default(),
            read_address: Default::default(),
            read_data: Default::default(),
            _words: vec![T::default(); 1 << A],
            _read: T::default(),
            _style: PhantomData,
        }
    }
}

impl<T: Synth, const A: usize, S: Style> Logic for Ram<T, A, S> {
    fn update(&mut self) {
        let read = self.read_address.val().index();
        if self.clock.pos_edge() {
            let write = self
                .write_enable
                .val()
                .then(|| self.write_address.val().index());
            let gives_new = S::BYPASS || S::EITHER && read.count_ones() % 2 == 1;
            let word = match write {
                Some(write) if gives_new && write == read => self.write_data.val(),
                _ => self._words[read],
            };
            match S::LATENCY {
                0 => {}
                1 => self.read_data.next = word,
                _ => {
                    self.read_data.next = self._read;
                    self._read = word;
                }
            }
            if let Some(write) = write {
                self._words[write] = self.write_data.val();
            }
        }
        if S::LATENCY == 0 {
            self.read_data.next = self._words[read];
        }
    }

    fn connect(&mut self) {
        self.read_data.connect();
    }

    fn hdl(&self) -> Verilog {
        let code = self.verilog();
        if S::LATENCY == 0 {
            Verilog::Wrapper(Wrapper {
                code,
                cores: String::new(),
            })
        } else {
            Verilog::Custom(code)
        }
    }
}

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

/// log2 of the words of a group of a deep UltraRAM.
const ULTRA_GROUP: usize = 15;
/// log2 of the words of a group of a deep LUT RAM: the largest that a slice holds with two ports.
const LUT_GROUP: usize = 8;
/// Whether a memory of 2^`address_bits` words is deep, and so an UltraRAM, which has 2^12 words of 72 bits.
const fn is_deep(address_bits: usize, word_bits: usize) -> bool {
    address_bits >= 13 && word_bits >= 64 || address_bits == 12 && word_bits >= 128
}

impl<T: Synth, const A: usize, S: Style> Ram<T, A, S> {
    /// Value of Vivado's `ram_style` attribute.
    fn ram_style() -> &'static str {
        if A >= S::ULTRA_FROM && is_deep(A, T::BITS) {
            Ultra::RAM_STYLE
        } else {
            S::RAM_STYLE
        }
    }

    fn verilog(&self) -> String {
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
        // Groups have no initial contents, so they power up as zero.
        let out = match Self::group().filter(|_| is_zero) {
            Some(group) => format!(
                "`ifdef SYNTHESIS\n{}`else\n{whole}`endif\n",
                Self::grouped_verilog(group)
            ),
            None => whole,
        };
        let gated = gated_read(S::LATENCY, A, "write_enable");
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
            out += &Self::bypass_verilog(top, zero);
        } else if S::LATENCY == 2 {
            let _ = writeln!(out, "  reg [{top}:0] read;");
        }
        // Block and UltraRAM power up as zero anyway, and Yosys takes minutes to unroll the loop of a deep memory.
        let guarded = S::LATENCY > 0 && is_zero;
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
        match S::LATENCY {
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

    /// log2 of the words of a group, if synthesis gets the memory as groups.
    const fn group() -> Option<usize> {
        match S::LATENCY {
            0 if A > LUT_GROUP => Some(LUT_GROUP),
            2 if A > ULTRA_GROUP => Some(ULTRA_GROUP),
            _ => None,
        }
    }

    /// The memory for synthesis, as groups of 2^`group` words.
    fn grouped_verilog(group: usize) -> String {
        let top = T::BITS - 1;
        let (high, low) = (A - 1, group - 1);
        let last = (1 << group) - 1;
        let style = S::RAM_STYLE;
        let mut out = String::new();
        let mut choice = String::new();
        // The word is a wire if it is read at once, and else a register.
        let chosen = if S::LATENCY == 0 { "word" } else { "read_data" };
        for index in 0..1 << (A - group) {
            let _ = writeln!(
                out,
                "  (* ram_style = \"{style}\" *) reg [{top}:0] memory_{index} [0:{last}];\n\
                 \x20 always @(posedge clock)\n\
                 \x20   if (write_enable && write_address[{high}:{group}] == {index}) memory_{index}[write_address[{low}:0]] <= write_data;"
            );
            let word = format!("memory_{index}[read_address[{low}:0]]");
            if S::LATENCY == 0 {
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
        if S::LATENCY == 0 {
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

    /// The memory keeps the form that synthesis recognises; the word that was written meanwhile waits in a register beside it.
    fn bypass_verilog(top: usize, zero: &str) -> String {
        format!(
            "  reg [{top}:0] read;\n  reg [{top}:0] written;\n  reg same;\n\
             \x20 initial read = {zero};\n  initial written = {zero};\n  initial same = 1'b0;\n\
             \x20 always @(posedge clock) read <= memory[read_address];\n\
             \x20 always @(posedge clock) written <= write_data;\n\
             \x20 always @(posedge clock) same <= write_enable && (write_address == read_address);\n\
             \x20 always @(*) read_data = same ? written : read;\n"
        )
    }
}
