//! Load on the uplinks of a leaf switch: 60 per plane (HPN 7.0), 16 queue pairs, paths hashed or placed.
//!
//! Imbalance is (largest - smallest) / mean load of the uplinks of one plane. For hashed paths it follows from the
//! spread of a multinomial: about 4.64 / sqrt(queue pairs * paths per plane / uplinks).

use std::sync::Arc;

use stellar_transport::spray::{
    EntropyProfile, GeneratedEntropy, HeaderFields, Policy, Spray, SprayConfig,
};
use stellar_wire::mrc::Entropy;

use crate::spray::common::{config, next};

const UPLINKS: u32 = 60;
const QUEUE_PAIRS: u32 = 16;

/// An uplink as a switch with this salt picks it (a 32-bit mix, as good as a hash gets).
fn hashed(entropy: Entropy, salt: u32) -> u32 {
    let mut x = entropy.0 ^ salt.wrapping_mul(0x9e37_79b9);
    x = (x ^ x >> 16).wrapping_mul(0x85eb_ca6b);
    x = (x ^ x >> 13).wrapping_mul(0xc2b2_ae35);
    (x ^ x >> 16) % UPLINKS
}

/// Imbalance of plane 0 after `rotations` rotations of every queue pair.
fn imbalance(
    mut sprays: Vec<Spray>,
    paths: u8,
    rotations: usize,
    uplink: impl Fn(usize, Entropy) -> u32,
) -> f64 {
    let mut load = [0_u32; UPLINKS as usize];
    for (number, spray) in sprays.iter_mut().enumerate() {
        for _ in 0..usize::from(paths) * rotations {
            let path = next(spray);
            if path.plane == 0 {
                load[uplink(number, path.entropy) as usize] += 1;
            }
        }
    }
    let (least, most) = (load.iter().min(), load.iter().max());
    let mean = f64::from(load.iter().sum::<u32>()) / f64::from(UPLINKS);
    f64::from(most.unwrap_or(&0) - least.unwrap_or(&0)) / mean
}

fn sprays(paths: u8, profile: &Arc<EntropyProfile>, rotation: impl Fn(u32) -> u8) -> Vec<Spray> {
    (0..QUEUE_PAIRS)
        .map(|number| {
            let config = SprayConfig {
                seed: 0x1000 + number,
                rotation: rotation(number),
                profile: profile.clone(),
                ..config(Policy::Obs, paths)
            };
            Spray::new(config).expect("a usual configuration")
        })
        .collect()
}

#[test]
fn hashed_imbalance_falls_with_the_root_of_the_paths() {
    let mean_imbalance = |paths: u8| {
        let generated = GeneratedEntropy {
            base: 0xc000,
            stride_log2: 0,
            active: paths,
            backups: 0,
        };
        let profile = EntropyProfile::generated(generated, HeaderFields::SourcePort)
            .expect("a usual profile");
        let profile = Arc::new(profile);
        let runs = (0..10).map(|salt| {
            // Addresses and ports of the queue pairs are part of what a switch hashes.
            let uplink = |number: usize, entropy| hashed(entropy, 1_000 * salt + number as u32);
            imbalance(sprays(paths, &profile, |_| 0), paths, 4, uplink)
        });
        runs.sum::<f64>() / 10.0
    };
    let mut before = f64::INFINITY;
    for paths in [8, 16, 32, 64, 128_u8] {
        let measured = mean_imbalance(paths);
        let per_plane = f64::from(paths / 2);
        let expected = 4.64 / (f64::from(QUEUE_PAIRS) * per_plane / f64::from(UPLINKS)).sqrt();
        println!("{paths} hashed paths: {measured:.2}, law {expected:.2}");
        // The law is the normal limit; below one path per uplink loads are small counts, hence the wider band.
        assert!(
            (measured / expected - 1.0).abs() < 0.25,
            "{paths} paths: {measured:.2} for {expected:.2}"
        );
        assert!(measured < before, "more paths, less imbalance");
        before = measured;
    }
}

/// Low six bits of the slot name the uplink; a value that comes round to an uplink again differs above.
fn placed(paths: u8) -> Arc<EntropyProfile> {
    let values: Vec<_> = (0..u32::from(paths))
        .map(|index| {
            let (plane, slot) = (index & 1, index >> 1);
            Entropy(0xc000 | plane << 12 | (slot / UPLINKS) << 8 | (slot % UPLINKS))
        })
        .collect();
    Arc::new(
        EntropyProfile::explicit(&values, &[], HeaderFields::SourcePort).expect("distinct values"),
    )
}

fn placed_uplink(_: usize, entropy: Entropy) -> u32 {
    entropy.0 & 0x3f
}

#[test]
fn a_path_per_uplink_is_perfectly_balanced() {
    let profile = placed(120);
    for rotations in 1..4 {
        let imbalance = imbalance(sprays(120, &profile, |_| 0), 120, rotations, placed_uplink);
        assert_eq!(imbalance, 0.0, "after {rotations} rotations");
    }
}

#[test]
fn more_placed_paths_than_uplinks_are_balanced_by_rotations() {
    // 64 slots over 60 uplinks: four uplinks get a packet more from each queue pair.
    let profile = |number: u32| -> Arc<EntropyProfile> {
        let values: Vec<_> = (0..128)
            .map(|index| {
                let (plane, slot) = (index & 1, index >> 1);
                let start = number * 64 % UPLINKS;
                Entropy(0xc000 | plane << 12 | (slot / UPLINKS) << 8 | ((slot + start) % UPLINKS))
            })
            .collect();
        Arc::new(
            EntropyProfile::explicit(&values, &[], HeaderFields::SourcePort)
                .expect("distinct values"),
        )
    };
    let build = |start: fn(u32) -> u32| -> Vec<Spray> {
        (0..QUEUE_PAIRS)
            .map(|number| sprays(128, &profile(start(number)), |_| 0).swap_remove(number as usize))
            .collect()
    };
    let same_start = imbalance(build(|_| 0), 128, 4, placed_uplink);
    let coordinated = imbalance(build(|number| number), 128, 4, placed_uplink);
    println!("128 placed paths: {same_start:.3} from one start, {coordinated:.3} coordinated");
    assert!((same_start - 60.0 / 64.0).abs() < 1e-9, "{same_start}");
    assert!(coordinated < 0.07, "{coordinated}");
}

#[test]
fn queue_pairs_with_few_placed_paths_spread_by_rotation() {
    // Four paths of a profile of 120: two uplinks of a plane per queue pair.
    let profile = placed(120);
    let together = imbalance(sprays(4, &profile, |_| 0), 4, 8, placed_uplink);
    let spread = imbalance(
        sprays(4, &profile, |number| {
            (number * 15 % 60 / 15 * 15 + number / 4 * 2) as u8
        }),
        4,
        8,
        placed_uplink,
    );
    assert!(
        together > 29.0,
        "two of 60 uplinks carry everything: {together}"
    );
    assert!(
        spread < 2.0,
        "32 uplinks carry one queue pair each: {spread}"
    );
}
