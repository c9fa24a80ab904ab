//! Data returns to the client that requested it, and no client waits for another.

use hdl_pcie::share::ReadArbiter;
use proptest::prelude::*;

use crate::share::readers::{Bench, Pace};

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn everything_comes_back_to_who_asked(
        seed in any::<u64>(), wide in any::<bool>(), p in prop::array::uniform7(4..=100u8),
    ) {
        let mut bench = Bench::new(if wide { 1024 } else { 512 }, seed);
        bench.queue(40);
        let pace = Pace { fetch: p[0], reads: [p[1], p[2]], command: p[3], returns: p[4], fetched: p[5], payload: p[6] };
        bench.run(pace, 40);
    }
}

#[test]
fn readers_take_turns_and_a_command_leaves_in_every_clock() {
    for width in [512, 1024] {
        let mut bench = Bench::new(width, 1);
        bench.queue(60);
        // Entries are accepted without delay, and every read has one or two beats, so the engine is never the bottleneck in these 60 cycles.
        for _ in 0..60 {
            bench.step(Pace::FULL);
        }
        assert_eq!(bench.grants.len(), 60, "a clock without a command");
        for turn in bench.grants.windows(3) {
            let mut sorted = turn.to_vec();
            sorted.sort_unstable();
            // Fetches miss a turn while their space is used up.
            assert!(sorted == [0, 1, 2] || !turn.contains(&2), "{turn:?}");
        }
        bench.run(Pace::FULL, 60);
    }
}

/// The entries are not accepted: no more are requested than there is space for, and payload continues.
#[test]
fn entries_that_nobody_takes_do_not_hold_up_payload() {
    for width in [512, 1024] {
        let mut bench = Bench::new(width, 2);
        bench.queue(60);
        let deaf = Pace {
            fetched: 0,
            ..Pace::FULL
        };
        while bench.returned[..2] != [60; 2] {
            assert!(bench.clock < 2_000, "payload waits for entries");
            bench.step(deaf);
        }
        let fetches = bench.grants.iter().filter(|&&who| who == 2).count();
        assert!((4..=8).contains(&fetches), "{fetches} fetches");
        bench.run(Pace::FULL, 60);
    }
}

#[test]
#[should_panic(expected = "a beat has one or two send queue entries, use 512 or 1024")]
fn a_lane_narrower_than_an_entry() {
    let _ = ReadArbiter::<256>::default();
}
