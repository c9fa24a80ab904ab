//! Zeroes the byte lanes of a beat that are not enabled.

use std::fmt::Write;

use rust_hdl::prelude::*;

use crate::parameters::{Checked, Parameters};

/// Statements that assign `data`, an expression, to `masked` in the byte lanes of `lanes`, and 0 in the others; `words` are the 32-bit groups of
/// `data`, and their number is that of `lanes` / 4.
///
/// Gated models widen four lanes at a time: Verilator would take bit for bit.
fn masked(data: &str, words: &[String]) -> String {
    let lanes = 4 * words.len();
    let joined = |parts: Vec<String>| parts.join(", ");
    let bytes = (0..lanes)
        .rev()
        .map(|lane| format!("{{8{{lanes[{lane}]}}}}"));
    let mut text = format!(
        "  assign masked = {data} & {{{}}}; //-\n",
        joined(bytes.collect())
    );
    for group in 0..words.len() {
        let (top, low) = (4 * group + 3, 4 * group);
        // One bit at the bottom of each byte, then all bits of these bytes.
        let _ = writeln!(
            text,
            "//@ wire [31:0] spread_{group} = ({{28'b0, lanes[{top}:{low}]}} * 32'h00204081) & 32'h01010101;"
        );
    }
    let word = |group: usize| {
        format!(
            "{} & ((spread_{group} << 8) - spread_{group})",
            words[group]
        )
    };
    let groups = (0..words.len()).rev().map(word);
    let _ = writeln!(
        text,
        "//@ assign masked = {{{}}};",
        joined(groups.collect())
    );
    text
}

/// Combinational, part of one LUT level. `N` is the number of byte lanes, `W` = 8 `N`.
#[derive(LogicBlock, Default)]
pub struct ByteMask<const W: usize, const N: usize> {
    _parameters: Checked<Self>,
    pub data: Signal<In, Bits<W>>,
    pub lanes: Signal<In, Bits<N>>,
    pub masked: Signal<Out, Bits<W>>,
}

impl<const W: usize, const N: usize> Parameters for ByteMask<W, N> {
    fn check() {
        check_lanes("ByteMask", W, N);
    }
}

impl<const W: usize, const N: usize> Logic for ByteMask<W, N> {
    fn update(&mut self) {
        let lanes = self.lanes.val();
        let mut masked = self.data.val();
        for i in 0..W {
            if !lanes.get_bit(i / 8) {
                masked = masked.replace_bit(i, false);
            }
        }
        self.masked.next = masked;
    }

    fn connect(&mut self) {
        self.masked.connect();
    }

    fn hdl(&self) -> Verilog {
        let word = |group: usize| format!("data[{}:{}]", 32 * group + 31, 32 * group);
        let words: Vec<_> = (0..N / 4).map(word).collect();
        code::<Self>(masked("data", &words))
    }
}

/// The same word in all groups of four byte lanes, but 0 in the lanes that are not enabled. Combinational, part of one LUT level.
#[derive(LogicBlock, Default)]
pub struct WordMask<const W: usize, const N: usize> {
    _parameters: Checked<Self>,
    pub word: Signal<In, Bits<32>>,
    pub lanes: Signal<In, Bits<N>>,
    pub masked: Signal<Out, Bits<W>>,
}

impl<const W: usize, const N: usize> Parameters for WordMask<W, N> {
    fn check() {
        check_lanes("WordMask", W, N);
    }
}

impl<const W: usize, const N: usize> Logic for WordMask<W, N> {
    fn update(&mut self) {
        let (word, lanes) = (self.word.val(), self.lanes.val());
        let mut masked = Bits::<W>::default();
        for i in 0..W {
            masked = masked.replace_bit(i, lanes.get_bit(i / 8) && word.get_bit(i % 32));
        }
        self.masked.next = masked;
    }

    fn connect(&mut self) {
        self.masked.connect();
    }

    fn hdl(&self) -> Verilog {
        let words = vec!["word".to_owned(); N / 4];
        code::<Self>(masked(&format!("{{{}{{word}}}}", N / 4), &words))
    }
}

/// Refuses sizes of the mask called `name` that do not fit each other.
fn check_lanes(name: &str, width: usize, lanes: usize) {
    assert!(
        width == 8 * lanes && width == 32 * (lanes / 4),
        "{name}<{width}, {lanes}>: {lanes} byte lanes need W = {}, and come in fours",
        8 * lanes
    );
}

fn code<B>(statements: String) -> Verilog {
    Verilog::Wrapper(Wrapper {
        code: format!("// @module {}\n{statements}", std::any::type_name::<B>()),
        cores: String::new(),
    })
}
