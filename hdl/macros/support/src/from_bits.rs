//! Converts bits to a record, the inverse of `Bits<N>::from(record)`.

use rust_hdl_core::bits::Bits;
use rust_hdl_core::synth::Synth;

/// A hardware type that can be read out of its bits, as a row of a table out of the entry that a table write carries.
///
/// `#[derive(FromBits)]` beside `LogicStruct` or `LogicState` implements it by the layout of those. In a kernel, `T::from_bits(x)` is a part
/// select: wires in Verilog, and the same value in rust-hdl's own simulation.
pub trait FromBits: Synth {
    /// The next value of the reader.
    fn read<const N: usize>(reader: &mut BitReader<N>) -> Self;

    /// The value in the low bits of `bits`. Bits above it are ignored.
    fn from_bits<const N: usize>(bits: Bits<N>) -> Self {
        const { assert!(Self::BITS <= N, "from_bits: more bits than given") };
        Self::read(&mut BitReader { bits, at: 0 })
    }
}

/// Reads one value after the other, from bit 0 on.
pub struct BitReader<const N: usize> {
    bits: Bits<N>,
    at: usize,
}

impl<const N: usize> BitReader<N> {
    /// The next `width` bits as a number.
    pub fn number(&mut self, width: usize) -> usize {
        let from = self.at;
        self.at += width;
        (0..width).fold(0, |number, i| {
            number | usize::from(self.bits.get_bit(from + i)) << i
        })
    }
}

impl FromBits for bool {
    fn read<const N: usize>(reader: &mut BitReader<N>) -> Self {
        reader.number(1) == 1
    }
}

impl<const M: usize> FromBits for Bits<M> {
    fn read<const N: usize>(reader: &mut BitReader<N>) -> Self {
        let from = reader.at;
        reader.at += M;
        reader.bits.get_bits::<M>(from)
    }
}
