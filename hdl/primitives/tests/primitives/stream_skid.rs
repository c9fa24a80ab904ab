//! The skid buffer: order, no loss, full rate, registered ready.

use hdl_primitives::StreamSkid;
use hdl_testkit::equivalence::{check, Random};
use hdl_testkit::Dut;
use proptest::prelude::*;
use rust_hdl::prelude::*;

#[test]
fn agrees_with_its_simulation() {
    let drive = |uut: &mut StreamSkid<Bits<72>>, rng: &mut _| {
        uut.reset.next = Bits::<6>::random(rng) == 7;
        uut.in_.valid.next = bool::random(rng);
        uut.in_.data.next = Bits::random(rng);
        uut.out.ready.next = bool::random(rng);
    };
    check(StreamSkid::default, Some(|u| &mut u.clock), drive, 400, 1).unwrap();
}

/// Sends 0, 1, 2 ... with `offer` and takes with `take`; returns how many came out, after checking each.
fn run(moves: &[(bool, bool)]) -> u64 {
    let mut dut = Dut::new::<StreamSkid<Bits<40>>>();
    let (mut sent, mut received) = (0, 0);
    let mut held = false;
    for &(offer, take) in moves {
        // A source holds its offer until it is accepted.
        held |= offer;
        dut.set("in_valid", held.into());
        dut.set("in_data", if held { sent } else { 0xBAD });
        dut.set("out_ready", 0);
        dut.settle();
        let ready = dut.get("in_ready");
        dut.set("out_ready", take.into());
        dut.settle();
        assert_eq!(
            dut.get("in_ready"),
            ready,
            "in_ready does not depend on out_ready"
        );
        if held && ready == 1 {
            sent += 1;
            held = false;
        }
        if take && dut.get("out_valid") == 1 {
            assert_eq!(dut.get("out_data"), received);
            received += 1;
        }
        dut.clock();
    }
    assert!(sent - received <= 2, "{sent} went in, {received} came out");
    received
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn items_leave_in_order_and_none_is_lost(moves in prop::collection::vec((any::<bool>(), any::<bool>()), 1..200)) {
        run(&moves);
    }
}

#[test]
fn an_item_moves_every_clock() {
    assert_eq!(run(&[(true, true); 100]), 99);
}

#[test]
fn full_rate_resumes_at_once_after_a_stall() {
    let moves: Vec<_> = (0..100).map(|n| (true, !(20..30).contains(&n))).collect();
    assert_eq!(run(&moves), 99 - 10);
}

#[test]
fn a_reset_empties_both_places() {
    let mut dut = Dut::new::<StreamSkid<Bits<40>>>();
    dut.set("in_valid", 1);
    dut.set("in_data", 0xBAD);
    // One item more than there is room for.
    for _ in 0..3 {
        dut.clock();
    }
    dut.settle();
    assert_eq!(dut.get("in_ready"), 0);
    dut.set("in_valid", 0);
    dut.set("reset", 1);
    dut.clock();
    dut.set("reset", 0);
    dut.set("out_ready", 1);
    for _ in 0..3 {
        dut.settle();
        assert_eq!(dut.get("out_valid"), 0);
        dut.clock();
    }
}
