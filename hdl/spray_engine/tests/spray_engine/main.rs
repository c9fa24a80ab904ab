//! `spray_engine` against `stellar_transport::spray::Spray`, answer by answer.

mod bench;
mod steps;

use bench::{Bench, Registers};
use hdl_spray_engine::spray_engine::clocks;
use hdl_spray_engine::SprayEngine;
use hdl_verilog::equivalence::{check, Random, TestRng};
use proptest::prelude::*;
use rand::Rng;
use rust_hdl::prelude::*;
use stellar_transport::spray::{Feedback, GeneratedEntropy, Policy, SkipScope};
use stellar_wire::hw::spray::{
    EntropyProfileEntry, SprayConfig, SprayFeedback, SprayOp, SprayPolicy, SprayRequest,
};
use steps::Play;

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_histories_agree_with_the_reference(
        profiles in prop::collection::vec(steps::profile(), 8),
        steps in prop::collection::vec((0..4_usize, prop_oneof![4 => Just(0), 1 => 1..6_usize], steps::step()), 1..500),
    ) {
        let mut play = Play::new(profiles);
        for qp in 0..4 {
            play.configure(qp, Registers { seed: 7 + qp as u32, profile: qp, ..registers(Policy::EvState) });
        }
        for (qp, gap, step) in &steps {
            play.bench.wait(*gap);
            play.step(*qp, step);
        }
    }
}

const PROFILE: GeneratedEntropy = GeneratedEntropy {
    base: 0xc000,
    stride_log2: 0,
    active: 128,
    backups: 4,
};

fn registers(policy: Policy) -> Registers {
    Registers {
        policy,
        paths: 255,
        seed: 0x1234_5678,
        profile: 0,
        rotation: 0,
        skip: SkipScope::RestOfRotation,
        probe_interval: 100,
    }
}

fn bench(policy: Policy, skip: SkipScope) -> Bench {
    let mut bench = Bench::new(&[PROFILE]);
    let registers = Registers {
        paths: 128,
        skip,
        ..registers(policy)
    };
    bench.configure(0, registers);
    bench
}

#[test]
fn a_choice_takes_ten_clocks_and_fourteen_at_the_start_of_a_rotation() {
    for policy in [Policy::Obs, Policy::EvState] {
        let mut bench = bench(policy, SkipScope::NextTurn);
        for n in 0..3 * 64 {
            bench.choose(0, 1, None).expect("a path");
            let limit = match n {
                64 | 128 => clocks::CHOOSE_IN_NEW_ROTATION,
                _ => clocks::CHOOSE,
            };
            assert_eq!(bench.took, limit, "packet {n}");
        }
    }
}

#[test]
fn a_choice_without_a_key_takes_six_to_nine_clocks() {
    let mut round_robin = bench(Policy::RoundRobin, SkipScope::NextTurn);
    let taken: Vec<usize> = (0..128)
        .map(|_| {
            round_robin.choose(0, 0, None).expect("a path");
            round_robin.took
        })
        .collect();
    let renewals = taken.iter().filter(|&&clocks| clocks == 8).count();
    assert!(taken.iter().all(|&clocks| clocks == 6 || clocks == 8));
    assert_eq!(renewals, 2);

    let mut single = bench(Policy::SinglePath, SkipScope::NextTurn);
    let first = [0, 1].map(|plane| (single.choose(0, plane, None), single.took));
    let used = first.iter().find_map(|(index, _)| *index).expect("a path");
    for (index, clocks) in first {
        assert_eq!(clocks, if index.is_some() { 7 } else { 5 });
    }
    // With nothing from there to the end, the search goes round.
    for index in (128..132).chain(used..128) {
        single.deny(0, index);
    }
    assert_eq!(single.choose(0, 0, None), Some(0));
    assert_eq!(single.took, 9);
    single.set_plane(0, false);
    single.set_plane(1, false);
    assert_eq!(single.choose(0, 0, None), None);
    assert_eq!(single.took, 3);
}

