//! `spray_engine` against `stellar_transport::spray::Spray`, response by response.

mod bench;
mod drains;
mod engine;
mod hops;
mod steps;
mod verilog;

use bench::{Bench, Registers};
use engine::Engine;
use hdl_spray_engine::{cycles, SprayEngine};
use proptest::prelude::*;
use stellar_transport::spray::{
    EntropyProfile, Feedback, GeneratedEntropy, HeaderFields, Policy, SkipScope,
};
use steps::{Play, Timed};

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_histories_agree_with_the_reference(
        profiles in steps::profiles(),
        steps in steps::timed(),
    ) {
        play(Engine::new(), profiles, &steps);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn an_engine_whose_rows_come_a_cycle_later_agrees_too(
        profiles in steps::profiles(),
        steps in steps::timed(),
    ) {
        play(Engine::deep(), profiles, &steps);
    }
}

fn play(engine: Engine, profiles: Vec<EntropyProfile>, steps: &[Timed]) {
    let mut play = Play::new(engine, profiles);
    for qp in 0..4 {
        let policy = [Policy::EvState, Policy::Hp3][qp % 2];
        let registers = registers(policy);
        play.configure(
            qp,
            Registers {
                seed: 7 + qp as u32,
                profile: qp,
                ..registers
            },
        );
    }
    for (qp, gap, step) in steps {
        play.bench.wait(*gap);
        play.step(*qp, step);
    }
}

fn profile() -> EntropyProfile {
    let values = GeneratedEntropy {
        base: 0xc000,
        stride_log2: 0,
        active: 128,
        backups: 4,
    };
    EntropyProfile::generated(values, HeaderFields::SourcePort).expect("a usual profile")
}

fn registers(policy: Policy) -> Registers {
    Registers {
        policy,
        paths: 255,
        seed: 0x1234_5678,
        profile: 0,
        rotation: 0,
        skip: SkipScope::RestOfRotation,
        probe_interval: 100,
        base_rtt: 1_000,
        bend_after: 1,
    }
}

fn bench(policy: Policy, skip: SkipScope) -> Bench {
    let mut bench = Bench::new(vec![profile()]);
    let registers = Registers {
        paths: 128,
        skip,
        ..registers(policy)
    };
    bench.configure(0, registers);
    bench
}

/// Executes consecutive bursts of these lengths, on a queue pair with this many paths per plane. Checks the cycles of each: `expected` returns them from the
/// length and the number of rotations that begin in the burst.
fn check_bursts(
    policy: Policy,
    slots: usize,
    lengths: &[usize],
    expected: fn(usize, usize) -> usize,
) {
    let mut bench = Bench::new(vec![profile()]);
    let paths = 2 * slots as u8;
    bench.configure(
        0,
        Registers {
            paths,
            ..registers(policy)
        },
    );
    let mut chosen = match policy {
        // Round robin starts at a drawn path, so its first rotation may be shorter.
        Policy::RoundRobin => {
            while bench.choose(0, 1, None) != Some(paths - 1) {}
            slots
        }
        _ => 0,
    };
    for &length in lengths {
        let paths = bench.choose_burst(0, 1, None, length);
        assert_eq!(paths.len(), length);
        let begun = |chosen: usize| chosen.saturating_sub(1) / slots;
        let rotations = begun(chosen + length) - begun(chosen);
        chosen += length;
        assert_eq!(
            bench.took(),
            expected(length, rotations),
            "{length} paths, {policy:?}"
        );
    }
}

#[test]
fn paths_in_a_rotation_come_one_per_clock() {
    let lengths = [1, 32, 32, 1, 7, 32, 31, 2, 1, 1, 16, 32, 32, 9];
    for slots in [64, 33, 32, 5, 3, 2, 1] {
        for policy in [
            Policy::Obs,
            Policy::EvState,
            Policy::Bitmap,
            Policy::Reps,
            Policy::Mixed,
        ] {
            check_bursts(policy, slots, &lengths, cycles::choose);
        }
        check_bursts(Policy::RoundRobin, slots, &lengths, |paths, rotations| {
            5 + paths + 2 * rotations
        });
    }
    assert_eq!(cycles::choose(1, 0), 10);
}

