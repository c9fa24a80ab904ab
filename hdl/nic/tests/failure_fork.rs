//! `FailureFork`: each failure reaches both receivers once and in order, whichever of them accepts first.

use hdl_nic::FailureFork;
use hdl_testkit::equivalence::{check, Random, TestRng};
use hdl_testkit::Dut;
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rust_hdl::prelude::*;
use stellar_wire::hw::pack::to_words;

fn failure(rng: &mut TestRng) -> hdl_requester::Failure {
    hdl_requester::Failure {
        qp: Bits::random(rng),
        status: Bits::random(rng),
    }
}

#[test]
fn failure_fork_is_its_verilog() {
    check(
        FailureFork::default,
        Some(|fork| &mut fork.clock),
        |fork, rng: &mut TestRng| {
            fork.reset.next = rng.random_bool(0.02);
            fork.failure.valid.next = rng.random_bool(0.7);
            fork.failure.record.next = failure(rng);
            fork.to_host.ready.next = rng.random_bool(0.4);
            fork.to_core.ready.next = rng.random_bool(0.4);
        },
        400,
        4,
    )
    .unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, ..ProptestConfig::default() })]

    #[test]
    fn each_failure_reaches_both_receivers_once(seed in any::<u64>(), ready in prop::array::uniform2(0.1..1.0)) {
        let mut rng = TestRng::seed_from_u64(seed);
        let mut dut = Dut::new::<FailureFork>();
        dut.reset(1);
        let failures: Vec<_> = (0..40).map(|_| failure(&mut rng)).collect();
        let mut sent = 0;
        let mut offered = false;
        let (mut at_host, mut at_core) = (vec![], vec![]);
        for _ in 0..40 * 100 {
            offered |= sent < failures.len() && rng.random_bool(0.7);
            dut.set("failure_valid", offered.into());
            if offered {
                dut.set_words("failure", &to_words(failures[sent]));
            }
            dut.set("to_host_ready", rng.random_bool(ready[0]).into());
            dut.set("to_core_ready", rng.random_bool(ready[1]).into());
            dut.eval();
            if dut.moves("to_host_valid", "to_host_ready") {
                at_host.push((dut.get("to_host_qp"), dut.get("to_host_status")));
            }
            if dut.moves("to_core_valid", "to_core_ready") {
                at_core.push(dut.get("to_core_qp"));
            }
            if dut.moves("failure_valid", "failure_ready") {
                (sent, offered) = (sent + 1, false);
                prop_assert_eq!((at_host.len(), at_core.len()), (sent, sent), "taken before both accepted");
            }
            dut.clock();
        }
        let qp = |failure: &hdl_requester::Failure| failure.qp.index() as u64;
        let host: Vec<_> = failures.iter().map(|f| (qp(f), f.status.index() as u64)).collect();
        let core: Vec<_> = failures.iter().map(qp).collect();
        prop_assert_eq!(at_host, host);
        prop_assert_eq!(at_core, core);
    }
}
