//! Division by table.

use proptest::prelude::*;
use stellar_transport::congestion::{Reciprocal, RECIPROCAL_ROM};

#[test]
fn rom_is_the_rounded_reciprocal_of_interval_middles() {
    for (m, &entry) in (0_u32..).zip(&RECIPROCAL_ROM) {
        let middle = 1.0 + (f64::from(m) + 0.5) / 256.0;
        assert_eq!(
            256.0 + f64::from(entry),
            (512.0 / middle).round(),
            "entry {m}"
        );
    }
}

proptest! {
    #[test]
    fn quotient_is_within_three_per_mille(divisor in 1 << 16_u32..=u32::MAX, dividend in 0_u64..1 << 48) {
        let quotient = Reciprocal::of(divisor).quotient(dividend, 16) as f64;
        let exact = dividend as f64 * 65_536.0 / f64::from(divisor);
        prop_assert!((quotient - exact).abs() <= exact * 0.003 + 1.0, "{quotient} for {exact}");
    }
}