/// Returns how often each of four values is taken in eight rounds of bursts. One of the values is marked before every round.
fn taken_with_marks(bursts: usize, length: usize) -> [usize; 4] {
    let mut bench = Bench::new(vec![profile()]);
    let marked = Registers {
        paths: 8,
        skip: SkipScope::NextTurn,
        ..registers(Policy::EvState)
    };
    bench.configure(0, marked);
    let mut taken = [0; 4];
    for _ in 0..8 {
        bench.feedback(0, 2, Feedback::Skip);
        for _ in 0..bursts {
            for index in bench.choose_burst(0, 0, None, length) {
                taken[usize::from(index >> 1)] += 1;
            }
        }
    }
    taken
}

#[test]
fn bursts_shorter_and_longer_than_a_rotation_bypass_a_marked_value_once() {
    // 88 packets and 8 skipped turns are 24 turns of each value; 48 and 8 are 14.
    assert_eq!(taken_with_marks(1, 11), [24, 16, 24, 24]);
    assert_eq!(taken_with_marks(3, 2), [14, 6, 14, 14]);
}

#[test]
fn a_burst_without_a_path_has_one_answer() {
    let mut obs = bench(Policy::Obs, SkipScope::NextTurn);
    obs.set_plane(1, false);
    assert_eq!(obs.choose_burst(0, 1, None, 32), []);
    assert_eq!(obs.took(), 3);
    assert_eq!(obs.choose_burst(0, 0, None, 32).len(), 32);

    let mut single = bench(Policy::SinglePath, SkipScope::NextTurn);
    let on_plane = [0, 1].map(|plane| single.choose_burst(0, plane, None, 32).len());
    assert!(on_plane == [32, 0] || on_plane == [0, 32]);
    assert_eq!(single.took(), if on_plane[1] == 32 { 38 } else { 5 });
}

#[test]
fn a_single_path_takes_seven_to_nine_cycles() {
    let mut single = bench(Policy::SinglePath, SkipScope::NextTurn);
    let first = [0, 1].map(|plane| (single.choose(0, plane, None), single.took()));
    let used = first.iter().find_map(|(index, _)| *index).expect("a path");
    for (index, cycles) in first {
        assert_eq!(cycles, if index.is_some() { 7 } else { 5 });
    }
    // If there is no value up to the end, the search starts again at the beginning.
    for index in (128..132).chain(used..128) {
        single.deny(0, index);
    }
    assert_eq!(single.choose(0, 0, None), Some(0));
    assert_eq!(single.took(), 9);
    single.set_plane(0, false);
    single.set_plane(1, false);
    assert_eq!(single.choose(0, 0, None), None);
    assert_eq!(single.took(), 3);
}

#[test]
fn other_operations_take_three_to_ten_cycles() {
    let mut bench = bench(Policy::EvState, SkipScope::NextTurn);
    assert_eq!(bench.took(), 6, "configure");
    bench.query(0, 0);
    assert_eq!(bench.took(), cycles::QUERY);
    bench.feedback(0, 4, Feedback::Good);
    assert_eq!(bench.took(), 4);
    bench.feedback(0, 4, Feedback::Skip);
    assert_eq!(bench.took(), 4);
    bench.feedback(0, 4, Feedback::Timeout);
    assert_eq!(bench.took(), 7);
    bench.deny(0, 128);
    assert_eq!(bench.took(), 7, "the second backup takes over");
    bench.deny(0, 130);
    assert_eq!(bench.took(), 7, "nothing left to take over");
    bench.ack(0, 0, 0xc000 + 131, Feedback::Skip.into());
    assert_eq!(bench.took(), 7);
    bench.ack(0, 0, 0xc000 + 5, Feedback::AlwaysSkip.into());
    assert_eq!(bench.took(), 10);
    assert_eq!(bench.probe(0, 1_000), Some(4));
    assert_eq!(bench.took(), 8);
    assert_eq!(bench.probe(0, 50), None);
    assert_eq!(bench.probe(0, 50), Some(5));
    assert_eq!(bench.probe(0, 100), Some(4));
    assert_eq!(bench.took(), 10, "past the last one");
}

