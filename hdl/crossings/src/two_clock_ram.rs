//! A memory that is written on one clock and read on another.

use std::fmt::Write;
use std::marker::PhantomData;

use hdl_primitives::ram::Style;
use rust_hdl::prelude::*;

use crate::sim;

/// A memory of 2^`A` words of `T` in LUT RAM (`S` = `Distributed`) or block RAM (`Block36`). UltraRAM has one clock.
///
/// With `read_enable`, the word at `read_address` is in `read_data` one cycle of `read_clock` later. Otherwise `read_data` stays. The user reads only
/// words that were written at least a cycle before: a word is undefined until it was written, and while it is written. Models with metastability stop
/// when a word is read at the first edge after its write.
#[derive(LogicBlock)]
pub struct TwoClockRam<T: Synth, const A: usize, S: Style> {
    pub write_clock: Signal<In, Clock>,
    pub write_enable: Signal<In, Bit>,
    pub write_address: Signal<In, Bits<A>>,
    pub write_data: Signal<In, T>,
    pub read_clock: Signal<In, Clock>,
    pub read_enable: Signal<In, Bit>,
    pub read_address: Signal<In, Bits<A>>,
    pub read_data: Signal<Out, T>,
    _words: Vec<T>,
    _style: PhantomData<S>,
}

impl<T: Synth, const A: usize, S: Style> Default for TwoClockRam<T, A, S> {
    fn default() -> Self {
        assert!(
            S::RAM_STYLE != "ultra",
            "a TwoClockRam in UltraRAM: it has one clock only, use Distributed or Block36"
        );
        assert!(
            (1..=16).contains(&A),
            "a TwoClockRam with {A} address bits: use 1 to 16"
        );
        Self {
            write_clock: Default::default(),
            write_enable: Default::default(),
            write_address: Default::default(),
            write_data: Default::default(),
            read_clock: Default::default(),
            read_enable: Default::default(),
            read_address: Default::default(),
            read_data: Default::default(),
            _words: vec![T::default(); 1 << A],
            _style: PhantomData,
        }
    }
}

impl<T: Synth, const A: usize, S: Style> Logic for TwoClockRam<T, A, S> {
    fn update(&mut self) {
        if self.read_clock.pos_edge() && self.read_enable.val() {
            self.read_data.next = self._words[self.read_address.val().index()];
        }
        if self.write_clock.pos_edge() && self.write_enable.val() {
            self._words[self.write_address.val().index()] = self.write_data.val();
        }
    }

    fn connect(&mut self) {
        self.read_data.connect();
    }

    fn hdl(&self) -> Verilog {
        let top = T::BITS - 1;
        let path = std::any::type_name::<Self>();
        let mut out = format!("// @module {path}\n");
        let _ = writeln!(
            out,
            "  (* ram_style = \"{}\" *) reg [{top}:0] memory [0:{}];",
            S::RAM_STYLE,
            (1 << A) - 1
        );
        let _ = writeln!(out, "  initial read_data = {:x};", T::default().verilog());
        out += "  always @(posedge write_clock) if (write_enable) memory[write_address] <= write_data;\n";
        out +=
            "  always @(posedge read_clock) if (read_enable) read_data <= memory[read_address];\n";
        out = out + "// @metastable\n" + &sim::checked_ram(T::BITS, A);
        Verilog::Custom(out + "// @proof\n" + &sim::proof::undefined_ram(T::BITS, A))
    }
}
