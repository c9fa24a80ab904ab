//! Memories with one write port and one read port on one clock. The type says where the bits live and how late the data comes:
//!
//! | type | Xilinx primitive | latency | a read of the address written in the same cycle gives |
//! |---|---|---|---|
//! | [`LutRam`] | distributed RAM | 0 (asynchronous read) | the old contents, and the new ones after the edge |
//! | [`BlockRam`] | RAMB36 | 1 | the old contents |
//! | [`BypassRam`] | RAMB36, compare and mux behind it | 1 | the new contents |
//! | [`RowRam`] | RAMB36, or URAM288 if it is deep | 1 | the old contents or the new ones |
//! | [`QuickRam`], [`QuickBypassRam`] | those of [`RowRam`] and [`BypassRam`], but an URAM288 only above 2^15 words | 1 | as those |
//! | [`DeepRowRam`] | that of [`RowRam`] | 1, and 2 above 2^14 words | as that |
//! | [`UltraRam`] | URAM288 with its output register | 2 | the old contents or the new ones |
//!
//! A [`RowRam`] or [`BypassRam`] of at least 2^13 words of 64 bits, or of 2^12 words of 128 bits, is an UltraRAM, whose output register is left out: eight block RAMs
//! hold as much as one. The data of an UltraRAM come a LUT level later, so rows on which much depends in the same cycle are in a [`QuickRam`] or [`QuickBypassRam`].
//! Behind UltraRAMs that share the words, LUTs choose: two levels for 2^15 words. Where that is too much, and the block RAMs of a device do not suffice, a [`DeepRowRam`] has a register behind them.
//!
//! The two ports of an UltraRAM act one after the other in a cycle, and synthesis chooses which of them reads. So a block must not depend on what a collision
//! gives. In simulation it gives the new contents at half of the addresses, those with an odd number of ones, and the old ones at the others.
//!
//! Synthesis gets an UltraRAM of more than 2^15 words as groups of 2^15 words, eight primitives deep. Each group has an output register of its own, and the
//! address of two cycles before selects among them, so that no path leads through more than eight primitives. It gets a LUT RAM of more than 2^8 words as groups of
//! 2^8 words, because Yosys 0.23 has no primitive for more, but asks for one that has 2^16. It gets a quick block RAM of 2^13 to 2^15 words as slices of 4, 2 or 1 bits, each a
//! block RAM that has all words: of several that share the words, a LUT behind them chooses. It gets 16 UltraRAMs that share the words, without an output register, with a register
//! that enables each.
//!
//! The data type is any record, so no user packs or unpacks bits. Contents start as `T::default()`.

use std::marker::PhantomData;

use rust_hdl::prelude::*;

mod divided;
mod verilog;

/// The differences between the memory types.
pub trait Style: 'static {
    /// Value of Vivado's `ram_style` attribute.
    const RAM_STYLE: &'static str;
    /// Cycles from a read address to its data; 0 is an asynchronous read.
    const LATENCY: usize;
    /// Address bits from which data come a cycle later.
    const LATER_FROM: usize = usize::MAX;
    /// Whether a read of the address written in the same cycle gives the new data.
    const BYPASS: bool = false;
    /// Whether such a read may give either the old data or the new data.
    const EITHER: bool = false;
    /// Whether no LUT may be between a block RAM and its data, however deep it is.
    const QUICK: bool = false;
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
/// The same, with a register behind more than 2^14 words.
pub struct DeepRow;
/// Block RAM up to 2^15 words, UltraRAM above.
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

impl Style for DeepRow {
    const RAM_STYLE: &'static str = "block";
    const LATENCY: usize = 1;
    const LATER_FROM: usize = 15;
    const EITHER: bool = true;
    const ULTRA_FROM: usize = 0;
}

/// Address bits of a quick memory that is an UltraRAM.
const NOT_QUICK: usize = 16;

impl Style for Quick {
    const RAM_STYLE: &'static str = "block";
    const LATENCY: usize = 1;
    const EITHER: bool = true;
    const QUICK: bool = true;
    const ULTRA_FROM: usize = NOT_QUICK;
}

impl Style for QuickBypassed {
    const RAM_STYLE: &'static str = "block";
    const LATENCY: usize = 1;
    const BYPASS: bool = true;
    const QUICK: bool = true;
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
/// As [`RowRam`], but data of more than 2^14 words come two cycles after the address (`LATENCY`).
pub type DeepRowRam<T, const A: usize> = Ram<T, A, DeepRow>;
/// As [`RowRam`], for rows on which much depends in the cycle in which they come.
pub type QuickRam<T, const A: usize> = Ram<T, A, Quick>;
/// As [`BypassRam`], for rows on which much depends in the cycle in which they come.
pub type QuickBypassRam<T, const A: usize> = Ram<T, A, QuickBypassed>;
/// Data two cycles after the address. A read of the address written in the same cycle gives the old contents or the new ones.
pub type UltraRam<T, const A: usize> = Ram<T, A, Ultra>;

/// A memory of 2^`A` words of `T`. Use it by its names [`LutRam`], [`BlockRam`], [`BypassRam`], [`RowRam`], [`DeepRowRam`], [`QuickRam`], [`QuickBypassRam`], [`UltraRam`].
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
    pub const LATENCY: usize = if A >= S::LATER_FROM {
        S::LATENCY + 1
    } else {
        S::LATENCY
    };
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
            match Self::LATENCY {
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
        if Self::LATENCY == 0 {
            self.read_data.next = self._words[read];
        }
    }

    fn connect(&mut self) {
        self.read_data.connect();
    }

    fn hdl(&self) -> Verilog {
        let code = self.verilog();
        if Self::LATENCY == 0 {
            Verilog::Wrapper(Wrapper {
                code,
                cores: String::new(),
            })
        } else {
            Verilog::Custom(code)
        }
    }
}
