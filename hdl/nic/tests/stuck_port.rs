//! `StuckPort` against a count of the cycles for which a beat has waited.

use hdl_nic::StuckPort;
use hdl_testkit::equivalence::check;
use hdl_testkit::Dut;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;

/// Cycles from what is at the ports to `drops`.
const LATENCY: usize = 2;

/// Random pauses, fences and timeouts. Returns the number of cycles in which frames are dropped.
fn run(seed: u64, timeout: u64) -> usize {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut dut = Dut::new::<StuckPort>();
    dut.reset(1);
    dut.set("timeout", timeout);
    let (mut offers, mut paused, mut fence) = (false, false, false);
    // Cycles for which the beat on offer had waited, in this cycle and before; and whether a fence waited.
    let mut waited = vec![0u64];
    let mut fences = vec![];
    let mut dropping = 0;
    for clock in 0..20_000 {
        if rng.random_ratio(1, 30) {
            paused = !paused;
        }
        if rng.random_ratio(1, 50) {
            fence = !fence;
        }
        let takes = !paused && rng.random_ratio(3, 4);
        offers |= rng.random_ratio(1, 2);
        dut.set("offers", offers.into());
        dut.set("takes", takes.into());
        dut.set("fence_waits", fence.into());
        dut.eval();
        if clock >= LATENCY {
            // The beat waited in that cycle too, and a fence waited in the cycle after it.
            let then = clock - LATENCY;
            let stuck = waited[then + 1] > 0 && waited[then] >= timeout;
            let due = timeout > 0 && stuck && fences[then + 1];
            assert_eq!(dut.is("drops"), due, "seed {seed}, clock {clock}");
            dropping += usize::from(due);
        }
        fences.push(fence);
        let waits = offers && !takes;
        waited.push(if waits { waited[clock] + 1 } else { 0 });
        offers &= !takes;
        dut.clock();
    }
    dropping
}

#[test]
fn frames_are_dropped_only_while_a_fence_waits_and_nothing_has_moved_for_the_timeout() {
    let dropping: Vec<_> = (1..=4).map(|seed| run(seed, 12 * seed)).collect();
    assert!(dropping.iter().all(|&cycles| cycles > 100), "{dropping:?}");
    assert!(dropping.is_sorted_by(|a, b| a > b), "{dropping:?}");
    assert_eq!(run(5, 0), 0, "0 switches it off");
}

#[test]
fn stuck_port_is_its_verilog() {
    check(
        StuckPort::default,
        Some(|port| &mut port.clock),
        |port, rng| {
            port.reset.next = rng.random_ratio(1, 200);
            port.timeout.next = bits::<31>(rng.random_range(0..4));
            port.fence_waits.next = rng.random();
            port.offers.next = rng.random_ratio(3, 4);
            port.takes.next = rng.random_ratio(1, 4);
        },
        500,
        2,
    )
    .unwrap();
}
