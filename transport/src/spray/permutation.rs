//! Keyed permutations of the 64 slots of a plane, and the register their keys come from.

/// A 32-bit linear-feedback shift register: Galois form, shifting right, polynomial
/// x^32 + x^22 + x^2 + x + 1, period 2^32 - 1, never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lfsr32(u32);

impl Lfsr32 {
    const TAPS: u32 = 0x8020_0003;

    /// Makes a register that starts with `seed`. Returns `None` for a seed of zero, because such a register would stay zero.
    pub const fn new(seed: u32) -> Option<Self> {
        match seed {
            0 => None,
            seed => Some(Self(seed)),
        }
    }

    /// State of the register.
    pub const fn value(self) -> u32 {
        self.0
    }

    /// Shifts the register once.
    pub fn step(&mut self) {
        self.0 = self.0 >> 1 ^ if self.0 & 1 == 1 { Self::TAPS } else { 0 };
    }

    /// Shifts the register 32 times, so that every bit of the new state is computed and none is only moved. In hardware this is one layer of XOR.
    pub fn next_word(&mut self) -> u32 {
        for _ in 0..32 {
            self.step();
        }
        self.0
    }
}

/// A permutation of 0 to 63: two rounds of XOR and odd multiplication modulo 64 around a rotation, then a fold.
///
/// Key bits: 5:0 first XOR, 10:6 first multiplier (times two plus one), 16:11 second XOR, 21:17 second multiplier,
/// 27:22 last XOR. Each round is a bijection, so every key gives a permutation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Permutation {
    key: u32,
}

impl Permutation {
    /// Width of a key.
    pub const KEY_BITS: u32 = 28;

    /// The permutation of the low 28 bits of `key`.
    pub const fn new(key: u32) -> Self {
        Self {
            key: key & ((1 << Self::KEY_BITS) - 1),
        }
    }

    /// The slot at `position`, both 0 to 63.
    pub fn slot(self, position: u8) -> u8 {
        let field = |low: u32, bits: u32| -> u8 { (self.key >> low) as u8 & ((1 << bits) - 1) };
        let x = position ^ field(0, 6);
        let x = x.wrapping_mul(field(6, 5) << 1 | 1) & 0x3f;
        let x = (x << 3 | x >> 3) & 0x3f;
        let x = x ^ field(11, 6);
        let x = x.wrapping_mul(field(17, 5) << 1 | 1) & 0x3f;
        x ^ x >> 3 ^ field(22, 6)
    }
}
