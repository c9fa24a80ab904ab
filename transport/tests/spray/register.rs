//! The register that keys of permutations come from.

use stellar_transport::spray::Lfsr32;

/// The period divides 2^32 - 1 = 3 x 5 x 17 x 257 x 65,537. It divides none of the five quotients by a prime, so it is 2^32 - 1 itself.
#[test]
fn the_register_has_the_longest_period() {
    // Columns of one step's matrix: where the register takes each single bit.
    let step: Vec<u32> = (0..32)
        .map(|bit| {
            let mut register = Lfsr32::new(1 << bit).expect("not zero");
            register.step();
            register.value()
        })
        .collect();
    let apply = |matrix: &[u32], vector: u32| {
        (0..32)
            .filter(|i| vector >> i & 1 == 1)
            .fold(0, |sum, i| sum ^ matrix[i])
    };
    let product = |left: &[u32], right: &[u32]| -> Vec<u32> {
        right.iter().map(|column| apply(left, *column)).collect()
    };
    let power = |exponent: u32| {
        let (mut result, mut square): (Vec<u32>, _) =
            ((0..32).map(|i| 1 << i).collect(), step.clone());
        for bit in 0..32 {
            if exponent >> bit & 1 == 1 {
                result = product(&square, &result);
            }
            square = product(&square, &square);
        }
        result
    };
    let identity = power(0);
    assert_eq!(power(u32::MAX), identity);
    for prime in [3, 5, 17, 257, 65_537] {
        assert_ne!(
            power(u32::MAX / prime),
            identity,
            "the period divides (2^32 - 1) / {prime}"
        );
    }
}

#[test]
fn a_register_of_zeros_is_refused() {
    assert_eq!(Lfsr32::new(0), None);
}