#[test]
fn other_operations_take_three_to_ten_clocks() {
    let mut bench = bench(Policy::EvState, SkipScope::NextTurn);
    assert_eq!(bench.took, 6, "configure");
    bench.query(0);
    assert_eq!(bench.took, 3);
    bench.feedback(0, 4, Feedback::Good);
    assert_eq!(bench.took, 4);
    bench.feedback(0, 4, Feedback::Skip);
    assert_eq!(bench.took, 4);
    bench.feedback(0, 4, Feedback::Timeout);
    assert_eq!(bench.took, 7);
    bench.deny(0, 128);
    assert_eq!(bench.took, 7, "the second backup takes over");
    bench.deny(0, 130);
    assert_eq!(bench.took, 7, "nothing left to take over");
    bench.reflect(0, 0xc000 + 131, Feedback::Skip);
    assert_eq!(bench.took, 7);
    bench.reflect(0, 0xc000 + 5, Feedback::Timeout);
    assert_eq!(bench.took, 10);
    assert_eq!(bench.probe(0, 1_000), Some(4));
    assert_eq!(bench.took, 7);
    assert_eq!(bench.probe(0, 50), None);
    assert_eq!(bench.probe(0, 50), Some(5));
    assert_eq!(bench.probe(0, 100), Some(4));
    assert_eq!(bench.took, 9, "past the last one");
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

fn random_request(rng: &mut TestRng) -> SprayRequest {
    let ops = [
        SprayOp::Choose,
        SprayOp::Choose,
        SprayOp::Feedback,
        SprayOp::Reflect,
        SprayOp::Probe,
        SprayOp::Query,
        SprayOp::Deny,
        SprayOp::Allow,
        SprayOp::Configure,
    ];
    let feedback = [
        SprayFeedback::Good,
        SprayFeedback::Skip,
        SprayFeedback::Timeout,
        SprayFeedback::AlwaysSkip,
        SprayFeedback::ProbeAnswered,
    ];
    let near: Bits<3> = Bits::random(rng);
    SprayRequest {
        op: ops[rng.random_range(0..ops.len())],
        qp: Bits::random(rng),
        plane: bool::random(rng),
        avoid_valid: bool::random(rng),
        avoid: Bits::random(rng),
        index: if bool::random(rng) {
            bit_cast::<8, 3>(near)
        } else {
            Bits::random(rng)
        },
        entropy: Bits::random(rng),
        feedback: feedback[rng.random_range(0..feedback.len())],
        now: Bits::random(rng),
    }
}

#[test]
fn verilog_agrees_with_rust_hdl() {
    let policies = [
        SprayPolicy::SinglePath,
        SprayPolicy::RoundRobin,
        SprayPolicy::Obs,
        SprayPolicy::EvState,
    ];
    let drive = |block: &mut SprayEngine<{ bench::Q }>, rng: &mut TestRng| {
        block.reset.next = rng.random_range(0..100) == 0;
        block.plane_up.next = rng.random_range(0..4_u64).to_bits();
        block.request_valid.next = bool::random(rng);
        block.request.next = random_request(rng);
        block.settings.next = SprayConfig {
            policy: policies[rng.random_range(0..4)],
            paths: rng.random_range(0..=128_u64).to_bits(),
            seed: Bits::random(rng),
            profile: Bits::random(rng),
            rotation: Bits::random(rng),
            skip_next_turn: bool::random(rng),
            probe_interval: Bits::random(rng),
        };
        block.profile_valid.next = rng.random_range(0..8) == 0;
        block.profile_index.next = Bits::random(rng);
        block.profile.next = EntropyProfileEntry {
            base: Bits::random(rng),
            stride_log2: rng.random_range(0..=24_u64).to_bits(),
            active: rng.random_range(1..=128_u64).to_bits(),
            backups: rng.random_range(0..=16_u64).to_bits(),
        };
    };
    check(
        SprayEngine::default,
        Some(|b| &mut b.clock),
        drive,
        1_000,
        1,
    )
    .unwrap();
}

#[test]
#[should_panic(expected = "so use 1 to 10")]
fn more_queue_pairs_than_requests_can_name_are_refused() {
    let _ = SprayEngine::<11>::default();
}
