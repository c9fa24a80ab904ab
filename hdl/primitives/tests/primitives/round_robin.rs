//! Tests which requester the arbiter grants, and that no requester starves.

use hdl_primitives::RoundRobin;
use hdl_testkit::equivalence::{check, Random};
use hdl_testkit::Dut;
use proptest::prelude::*;
use rust_hdl::prelude::*;

const N: usize = 5;

#[test]
fn agrees_with_its_simulation() {
    let drive = |uut: &mut RoundRobin<37, 6>, rng: &mut _| {
        uut.reset.next = Bits::<6>::random(rng) == 7;
        uut.request.next = Bits::random(rng) & Bits::random(rng);
        uut.accept.next = bool::random(rng);
    };
    check(RoundRobin::default, Some(|u| &mut u.clock), drive, 400, 1).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn the_next_requester_after_the_last_served_is_granted(
        moves in prop::collection::vec((0..1u64 << N, any::<bool>()), 1..100)
    ) {
        let mut dut = Dut::new::<RoundRobin<N, 3>>();
        let mut next = 0;
        for (request, accept) in moves {
            dut.set("request", request);
            dut.set("accept", accept.into());
            dut.settle();
            let expected = (0..N).map(|i| (next + i) % N).find(|i| request >> i & 1 == 1);
            prop_assert_eq!(dut.get("valid") == 1, expected.is_some());
            prop_assert_eq!(dut.get("grant"), expected.map_or(0, |i| 1 << i));
            prop_assert_eq!(dut.get("index"), expected.unwrap_or(0) as u64);
            dut.clock();
            if let (Some(granted), true) = (expected, accept) {
                next = granted + 1;
            }
        }
    }
}

#[test]
fn all_requesters_share_alike() {
    let mut dut = Dut::new::<RoundRobin<N, 3>>();
    let mut served = [0; N];
    dut.set("request", (1 << N) - 1);
    dut.set("accept", 1);
    for _ in 0..10 * N {
        dut.settle();
        served[dut.get("index") as usize] += 1;
        dut.clock();
    }
    assert_eq!(served, [10; N]);
}

#[test]
fn a_reset_begins_with_the_first_requester_again() {
    let mut dut = Dut::new::<RoundRobin<N, 3>>();
    dut.set("request", (1 << N) - 1);
    dut.set("accept", 1);
    dut.clock();
    dut.clock();
    dut.set("reset", 1);
    dut.clock();
    dut.set("reset", 0);
    dut.settle();
    assert_eq!(dut.get("index"), 0);
}

#[test]
#[should_panic(expected = "RoundRobin<5, 2>: the index needs I = 3 bits")]
fn an_index_of_wrong_width_is_refused() {
    let _ = RoundRobin::<5, 2>::default();
}
