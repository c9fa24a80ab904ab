//! Entropy profiles: values, rotation, the index of a value, and refusals.

use proptest::prelude::*;
use stellar_transport::spray::{
    EntropyProfile, EvIndex, GeneratedEntropy, HeaderFields, ProfileError,
};
use stellar_wire::mrc::Entropy;

use crate::spray::common::ev;

const WIDE: HeaderFields = HeaderFields::SourcePortAndFlowLabel;

fn indices(profile: &EntropyProfile) -> impl Iterator<Item = EvIndex> {
    (0..profile.active())
        .chain(128..128 + profile.backups())
        .map(ev)
}

/// Every index has a value of its own and the value leads back to it, for every rotation.
fn check_round_trip(profile: &EntropyProfile) {
    for rotation in 0..profile.slots() {
        let mut seen = std::collections::BTreeSet::new();
        for index in indices(profile) {
            let entropy = profile.entropy(index, rotation).expect("a value");
            assert!(seen.insert(entropy.0), "{entropy:?} twice");
            assert_eq!(
                profile.index_of(entropy, rotation),
                Some(index),
                "rotation {rotation}"
            );
        }
    }
}

proptest! {
    #[test]
    fn generated_values_lead_back_to_their_index(
        base in 0_u32..1 << 24,
        stride_log2 in 0_u8..=24,
        half in 1_u8..=64,
        backups in 0_u8..=8,
    ) {
        let generated = GeneratedEntropy { base, stride_log2, active: 2 * half, backups: 2 * backups };
        match EntropyProfile::generated(generated, WIDE) {
            Ok(profile) => check_round_trip(&profile),
            Err(error) => prop_assert!(matches!(error, ProfileError::TooWide { .. }), "{error}"),
        }
    }

    #[test]
    fn explicit_values_lead_back_to_their_index(
        values in prop::collection::btree_set(any::<u32>(), 144).prop_map(|set| set.into_iter().map(Entropy).collect::<Vec<_>>()),
        half in 1_usize..=64,
        backups in 0_usize..=8,
    ) {
        let (active, spare) = (&values[..2 * half], &values[128..128 + 2 * backups]);
        let profile = EntropyProfile::explicit(active, spare, WIDE).expect("distinct values");
        check_round_trip(&profile);
        prop_assert_eq!(profile.entropy(ev(0), 0), Some(values[0]));
        if let Some(&backup) = spare.first() {
            prop_assert_eq!(profile.entropy(ev(128), 0), Some(backup));
        }
    }
}

#[test]
fn a_single_value_is_a_profile() {
    let one = GeneratedEntropy {
        base: 0xc000,
        stride_log2: 0,
        active: 1,
        backups: 0,
    };
    check_round_trip(&EntropyProfile::generated(one, HeaderFields::SourcePort).expect("one value"));
    check_round_trip(&EntropyProfile::explicit(&[Entropy(5)], &[], WIDE).expect("one value"));
}

#[test]
fn rotation_moves_by_slots_within_the_plane() {
    let generated = GeneratedEntropy {
        base: 0x100,
        stride_log2: 4,
        active: 8,
        backups: 2,
    };
    let profile = EntropyProfile::generated(generated, WIDE).expect("a usual profile");
    let values = |rotation| {
        indices(&profile)
            .map(|index| profile.entropy(index, rotation).expect("a value").0)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        values(0),
        [0x100, 0x110, 0x120, 0x130, 0x140, 0x150, 0x160, 0x170, 0x180, 0x190]
    );
    assert_eq!(
        values(3),
        [0x160, 0x170, 0x100, 0x110, 0x120, 0x130, 0x140, 0x150, 0x180, 0x190]
    );
}

#[test]
fn values_of_no_path_have_no_index() {
    let generated = GeneratedEntropy {
        base: 0x100,
        stride_log2: 4,
        active: 8,
        backups: 2,
    };
    let profile = EntropyProfile::generated(generated, WIDE).expect("a usual profile");
    for value in [0, 0xff, 0x101, 0x118, 0x1a0, u32::MAX] {
        assert_eq!(profile.index_of(Entropy(value), 0), None, "{value:#x}");
    }
    for index in [8, 127, 130] {
        assert_eq!(profile.entropy(ev(index), 0), None, "{index}");
    }
    assert_eq!(EvIndex::new(144), None);
}

#[test]
fn a_profile_is_refused_with_what_is_wrong() {
    let values = |count: u32| (0..count).map(Entropy).collect::<Vec<_>>();
    let explicit = |active: &[Entropy], backups: &[Entropy]| {
        EntropyProfile::explicit(active, backups, HeaderFields::SourcePort)
            .expect_err("should be refused")
    };
    for count in [0, 3, 127, 130, 1_000] {
        assert_eq!(
            explicit(&values(count), &[]),
            ProfileError::Active(count as usize)
        );
    }
    for count in [1, 18] {
        assert_eq!(
            explicit(&[Entropy(900), Entropy(901)], &values(count)),
            ProfileError::Backups(count as usize)
        );
    }
    let twice = ProfileError::Duplicate {
        value: 1,
        first: 1,
        second: 128,
    };
    assert_eq!(explicit(&values(4), &[Entropy(1), Entropy(9)]), twice);
    assert!(twice.to_string().contains("index 128"));
    let wide = ProfileError::TooWide {
        value: 0x1_0000,
        index: 1,
        largest: 0xffff,
    };
    assert_eq!(explicit(&[Entropy(0), Entropy(0x1_0000)], &[]), wide);

    let generated = |base, stride_log2, active, fields| {
        let generated = GeneratedEntropy {
            base,
            stride_log2,
            active,
            backups: 0,
        };
        EntropyProfile::generated(generated, fields).expect_err("should be refused")
    };
    assert_eq!(generated(0, 0, 5, WIDE), ProfileError::Active(5));
    assert_eq!(generated(0, 25, 2, WIDE), ProfileError::Stride(25));
    let wide = ProfileError::TooWide {
        value: 0x1_0000,
        index: 127,
        largest: 0xffff,
    };
    assert_eq!(generated(0xff81, 0, 128, HeaderFields::SourcePort), wide);
}
