//! `qp_schedule` against the reference, operation by operation.

mod bench;
mod fairness;

use bench::{Bench, Input, Small, Turn, QP_BITS, TENANT_BITS};
use hdl_requester::qp_schedule::{TURN_CYCLES, WAKE_CYCLES};
use hdl_requester::QpSchedule;
use hdl_testkit::equivalence::{check, Random, TestRng};
use proptest::prelude::*;
use rand::Rng;
use rust_hdl::prelude::*;
use stellar_wire::hw::tenant::TenantEntry;
use stellar_wire::rows::STEP_ONE;

/// The longest burst.
const LONGEST: u32 = 20_480;

#[test]
fn verilog_agrees_with_rust_hdl() {
    let drive = |block: &mut Small, rng: &mut TestRng| {
        let near: Bits<3> = Bits::random(rng);
        block.reset.next = rng.random_ratio(1, 400);
        block.wake.valid.next = rng.random_ratio(1, 4);
        block.wake.page.next = bit_cast(near);
        block.wake.qp.next = Bits::random(rng);
        let turns = rng.random_ratio(1, 3);
        let leaves = rng.random_ratio(2, 3);
        block.rotate.next = turns && !leaves;
        block.deactivate.next = turns && leaves;
        block.cost.next = Bits::random(rng);
        block.share.valid.next = rng.random_ratio(1, 40);
        block.share.tenant.next = Bits::random(rng);
        block.share.record.next = TenantEntry {
            step: Bits::random(rng),
            rate: bit_cast::<20, 1>(Bits::random(rng)),
            bucket: Bits::random(rng),
        };
        block.charge.ready.next = rng.random_ratio(1, 8);
        block.charge.may_send.next = rng.random_ratio(1, 2);
    };
    check(Small::default, Some(|b| &mut b.clock), drive, 4_000, 1).expect("qp_schedule");
}

#[test]
#[should_panic(expected = "use Q of 1 to 16 (2 to 65,536 queue pairs) and P of 1 to 12")]
fn more_tenants_than_have_shares_are_refused() {
    let _ = QpSchedule::<10, 13>::default();
}

/// Probabilities of what happens in a cycle.
#[derive(Clone, Copy)]
struct Mix {
    tenants: u16,
    wake: f64,
    turn: f64,
    /// Of a turn: that it deactivates the head.
    park: f64,
    share: f64,
    /// That a share has a limit, that a charge is answered, and that the answer is yes.
    limit: f64,
    answer: f64,
    may_send: f64,
}

/// Generates the inputs of a cycle.
fn inputs(mix: Mix) -> impl Strategy<Value = Vec<Input>> {
    let cost = prop_oneof![1..=LONGEST, 1..300u32, Just(LONGEST)];
    let turn = (prop::bool::weighted(mix.park), cost).prop_map(|(parks, cost)| {
        if parks {
            Turn::Deactivate
        } else {
            Turn::Rotate(cost)
        }
    });
    let step = prop_oneof![Just(STEP_ONE), Just(STEP_ONE / 255), 257..=STEP_ONE];
    let share = (
        0..1u32 << TENANT_BITS,
        step,
        prop::bool::weighted(mix.limit),
    );
    let input = (
        prop::option::weighted(mix.wake, (0..mix.tenants, 0..1_u16 << QP_BITS)),
        prop::option::weighted(mix.turn, turn),
        prop::option::weighted(mix.share, share),
        prop::option::weighted(mix.answer, prop::bool::weighted(mix.may_send)),
    )
        .prop_map(|(wake, turn, share, answer)| Input {
            wake,
            turn,
            share,
            answer,
        });
    prop::collection::vec(input, 1..1_500)
}

const QUIET: Mix = Mix {
    tenants: 1 << TENANT_BITS,
    wake: 0.1,
    turn: 0.1,
    park: 0.5,
    share: 0.02,
    limit: 0.0,
    answer: 0.5,
    may_send: 0.5,
};
const BUSY: Mix = Mix {
    wake: 0.9,
    turn: 0.9,
    park: 0.3,
    ..QUIET
};

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_operations_agree_with_the_reference(
        inputs in prop_oneof![
            inputs(QUIET),
            inputs(BUSY),
            inputs(Mix { tenants: 3, park: 0.1, ..BUSY }),
            inputs(Mix { tenants: 3, wake: 0.3, turn: 0.3, park: 0.9, ..QUIET }),
            inputs(Mix { tenants: 1, wake: 0.5, turn: 0.99, ..QUIET }),
            // Pages beyond the tenants.
            inputs(Mix { tenants: u16::MAX, wake: 0.5, ..BUSY }),
        ],
    ) {
        let mut bench = Bench::new();
        for input in inputs {
            bench.clock(input);
        }
        bench.deactivate_all();
        prop_assert!(bench.longest_turn <= TURN_CYCLES && bench.longest_wake <= WAKE_CYCLES, "{} {}", bench.longest_turn, bench.longest_wake);
    }

    #[test]
    fn tenants_with_limits_rest_and_return_as_in_the_reference(
        inputs in prop_oneof![
            inputs(Mix { limit: 0.7, answer: 0.2, may_send: 0.4, ..BUSY }),
            inputs(Mix { share: 0.2, limit: 0.9, answer: 0.9, may_send: 0.2, ..BUSY }),
            inputs(Mix { tenants: 2, limit: 0.99, answer: 0.05, may_send: 0.5, park: 0.05, ..BUSY }),
            inputs(Mix { limit: 0.5, answer: 0.5, may_send: 0.5, ..QUIET }),
        ],
    ) {
        let mut bench = Bench::new();
        for input in inputs {
            bench.clock(input);
        }
        bench.deactivate_all();
    }
}

