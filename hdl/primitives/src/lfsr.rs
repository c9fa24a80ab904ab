//! A linear-feedback shift register of maximal length.

use hdl_macros::hdl;
use rust_hdl::prelude::*;

/// A Galois register of `N` = 16 or 32 bits that shifts right; period 2^`N` - 1, never zero. One LUT level.
///
/// Feedback polynomials: x^16 + x^14 + x^13 + x^11 + 1 and x^32 + x^22 + x^2 + x + 1; the tests show both
/// to be of full period.
#[derive(LogicBlock)]
pub struct Lfsr<const N: usize> {
    pub clock: Signal<In, Clock>,
    /// Back to the seed.
    pub reset: Signal<In, Bit>,
    pub advance: Signal<In, Bit>,
    pub value: Signal<Out, Bits<N>>,
    /// The value XOR the seed, so that a register that powers up as zero starts at the seed.
    offset: DFF<Bits<N>>,
    _seed: Bits<N>,
}

/// The bits that a one leaving at the right flips.
fn taps<const N: usize>() -> Bits<N> {
    match N {
        16 => bits(0xB400),
        32 => bits(0x8020_0003),
        _ => panic!("Lfsr of {N} bits: use 16 or 32"),
    }
}

impl<const N: usize> Lfsr<N> {
    /// A register that starts at `seed`, which must not be zero.
    pub fn new(seed: u32) -> Self {
        let _ = taps::<N>();
        let seed_bits = bits::<N>(u64::from(seed) & ((1 << N) - 1));
        assert!(seed_bits.any(), "Lfsr<{N}> with seed {seed:#x}: a register of zeros never changes; set one of its low {N} bits");
        Self {
            clock: Default::default(),
            reset: Default::default(),
            advance: Default::default(),
            value: Default::default(),
            offset: Default::default(),
            _seed: seed_bits,
        }
    }
}

impl<const N: usize> Default for Lfsr<N> {
    fn default() -> Self {
        Self::new(1)
    }
}

impl<const N: usize> Logic for Lfsr<N> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, offset);
        let value = self.offset.q.val() ^ self._seed;
        let shifted = value >> 1;
        let next = if value.get_bit(0) {
            shifted ^ taps::<N>()
        } else {
            shifted
        };
        if self.advance.val() {
            self.offset.d.next = next ^ self._seed;
        }
        self.value.next = value;
        if self.reset.val() {
            self.offset.d.next = bits(0);
        }
    }
}
