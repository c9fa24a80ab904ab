//! Zeroes the byte lanes of a beat that are not enabled.

use rust_hdl::prelude::*;

/// Combinational, part of one LUT level. `N` is the number of byte lanes, `W` = 8 `N`.
#[derive(LogicBlock)]
pub struct ByteMask<const W: usize, const N: usize> {
    pub data: Signal<In, Bits<W>>,
    pub lanes: Signal<In, Bits<N>>,
    pub masked: Signal<Out, Bits<W>>,
}

impl<const W: usize, const N: usize> Default for ByteMask<W, N> {
    fn default() -> Self {
        assert!(
            W == 8 * N,
            "ByteMask<{W}, {N}>: {N} byte lanes need W = {}",
            8 * N
        );
        Self {
            data: Default::default(),
            lanes: Default::default(),
            masked: Default::default(),
        }
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
        let lanes: Vec<String> = (0..N)
            .rev()
            .map(|lane| format!("{{8{{lanes[{lane}]}}}}"))
            .collect();
        Verilog::Wrapper(Wrapper {
            code: format!(
                "// @module {}\n  assign masked = data & {{{}}};\n",
                std::any::type_name::<Self>(),
                lanes.join(", ")
            ),
            cores: String::new(),
        })
    }
}
