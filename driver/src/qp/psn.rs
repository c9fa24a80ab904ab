//! First packet sequence numbers.

use std::hash::{BuildHasher, RandomState};

use stellar_wire::Psn;

/// Draws a first PSN. Packets of an old connection between queue pairs of the same numbers may still be under way, and then lie inside the window of a new one with a probability of 4,096 in
/// 2^24 only. The bits come from the keys that the operating system gives to each process, and differ from draw to draw.
pub fn random_psn() -> u32 {
    RandomState::new().hash_one(0) as u32 % Psn::MODULUS
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn first_psns_differ_and_have_24_bits() {
        let drawn: BTreeSet<u32> = (0..1000).map(|_| random_psn()).collect();
        // Of 1,000 random numbers of 24 bits, 0.03 pairs are equal on average.
        assert!(drawn.len() > 990, "{}", drawn.len());
        assert!(drawn.iter().all(|&psn| psn < Psn::MODULUS));
        for bit in 0..24 {
            let ones = drawn.iter().filter(|&&psn| psn >> bit & 1 == 1).count();
            assert!((350..650).contains(&ones), "bit {bit}: {ones}");
        }
    }
}
