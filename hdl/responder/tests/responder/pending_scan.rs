//! When the pending packets of a queue pair are visited.

use hdl_responder::PendingScan;
use hdl_testkit::Dut;
use stellar_transport::responder::Responder;
use stellar_transport::time::Ticks;
use stellar_wire::time::{visit_period_log2, visit_step_log2, PENDING_VISIT_LOG2};

const PERIOD: u32 = 1 << PENDING_VISIT_LOG2;
/// log2 of the queue pairs of the block, where nothing else is said, and the queue pairs.
const BITS: usize = 3;
const QPS: u32 = 1 << BITS;

/// Runs the block for `ticks` from `start` on, two cycles each. It is accepted in a cycle if `takes` says so for the tick. Returns tick, queue pair and port of each visit, behind those that
/// forget what was pending before the reset.
fn visits<const Q: usize>(
    start: u32,
    ticks: u32,
    takes: impl Fn(u32) -> bool,
) -> Vec<(u32, u32, usize)> {
    let mut dut = Dut::new::<PendingScan<Q>>();
    dut.set("now", u64::from(start));
    dut.reset(1);
    let (mut found, mut forgotten) = (vec![], vec![]);
    for cycle in 0..2 * ticks {
        let tick = start.wrapping_add(cycle / 2);
        dut.set("now", u64::from(tick));
        dut.set("visit_ready", takes(tick).into());
        dut.eval();
        if dut.is("visit_valid") && takes(tick) && dut.is("visit_forgets") {
            forgotten.push(dut.get("visit_qp") as u32);
        } else if dut.is("visit_valid") && takes(tick) {
            found.push((
                tick,
                dut.get("visit_qp") as u32,
                dut.get("visit_port") as usize,
            ));
        }
        dut.clock();
    }
    assert_eq!(forgotten, Vec::from_iter((1..1 << Q).chain([0])));
    found
}

fn visited_in_time<const Q: usize>() {
    let (period, step, qps) = (1 << visit_period_log2(Q), visit_step_log2(Q), 1 << Q);
    // After a reset, queue pair 0 is first visited in the next period, which begins when the clock wraps.
    let start = 0_u32.wrapping_sub(period);
    let found = visits::<Q>(start, 3 * period, |_| true);
    let in_time: Vec<_> = found
        .into_iter()
        .filter(|visit| visit.0 < period << 2)
        .collect();
    assert_eq!(in_time.len() as u32, 2 * qps);
    for (n, (tick, qp, port)) in in_time.into_iter().enumerate() {
        assert_eq!(qp, n as u32 % qps);
        let due = n as u32 / qps * period + (qp << step);
        assert!((1..3).contains(&tick.wrapping_sub(due)), "{tick} {due}");
        assert_eq!(port, Responder::visit_port(Ticks(tick), Q));
    }
}

#[test]
fn each_queue_pair_has_its_time() {
    visited_in_time::<BITS>();
    // The period of a card with 16,384 queue pairs is longer, and its visits are closer.
    visited_in_time::<14>();
}

#[test]
fn a_visit_that_waits_delays_others_and_none_is_left_out() {
    let found = visits::<BITS>(PERIOD, PERIOD / 2, |tick| tick > PERIOD + 100);
    let qps: Vec<u32> = found.iter().map(|visit| visit.1).collect();
    assert_eq!(qps, Vec::from_iter(1..QPS));
    assert!(found.iter().all(|visit| visit.0 < PERIOD + 640));
}