#[test]
fn tenants_take_turns_whatever_their_number_of_queue_pairs() {
    let mut bench = Bench::new();
    for (page, qp) in [(1, 10), (1, 11), (1, 12), (2, 20)] {
        bench.wake(page, qp);
    }
    let rotate: Vec<_> = (0..6)
        .map(|_| bench.take_turn(Turn::Rotate(16_000)))
        .collect();
    assert_eq!(rotate, [10, 20, 11, 20, 12, 20]);
}

#[test]
fn a_tenant_of_twice_the_weight_sends_twice_the_bytes() {
    let mut bench = Bench::new();
    bench.clock(Input {
        share: Some((2, STEP_ONE / 2, false)),
        ..Input::default()
    });
    bench.wake(1, 10);
    bench.wake(2, 20);
    let served: Vec<_> = (0..300)
        .map(|_| bench.take_turn(Turn::Rotate(5_000)))
        .collect();
    assert_eq!(served.iter().filter(|&&qp| qp == 20).count(), 200);
}

#[test]
fn one_that_rests_returns_when_it_has_tokens() {
    let mut bench = Bench::new();
    bench.clock(Input {
        share: Some((2, STEP_ONE, true)),
        ..Input::default()
    });
    bench.wake(2, 20);
    bench.wake(1, 10);
    let answers = |bench: &mut Bench, may_send, cycles| {
        for _ in 0..cycles {
            bench.clock(Input {
                answer: Some(may_send),
                ..Input::default()
            });
        }
    };
    bench.clock(Input {
        turn: Some(Turn::Rotate(9_000)),
        ..Input::default()
    });
    answers(&mut bench, false, 200);
    assert_eq!(bench.rests, 1);
    // Turns of a requester are at least ten cycles apart.
    let turn = |_| {
        bench.head_after(10);
        bench.take_turn(Turn::Rotate(5_000))
    };
    let served: Vec<_> = (0..20).map(turn).collect();
    assert!(served.contains(&20) && served[0] == 10, "{served:?}");
    assert_eq!(bench.returns, 1);
}

#[test]
fn parked_and_woken_in_one_clock_it_is_present_again() {
    let mut bench = Bench::new();
    bench.wake(5, 3);
    bench.clock(Input {
        wake: Some((5, 3)),
        turn: Some(Turn::Deactivate),
        ..Input::default()
    });
    assert_eq!(bench.take_turn(Turn::Deactivate), 3);
    assert_eq!(bench.head_after(30), None);
}

#[test]
fn the_bounds_are_reached() {
    let mut bench = Bench::new();
    bench.wake(1, 1);
    bench.wake(1, 2);
    // A tenant that is alone keeps its turn, so its next head comes while the first burst is charged. It is rotated one cycle after the wake-up of another tenant.
    bench.take_turn(Turn::Rotate(100));
    bench.head_after(2);
    bench.clock(Input {
        wake: Some((2, 3)),
        ..Input::default()
    });
    bench.take_turn(Turn::Rotate(100));
    bench.head_after(40);
    // A wake-up in the cycle of a turn to another tenant.
    bench.clock(Input {
        wake: Some((5, 5)),
        turn: Some(Turn::Rotate(100)),
        ..Input::default()
    });
    bench.head_after(40);
    assert_eq!(
        (bench.longest_turn, bench.longest_wake),
        (TURN_CYCLES, WAKE_CYCLES)
    );
}

#[test]
fn a_reset_in_the_middle_of_anything_leaves_nobody() {
    let mut bench = Bench::new();
    for cycles in 0..16 {
        for qp in 0..8 {
            bench.wake(qp % 3, qp);
        }
        bench.clock(Input {
            wake: Some((7, 9)),
            turn: Some(if cycles % 2 == 0 {
                Turn::Deactivate
            } else {
                Turn::Rotate(1_000)
            }),
            ..Input::default()
        });
        for _ in 0..cycles {
            bench.clock(Input::default());
        }
        bench.reset();
        assert_eq!(bench.head_after(20), None);
    }
}