#[test]
fn a_queue_pair_without_states_of_values_has_nothing_to_probe_at_once() {
    for policy in Policy::ALL {
        if policy.traits().probes() {
            continue;
        }
        let mut bench = bench(policy, SkipScope::NextTurn);
        bench.deny(0, 4);
        assert_eq!(bench.probe(0, 1_000), None);
        assert_eq!(bench.took(), cycles::QUERY);
    }
}

#[test]
fn paths_that_are_taken_again_come_one_per_clock() {
    for policy in [Policy::Reps, Policy::Mixed] {
        let mut bench = bench(policy, SkipScope::NextTurn);
        let remember = |bench: &mut Bench, count: u32| {
            for slot in 0..count {
                bench.ack(0, 0, 0xc000 + 2 * slot, Feedback::Good.into());
                assert_eq!(bench.took(), 7);
            }
        };
        for count in [1, 5, 8] {
            remember(&mut bench, count as u32);
            let expected: Vec<u8> = (0..count as u8).map(|slot| 2 * slot).collect();
            assert_eq!(bench.choose_burst(0, 0, None, count), expected);
            assert_eq!(bench.took(), cycles::choose_recycled(count));
        }
        // The last ones are of the order.
        remember(&mut bench, 4);
        assert_eq!(bench.choose_burst(0, 0, None, 9).len(), 9);
        assert_eq!(bench.took(), cycles::choose(9, 0) + cycles::RECALL);
        // Frozen: the eight slots in turn.
        remember(&mut bench, 8);
        bench.feedback(0, 90, Feedback::Timeout);
        assert_eq!(bench.took(), 4);
        let turns = bench.choose_burst(0, 0, None, 32);
        assert_eq!(turns[..8], turns[8..16]);
        assert_eq!(bench.took(), cycles::choose_recycled(32));
        // A path that is no candidate costs a cycle. It is one as long as a backup serves its slot.
        for index in [128, 130, 0, 6] {
            bench.deny(0, index);
        }
        assert_eq!(bench.choose_burst(0, 0, None, 12).len(), 12);
        assert_eq!(bench.took(), cycles::choose_recycled(12) + 4);
    }
}

#[test]
fn another_path_is_drawn_in_one_more_cycle() {
    let mut bench = bench(Policy::FlowBender, SkipScope::NextTurn);
    bench.feedback(0, 4, Feedback::Skip);
    assert_eq!(bench.took(), 4);
    bench.feedback(0, 4, Feedback::Timeout);
    assert_eq!(bench.took(), 5);
    bench.ack(0, 0, 0xc000, Feedback::Good.into());
    assert_eq!(bench.took(), 7);
    bench.ack(0, 0, 0xc000, Feedback::AlwaysSkip.into());
    assert_eq!(bench.took(), 8);
}

#[test]
fn with_every_path_of_both_planes_gone_the_doubtful_ones_are_used_and_denied_ones_never() {
    let mut bench = bench(Policy::EvState, SkipScope::RestOfRotation);
    for index in 0..132 {
        bench.feedback(0, index, Feedback::Timeout);
    }
    for index in 128..132 {
        bench.feedback(0, index, Feedback::Timeout);
    }
    let mut doubtful: Vec<u8> = (0..64).filter_map(|_| bench.choose(0, 0, None)).collect();
    doubtful.sort_unstable();
    assert_eq!(doubtful, (0..64).map(|slot| 2 * slot).collect::<Vec<_>>());
    for index in (0..144).filter(|index| index % 2 == 0) {
        bench.deny(0, index);
    }
    assert_eq!(bench.choose(0, 0, None), None);
    assert!(bench.choose(0, 1, None).is_some());
}

#[test]
#[should_panic(expected = "so use 1 to 16")]
fn more_queue_pairs_than_requests_can_name_are_refused() {
    let _ = SprayEngine::<17>::default();
}
