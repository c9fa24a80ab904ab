//! `qp_schedule` against the reference, operation by operation.

mod bench;

use bench::{Bench, Input, Small, PAGE_BITS, QP_BITS};
use hdl_requester::qp_schedule::{TURN_CYCLES, WAKE_CYCLES};
use hdl_requester::QpSchedule;
use hdl_testkit::equivalence::{check, Random, TestRng};
use proptest::prelude::*;
use rand::Rng;
use rust_hdl::prelude::*;

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
    };
    check(Small::default, Some(|b| &mut b.clock), drive, 3_000, 1).expect("qp_schedule");
}

#[test]
#[should_panic(expected = "use Q of 1 to 10 (2 to 1,024 queue pairs) and P of 1 to 16")]
fn more_pages_than_the_port_can_name_are_refused() {
    let _ = QpSchedule::<10, 17>::default();
}

/// Generates the inputs of a cycle. `wake`, `turn` and `park` are the probabilities of a wake-up, of a turn, and that a turn deactivates the head.
fn inputs(pages: u16, wake: f64, turn: f64, park: f64) -> impl Strategy<Value = Vec<Input>> {
    let input = (
        prop::option::weighted(wake, (0..pages, 0..1_u16 << QP_BITS)),
        prop::option::weighted(turn, prop::bool::weighted(park)),
    )
        .prop_map(|(wake, deactivates)| Input { wake, deactivates });
    prop::collection::vec(input, 1..1_500)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_operations_agree_with_the_reference(
        inputs in prop_oneof![
            inputs(1 << PAGE_BITS, 0.1, 0.1, 0.5),
            inputs(3, 0.9, 0.9, 0.4),
            inputs(3, 0.3, 0.3, 0.9),
            inputs(1, 0.5, 0.99, 0.5),
            inputs(1 << PAGE_BITS, 0.99, 0.99, 0.6),
        ],
    ) {
        let mut bench = Bench::new();
        for input in inputs {
            bench.clock(input);
        }
        bench.deactivate_all();
        prop_assert!(bench.longest_turn <= TURN_CYCLES && bench.longest_wake <= WAKE_CYCLES);
    }
}

#[test]
fn pages_take_turns_whatever_their_number_of_queue_pairs() {
    let mut bench = Bench::new();
    for (page, qp) in [(1, 10), (1, 11), (1, 12), (2, 20)] {
        bench.wake(page, qp);
    }
    let rotate: Vec<_> = (0..6).map(|_| bench.turn(false)).collect();
    assert_eq!(rotate, [10, 20, 11, 20, 12, 20]);
}

#[test]
fn parked_and_woken_in_one_clock_it_is_present_again() {
    let mut bench = Bench::new();
    bench.wake(5, 3);
    bench.clock(Input {
        wake: Some((5, 3)),
        deactivates: Some(true),
    });
    assert_eq!(bench.turn(true), 3);
    assert_eq!(bench.head_after(20), None);
}

#[test]
fn the_bounds_are_reached() {
    let mut bench = Bench::new();
    bench.wake(1, 1);
    // A wake-up that starts one cycle before the head is rotated.
    bench.clock(Input {
        wake: Some((1, 2)),
        deactivates: None,
    });
    bench.turn(false);
    // A wake-up in the cycle of a turn.
    bench.head_after(20);
    bench.clock(Input {
        wake: Some((2, 3)),
        deactivates: Some(false),
    });
    bench.head_after(20);
    assert_eq!(
        (bench.longest_turn, bench.longest_wake),
        (TURN_CYCLES, WAKE_CYCLES)
    );
}

#[test]
fn a_reset_in_the_middle_of_anything_leaves_nobody() {
    let mut bench = Bench::new();
    for cycles in 0..12 {
        for qp in 0..8 {
            bench.wake(qp % 3, qp);
        }
        bench.clock(Input {
            wake: Some((7, 9)),
            deactivates: Some(cycles % 2 == 0),
        });
        for _ in 0..cycles {
            bench.clock(Input::default());
        }
        bench.reset();
        assert_eq!(bench.head_after(20), None);
    }
}
