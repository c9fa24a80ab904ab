//! `timer_scan` offers every deadline that was reached exactly once, in time, and no other.

mod bench;

use bench::{Bench, Input, Timers, QP_BITS};
use hdl_requester::timer_scan::OFFER_CYCLES;
use hdl_requester::TimerScan;
use hdl_testkit::equivalence::{check, Random, TestRng};
use proptest::prelude::*;
use rand::Rng;
use rust_hdl::prelude::*;
use stellar_wire::hw::Qpn;

const QPS: usize = 1 << QP_BITS;

#[test]
fn verilog_agrees_with_rust_hdl() {
    let mut time = 0_u64;
    let drive = move |block: &mut Timers, rng: &mut TestRng| {
        time += rng.random_range(0..3);
        let qp: Qpn = Bits::random(rng);
        block.reset.next = rng.random_ratio(1, 300);
        block.now.next = time.to_bits();
        block.deadline.valid.next = bool::random(rng);
        // The queue pair that is offered is set often.
        block.deadline.qp.next = if rng.random_ratio(1, 4) {
            block.due.qp.val()
        } else {
            qp
        };
        block.deadline.armed.next = rng.random_ratio(3, 4);
        block.deadline.record.next = (time + rng.random_range(0..100)).to_bits();
        block.due.ready.next = rng.random_ratio(3, 4);
    };
    check(Timers::default, Some(|b| &mut b.clock), drive, 2_000, 1).expect("timer_scan");
}

#[test]
#[should_panic(expected = "use Q of 1 to 16")]
fn more_queue_pairs_than_the_port_can_name_are_refused() {
    let _ = TimerScan::<17>::default();
}

/// Generates a set: queue pair, armed, and deadline in ticks from now; a negative one has been reached already.
fn set(among: usize) -> impl Strategy<Value = (usize, bool, i32)> {
    (
        0..among,
        prop::bool::weighted(0.8),
        prop_oneof![4 => -20..200_i32, 2 => 0..20_i32, 1 => Just(2_000_000_000), 1 => Just(-2_000_000_000)],
    )
}

fn inputs(among: usize, ready: f64) -> impl Strategy<Value = Vec<(u32, Input)>> {
    let input = (
        prop_oneof![3 => Just(0_u32), 3 => Just(1_u32), 1 => 2..50_u32],
        prop::option::weighted(0.3, set(among)),
        prop::bool::weighted(ready),
        prop::bool::weighted(0.3),
    )
        .prop_map(|(passed, set, ready, at_offer)| {
            (
                passed,
                Input {
                    set,
                    ready,
                    at_offer,
                },
            )
        });
    prop::collection::vec(input, 1..2_000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn offers_taken_at_once_come_in_time(
        start in prop_oneof![any::<u32>(), 0xffff_ff00..=0xffff_ffff_u32],
        inputs in inputs(QPS, 0.5),
    ) {
        let mut bench = Bench::new(start);
        for (passed, input) in inputs {
            bench.clock(passed, Input { ready: true, ..input });
        }
        prop_assert!(bench.oldest <= QPS as u64 + OFFER_CYCLES);
    }

    #[test]
    fn offers_taken_late_stand_until_they_are_taken_or_set_anew(
        start in any::<u32>(),
        among in prop_oneof![Just(2_usize), Just(40), Just(QPS)],
        inputs in prop_oneof![inputs(2, 0.3), inputs(40, 0.5), inputs(QPS, 0.1)],
    ) {
        let mut bench = Bench::new(start);
        for (passed, mut input) in inputs {
            input.set = input.set.map(|(qp, armed, at)| (qp % among, armed, at));
            bench.clock(passed, input);
        }
        // Every deadline that was reached is offered within one round of the scan.
        for _ in 0..QPS as u64 + OFFER_CYCLES + 1 {
            bench.clock(0, Input::TAKE);
        }
        prop_assert_eq!(bench.due(), 0);
    }
}

#[test]
fn deadlines_reached_all_at_once_are_offered_one_per_clock() {
    offered_one_per_clock(Bench::new(1_000));
    offered_one_per_clock(Bench::of_full_groups(1_000));
}

fn offered_one_per_clock(mut bench: Bench) {
    for qp in 0..QPS {
        bench.clock(0, Input::set(qp, true, 10_000));
    }
    for _ in 0..3 * QPS {
        bench.clock(1, Input::TAKE);
    }
    assert_eq!(bench.offers, 0, "offered before it was reached");
    bench.clock(10_000, Input::TAKE);
    for _ in 0..QPS as u64 + OFFER_CYCLES {
        bench.clock(0, Input::TAKE);
    }
    assert_eq!((bench.offers, bench.due()), (QPS, 0));
    assert!(
        bench.oldest <= QPS as u64 + OFFER_CYCLES,
        "{}",
        bench.oldest
    );
}

#[test]
fn a_reset_disarms_all() {
    disarmed_by_reset(Bench::new(5));
    disarmed_by_reset(Bench::of_full_groups(5));
}

fn disarmed_by_reset(mut bench: Bench) {
    for qp in 0..QPS {
        bench.clock(0, Input::set(qp, true, 0));
    }
    bench.reset();
    // One timer of a word of 32 is set; its neighbours stay disarmed.
    bench.clock(0, Input::set(QPS - 1, true, 0));
    for _ in 0..3 * QPS {
        bench.clock(1, Input::TAKE);
    }
    assert_eq!(bench.offers, 1);
}
