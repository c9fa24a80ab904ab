//! Tests rotations: each has every path once, each has another order, and the orders are statistically random.

use proptest::prelude::*;
use stellar_transport::spray::{Lfsr32, Permutation, PlaneMask, Policy, Spray, SprayConfig};

use crate::spray::common::{config, ev, indices, spray};

/// Slots of the next rotation of plane 0, when only that plane is up.
fn rotation(spray: &mut Spray, slots: usize) -> Vec<u8> {
    indices(spray, slots)
        .iter()
        .map(|index| index >> 1)
        .collect()
}

fn one_plane(policy: Policy, paths: u8, seed: u32) -> Spray {
    let planes_up = PlaneMask::only(0);
    Spray::new(SprayConfig {
        seed,
        planes_up,
        ..config(policy, paths)
    })
    .expect("a usual configuration")
}

/// Chi-square of counts against equal shares, less its mean, in standard deviations (normal approximation).
fn chi_square_excess(counts: &[u32]) -> f64 {
    let expected = f64::from(counts.iter().sum::<u32>()) / counts.len() as f64;
    let chi_square: f64 = counts
        .iter()
        .map(|&n| (f64::from(n) - expected).powi(2) / expected)
        .sum();
    let freedom = counts.len() as f64 - 1.0;
    (chi_square - freedom) / (2.0 * freedom).sqrt()
}

proptest! {
    #[test]
    fn every_key_is_a_permutation(key in any::<u32>()) {
        let permutation = Permutation::new(key);
        let slots = (0..64).fold(0_u64, |map, position| map | 1 << permutation.slot(position));
        prop_assert_eq!(slots, u64::MAX);
    }

    #[test]
    fn every_rotation_uses_every_path_once(
        half in 1_u8..=64,
        seed in 1_u32..,
        policy in prop::sample::select(vec![Policy::Obs, Policy::EvState]),
    ) {
        let mut spray = Spray::new(SprayConfig { seed, ..config(policy, 2 * half) }).expect("a usual configuration");
        for _ in 0..4 {
            let mut rotation = indices(&mut spray, 2 * usize::from(half));
            rotation.sort_unstable();
            prop_assert!(rotation.iter().copied().eq(0..2 * half), "{rotation:?}");
        }
    }
}

#[test]
fn lfsr_is_the_one_of_the_hardware() {
    // hdl/primitives: Galois, shifts right, x^32 + x^22 + x^2 + x + 1.
    let mut lfsr = Lfsr32::new(1).expect("not zero");
    lfsr.step();
    assert_eq!(lfsr.value(), 0x8020_0003);
    lfsr.step();
    assert_eq!(lfsr.value(), 0xc030_0002);
    let mut jumping = Lfsr32::new(1).expect("not zero");
    jumping.next_word();
    (2..32).for_each(|_| lfsr.step());
    assert_eq!(jumping, lfsr, "a word is 32 steps");
    assert_eq!(Lfsr32::new(0), None);
}

#[test]
fn choices_are_those_of_the_contract() {
    // Worked out from docs/multipath.md by a second implementation.
    let permutation = Permutation::new(0x5a5_a5a5);
    let slots: Vec<_> = (0..8).map(|position| permutation.slot(position)).collect();
    assert_eq!(slots, [63, 61, 28, 55, 33, 32, 59, 24]);
    let chosen = indices(&mut spray(Policy::Obs, 128), 8);
    assert_eq!(chosen, [83, 12, 77, 30, 89, 88, 43, 110]);
}

#[test]
fn orders_differ_from_rotation_to_rotation() {
    let mut spray = one_plane(Policy::Obs, 128, 1);
    let rotations: Vec<_> = (0..1_000).map(|_| rotation(&mut spray, 64)).collect();
    assert!(rotations.windows(2).all(|pair| pair[0] != pair[1]));
    // Keys make about four million orders: a tenth of a repeat is to be expected.
    let distinct: std::collections::BTreeSet<_> = rotations.iter().collect();
    assert!(
        distinct.len() > 995,
        "{} orders in 1,000 rotations",
        distinct.len()
    );
}

#[test]
fn the_two_planes_do_not_march_in_step() {
    let mut spray = spray(Policy::Obs, 128);
    let mut same = 0;
    for _ in 0..64 * 100 {
        let pair = indices(&mut spray, 2);
        same += usize::from(pair[0] >> 1 == pair[1] >> 1);
    }
    // One in 64 by chance: 100 of 6,400, standard deviation 10.
    assert!(
        (50..150).contains(&same),
        "{same} of 6400 pairs use the same slot"
    );
}

