//! Tests which requester the arbiter grants a cycle after it has chosen, and that no requester starves.

use hdl_primitives::RoundRobinAhead;
use hdl_testkit::equivalence::{check, Random};
use hdl_testkit::Dut;
use proptest::prelude::*;
use rust_hdl::prelude::*;

const N: usize = 5;

#[test]
fn agrees_with_its_simulation() {
    let drive = |uut: &mut RoundRobinAhead<37, 6>, rng: &mut _| {
        uut.reset.next = Bits::<6>::random(rng) == 7;
        uut.request.next = Bits::random(rng) & Bits::random(rng);
        uut.accept.next = bool::random(rng);
    };
    check(
        RoundRobinAhead::default,
        Some(|u| &mut u.clock),
        drive,
        400,
        1,
    )
    .unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn the_requester_that_was_next_is_granted_unless_it_has_withdrawn(
        moves in prop::collection::vec((0..1u64 << N, any::<bool>()), 1..100)
    ) {
        let mut dut = Dut::new::<RoundRobinAhead<N, 3>>();
        let (mut next, mut chosen, mut served) = (0, None, false);
        for (request, accept) in moves {
            dut.set("request", request);
            dut.set("accept", accept.into());
            dut.settle();
            let granted = chosen.filter(|&i: &usize| !served && request >> i & 1 == 1);
            prop_assert_eq!(dut.get("valid") == 1, granted.is_some());
            if let Some(granted) = granted {
                prop_assert_eq!(dut.get("grant"), 1 << granted);
                prop_assert_eq!(dut.get("index"), granted as u64);
            }
            dut.clock();
            chosen = (0..N).map(|i| (next + i) % N).find(|i| request >> i & 1 == 1);
            served = accept && granted.is_some();
            if let (Some(granted), true) = (granted, served) {
                next = granted + 1;
            }
        }
    }
}

#[test]
fn all_requesters_share_alike() {
    let mut dut = Dut::new::<RoundRobinAhead<N, 3>>();
    let mut served = [0; N];
    dut.set("request", (1 << N) - 1);
    dut.set("accept", 1);
    for clock in 0..20 * N {
        dut.settle();
        assert_eq!(dut.is("valid"), clock % 2 == 1, "clock {clock}");
        if dut.is("valid") {
            served[dut.get("index") as usize] += 1;
        }
        dut.clock();
    }
    assert_eq!(served, [10; N]);
}
