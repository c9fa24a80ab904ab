//! Zeroes the byte lanes of a beat that are not enabled.

use rust_hdl::prelude::*;

use crate::parameters::{Checked, Parameters};
use crate::sim;

/// Zeroes the byte lanes of a beat that are not enabled. Combinational, part of one LUT level. `N` is the number of byte lanes, `W` = 8 `N`.
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
        code::<Self>("data", &words)
    }
}

/// Repeats a 4-byte word over all byte lanes, with 0 in the lanes that are not enabled. Combinational, part of one LUT level.
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
        code::<Self>(&format!("{{{}{{word}}}}", N / 4), &words)
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

/// Assigns `data`, an expression, to `masked` in the byte lanes of `lanes`, and 0 in the others. `words` are the 32-bit groups of `data`.
fn code<B>(data: &str, words: &[String]) -> Verilog {
    let lanes = (0..4 * words.len()).rev();
    let wide: Vec<String> = lanes
        .map(|lane| format!("{{8{{lanes[{lane}]}}}}"))
        .collect();
    let hardware = format!("  assign masked = {data} & {{{}}};\n", wide.join(", "));
    Verilog::Wrapper(Wrapper {
        code: sim::text::<B>(&hardware, sim::byte_mask(words)),
        cores: String::new(),
    })
}
