//! Division by table: leading one, 256-byte ROM, multiply, shift.

/// Reciprocals of the 256 mantissas that follow a leading one.
///
/// Entry `m` belongs to the interval [1 + m/256, 1 + (m+1)/256). The nine-bit value `256 + RECIPROCAL_ROM[m]`, divided by 512, is the reciprocal of
/// the middle of the interval, rounded to the nearest. Hardware initialises its memory from this constant. No other code computes it.
pub const RECIPROCAL_ROM: [u8; 256] = build_rom();

const fn build_rom() -> [u8; 256] {
    let mut rom = [0; 256];
    let mut m = 0;
    while m < 256 {
        // 512 / ((256 + m + 1/2) / 256) = 2^18 / (513 + 2m), from 511 down to 256.
        let divisor = 513 + 2 * m as u32;
        let nearest = ((1 << 18) + divisor / 2) / divisor;
        rom[m] = (nearest - 256) as u8;
        m += 1;
    }
    rom
}

/// The reciprocal of a 32-bit number, within 0.3 %.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reciprocal {
    /// From 256 to 511, nine bits. Divided by 512 it is from 1/2 to below 1.
    mantissa: u16,
    /// Position of the divisor's leading one, 0 to 31.
    exponent: u8,
}

impl Reciprocal {
    /// Computes the reciprocal of `divisor`, which is not zero.
    pub fn of(divisor: u32) -> Self {
        assert_ne!(divisor, 0, "reciprocal of zero");
        let leading_zeros = divisor.leading_zeros();
        let index = (divisor << leading_zeros) >> 23 & 0xff;
        Self {
            mantissa: 256 + u16::from(RECIPROCAL_ROM[index as usize]),
            exponent: (31 - leading_zeros) as u8,
        }
    }

    /// `dividend / divisor * 2^fraction_bits`, rounded down from the product.
    ///
    /// The dividend has at most 48 bits, and the divisor is at least 2^(fraction_bits - 9), so that the shift goes
    /// right.
    pub fn quotient(self, dividend: u64, fraction_bits: u8) -> u64 {
        assert!(dividend < 1 << 48, "dividend {dividend:#x}");
        assert!(self.exponent + 9 >= fraction_bits, "{self:?}");
        (dividend * u64::from(self.mantissa)) >> (self.exponent + 9 - fraction_bits)
    }
}
