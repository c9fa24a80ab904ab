//! Entropy profiles of queue pairs.

use stellar_wire::config::{GeneratedEntropy, ProfileError};
use stellar_wire::host::registers::{DataPath, DATA_PATH};
use stellar_wire::rows::{bucket_of, ExplicitRow, ProfileRow, SprayRow, NO_NUMBER, NUMBER_BITS};

use super::*;
use crate::ProfileUseError;

/// A queue pair over MRC that names a profile, and how far it came.
fn naming(bench: &Bench, profile: u8, paths: u8) -> (QueuePair, Result<(), Error>) {
    let qp = bench.pd.create_qp(&bench.cq, config(4)).unwrap();
    let mut ready = RtrAttributes::new(peer(Transport::Mrc));
    (ready.path.paths, ready.path.profile) = (paths, profile);
    qp.modify(step(QpState::Init)).unwrap();
    let entered = qp
        .modify(Modify::Rtr(ready))
        .and_then(|()| qp.modify(step(QpState::Rts)));
    (qp, entered)
}

fn refused<T: std::fmt::Debug>(result: Result<T, Error>) -> ProfileUseError {
    match result {
        Err(Error::ProfileUse(error)) => error,
        other => panic!("{other:?}"),
    }
}

fn cannot_be(result: Result<(), Error>) -> ProfileError {
    match result {
        Err(Error::Profile(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_queue_pair_has_the_profile_that_it_names() {
    let bench = bench();
    let device = bench.context.device();
    let generated = GeneratedEntropy {
        base: 0x8000,
        stride_log2: 3,
        active: 4,
        backups: 2,
    };
    device.set_generated_profile(7, generated).unwrap();
    let active = [0x1111, 0x2222, 0x3333, 0x4444];
    let backups = [0x5555, 0x6666];
    device.set_explicit_profile(3, &active, &backups).unwrap();

    let spray = |qp: &QueuePair| bench.row::<SprayRow>(ConfigSelect::Spray, qp.number());
    for (profile, paths) in [(0, 128), (7, 4), (3, 4), (3, 2)] {
        let (qp, entered) = naming(&bench, profile, paths);
        entered.unwrap();
        let row = spray(&qp);
        assert_eq!((row.profile, row.paths), (profile, paths));
        if profile == 3 {
            assert_eq!(row.rotation, 0, "value n is that of path n");
        }
        assert!(qp.denied_paths().is_empty());
    }
    let row: ProfileRow = bench.row(ConfigSelect::Profile, 7);
    assert_eq!(
        (
            row.base,
            row.stride_log2,
            row.active,
            row.backups,
            row.explicit
        ),
        (0x8000, 3, 4, 2, false)
    );

    let row: ProfileRow = bench.row(ConfigSelect::Profile, 3);
    assert_eq!((row.active, row.backups, row.explicit), (4, 2, true));
    let rows = bench.function.last_rows(ConfigSelect::Explicit.index());
    assert_eq!(rows.len(), 1 << NUMBER_BITS);
    let explicit = |number: u8| -> ExplicitRow {
        let index = 3 << NUMBER_BITS | u32::from(number);
        bench.row(ConfigSelect::Explicit, index)
    };
    let mut found = 0;
    for (number, value) in (0..).zip(active.into_iter().chain(backups)) {
        assert_eq!(explicit(number).value, value);
        let bucket = explicit(bucket_of(value, row.base)).bucket;
        let places = [
            (bucket.first, bucket.first_number),
            (bucket.second, bucket.second_number),
        ];
        found += usize::from(places.contains(&(value, number)));
    }
    assert_eq!(found, 6, "each value is in its bucket");
    let numbers = (0..=u8::MAX).flat_map(|place| {
        let bucket = explicit(place).bucket;
        [bucket.first_number, bucket.second_number]
    });
    assert_eq!(numbers.filter(|&number| number != NO_NUMBER).count(), 6);
}

#[test]
fn a_profile_stays_as_long_as_a_queue_pair_has_it() {
    let bench = bench();
    let device = bench.context.device();
    let write = |values: &[u32]| device.set_explicit_profile(1, values, &[]);
    write(&[1, 2]).unwrap();
    let (qp, entered) = naming(&bench, 1, 2);
    entered.unwrap();
    let rows = bench.function.rows_written();
    assert_eq!(refused(write(&[3, 4])), ProfileUseError::InUse(1));
    assert_eq!(bench.function.rows_written(), rows);
    qp.modify(Modify::Reset).unwrap();
    write(&[3, 4]).unwrap();
    let (other, entered) = naming(&bench, 1, 2);
    entered.unwrap();
    assert_eq!(refused(write(&[5, 6])), ProfileUseError::InUse(1));
    drop(other);
    write(&[5, 6]).unwrap();
}

#[test]
fn profiles_that_cannot_be_are_refused_and_change_nothing() {
    let bench = bench();
    let device = bench.context.device();
    let explicit = |number, active: &[u32]| device.set_explicit_profile(number, active, &[]);
    let generated = |number| device.set_generated_profile(number, GeneratedEntropy::default());
    let rows = bench.function.rows_written();
    let (number, profiles) = (8, 8);
    assert_eq!(
        refused(explicit(8, &[1, 2])),
        ProfileUseError::Number { number, profiles }
    );
    let late = refused(explicit(4, &[1, 2]));
    let (number, explicit_profiles) = (4, 4);
    assert_eq!(
        late,
        ProfileUseError::NotExplicit {
            number,
            explicit: explicit_profiles
        }
    );
    assert!(late.to_string().contains("the first 4 can"), "{late}");
    assert_eq!(cannot_be(explicit(1, &[])), ProfileError::Active(0));
    assert_eq!(cannot_be(explicit(1, &[1, 2, 3])), ProfileError::Active(3));
    assert_eq!(cannot_be(generated(1)), ProfileError::Active(0));
    let twice = cannot_be(explicit(1, &[7, 8, 9, 7]));
    let (value, first, second) = (7, 0, 3);
    assert_eq!(
        twice,
        ProfileError::Duplicate {
            value,
            first,
            second
        }
    );
    // The fake card's ports have addresses of IPv4.
    let wide = cannot_be(explicit(1, &[1, 0x1_0000]));
    assert!(wide.to_string().contains("at index 1"), "{wide}");
    let backups = device.set_explicit_profile(1, &[1, 2], &[3]);
    assert_eq!(cannot_be(backups), ProfileError::Backups(1));
    assert_eq!(bench.function.rows_written(), rows);

    let (qp, entered) = naming(&bench, 1, 2);
    assert_eq!(refused(entered), ProfileUseError::Unwritten(1));
    assert_eq!(qp.state(), QpState::Init);
    let (_qp, entered) = naming(&bench, 9, 2);
    let (number, profiles) = (9, 8);
    assert_eq!(
        refused(entered),
        ProfileUseError::Number { number, profiles }
    );
    // More paths than the profile has values.
    explicit(1, &[1, 2]).unwrap();
    let (_qp, entered) = naming(&bench, 1, 4);
    assert!(matches!(entered, Err(Error::Config(_))), "{entered:?}");
}

#[test]
fn a_card_without_explicit_values_is_told() {
    let function = FakeCard::new();
    let old = DataPath {
        profiles: 0,
        explicit_profiles: 0,
        ..FakeCard::DATA_PATH
    };
    function.set_register(DATA_PATH, old.to_word());
    let bench = bench_of(function);
    let device = bench.context.device();
    let limits = device.limits();
    assert_eq!((limits.entropy_profiles, limits.explicit_profiles), (8, 0));
    let refused = refused(device.set_explicit_profile(1, &[1, 2], &[]));
    let (number, explicit) = (1, 0);
    assert_eq!(refused, ProfileUseError::NotExplicit { number, explicit });
}
