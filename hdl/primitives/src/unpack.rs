//! A record out of its bits.

use rust_hdl::prelude::*;

use crate::parameters::{Checked, Parameters};

/// The record whose fields are the low bits of `entry_bits`, from bit 0. Wires only.
///
/// rust-hdl turns records into bits but not back, so this block exists in Verilog alone: in rust-hdl's own simulation it panics on the first entry
/// that is not all zeros. Blocks with table entries take records at their ports; the top levels that hold an `Unpack` are simulated as Verilog.
#[derive(LogicBlock, Default)]
pub struct Unpack<T: Synth, const N: usize> {
    _parameters: Checked<Self>,
    pub entry_bits: Signal<In, Bits<N>>,
    pub record: Signal<Out, T>,
}

impl<T: Synth, const N: usize> Parameters for Unpack<T, N> {
    fn check() {
        assert!(
            T::BITS <= N,
            "{} has {} bits and does not fit the {N} of an entry",
            T::descriptor().name,
            T::BITS
        );
    }
}

impl<T: Synth, const N: usize> Logic for Unpack<T, N> {
    fn update(&mut self) {
        assert!(
            !self.entry_bits.val().any(),
            "Unpack is wires in Verilog; rust-hdl's own simulation has no way back from bits to a record"
        );
        self.record.next = T::default();
    }

    fn connect(&mut self) {
        self.record.connect();
    }

    fn hdl(&self) -> Verilog {
        let top = T::BITS - 1;
        let code = format!(
            "// @module {}\n  assign record = entry_bits[{top}:0];\n",
            std::any::type_name::<Self>()
        );
        Verilog::Wrapper(Wrapper {
            code,
            cores: String::new(),
        })
    }
}