#[test]
fn first_and_last_slots_are_equally_likely() {
    for position in [0, 1, 31, 62, 63] {
        let mut counts = [0_u32; 64];
        for seed in 1..200 {
            let mut spray = one_plane(Policy::Obs, 128, seed);
            for _ in 0..100 {
                counts[usize::from(rotation(&mut spray, 64)[position])] += 1;
            }
        }
        let excess = chi_square_excess(&counts);
        assert!(
            excess < 4.0,
            "position {position}: chi-square {excess:.1} deviations above its mean"
        );
    }
}

#[test]
fn consecutive_rotations_do_not_depend_on_each_other() {
    // Counts how far a slot moves from one rotation to one of the next four. Every distance must be equally likely.
    for lag in 1..=4 {
        let mut counts = [0_u32; 64];
        for seed in 1..60 {
            let mut spray = one_plane(Policy::Obs, 128, 0x9e37 * seed);
            let rotations: Vec<_> = (0..50).map(|_| rotation(&mut spray, 64)).collect();
            for (earlier, later) in rotations.iter().zip(&rotations[lag..]) {
                let slot = later[0];
                let before = earlier
                    .iter()
                    .position(|&other| other == slot)
                    .expect("every slot");
                counts[before] += 1;
            }
        }
        let excess = chi_square_excess(&counts);
        assert!(
            excess < 4.0,
            "lag {lag}: chi-square {excess:.1} deviations above its mean"
        );
    }
}

#[test]
fn neighbours_in_a_rotation_are_not_neighbours_in_the_fabric() {
    let mut counts = [0_u32; 63];
    for seed in 1..100 {
        let mut spray = one_plane(Policy::Obs, 128, seed);
        for _ in 0..100 {
            let rotation = rotation(&mut spray, 64);
            let distance = (rotation[40] + 64 - rotation[39]) % 64;
            counts[usize::from(distance) - 1] += 1;
        }
    }
    // The multiplication by odd factors favours some distances, but none may occur much too often.
    let most = counts.iter().max().expect("distances");
    assert!(*most < 9_900 / 10, "{counts:?}");
}

#[test]
fn queue_pairs_with_neighbouring_seeds_differ() {
    let firsts: std::collections::BTreeSet<_> = (1..=64)
        .map(|seed| rotation(&mut one_plane(Policy::Obs, 128, seed), 64))
        .collect();
    assert_eq!(firsts.len(), 64);
}

#[test]
fn the_same_seed_makes_the_same_choices() {
    let mut first = spray(Policy::Obs, 128);
    let mut second = spray(Policy::Obs, 128);
    assert_eq!(indices(&mut first, 5_000), indices(&mut second, 5_000));
}

#[test]
fn round_robin_goes_up_from_a_start_of_its_own() {
    let mut starts = std::collections::BTreeSet::new();
    for seed in 1..40_u32 {
        let mut spray = one_plane(Policy::RoundRobin, 128, seed.wrapping_mul(0x9e37_79b9));
        let slots = rotation(&mut spray, 300);
        assert!(
            slots.windows(2).all(|pair| (pair[0] + 1) % 64 == pair[1]),
            "{slots:?}"
        );
        starts.insert(slots[0]);
    }
    assert!(starts.len() > 20, "{starts:?}");
}

#[test]
fn a_single_path_stays_until_it_is_denied() {
    let mut spray = spray(Policy::SinglePath, 8);
    let home = indices(&mut spray, 1)[0];
    assert_eq!(indices(&mut spray, 100), vec![home; 100]);
    spray.deny(ev(home));
    assert_eq!(indices(&mut spray, 100), vec![(home + 1) % 8; 100]);
    spray.allow(ev(home));
    assert_eq!(
        indices(&mut spray, 1),
        [(home + 1) % 8],
        "no reason to move back"
    );
}

#[test]
fn single_paths_of_many_queue_pairs_use_all_paths() {
    let mut counts = [0_u32; 128];
    for seed in 1..=12_800 {
        let mut spray = Spray::new(SprayConfig {
            seed,
            ..config(Policy::SinglePath, 128)
        })
        .expect("usual");
        counts[usize::from(indices(&mut spray, 1)[0])] += 1;
    }
    assert!(chi_square_excess(&counts) < 4.0, "{counts:?}");
}
