//! When the pending packets of a queue pair are visited.

use hdl_responder::PendingScan;
use hdl_testkit::Dut;
use stellar_transport::responder::Responder;
use stellar_transport::time::Ticks;
use stellar_wire::time::{PENDING_VISIT_LOG2, PENDING_VISIT_QP_LOG2};

const PERIOD: u32 = 1 << PENDING_VISIT_LOG2;
/// Queue pairs of the block.
const QPS: u32 = 8;

/// Runs the block for `ticks` from `start` on, two cycles each. It is accepted in a cycle if `takes` says so for the tick. Returns tick, queue pair and port of each visit, behind those that
/// forget what was pending before the reset.
fn visits(start: u32, ticks: u32, takes: impl Fn(u32) -> bool) -> Vec<(u32, u32, usize)> {
    let mut dut = Dut::new::<PendingScan<3>>();
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
    assert_eq!(forgotten, Vec::from_iter((1..QPS).chain([0])));
    found
}

#[test]
fn each_queue_pair_has_its_time() {
    // After a reset, queue pair 0 is first visited in the next period, which begins when the clock wraps.
    let start = 0_u32.wrapping_sub(PERIOD);
    let found = visits(start, 3 * PERIOD, |_| true);
    assert_eq!(found.len() as u32, 3 * QPS - 1);
    for (n, (tick, qp, port)) in found.into_iter().skip(QPS as usize - 1).enumerate() {
        assert_eq!(qp, n as u32 % QPS);
        let due = n as u32 / QPS * PERIOD + (qp << PENDING_VISIT_QP_LOG2);
        assert!((1..3).contains(&tick.wrapping_sub(due)), "{tick} {due}");
        assert_eq!(port, Responder::visit_port(Ticks(tick)));
    }
}

#[test]
fn a_visit_that_waits_delays_others_and_none_is_left_out() {
    let found = visits(PERIOD, PERIOD / 2, |tick| tick > PERIOD + 100);
    let qps: Vec<u32> = found.iter().map(|visit| visit.1).collect();
    assert_eq!(qps, Vec::from_iter(1..QPS));
    assert!(found.iter().all(|visit| visit.0 < PERIOD + 640));
}
