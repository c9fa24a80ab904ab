//! Tests of send queue entries that are pushed with their doorbell.

use std::time::Duration;

use stellar_driver::*;

use crate::verbs::hosts::*;

/// A read of a few bytes over the simulated PCIe takes at least this long.
const PCIE_READ: Duration = Duration::from_nanos(600);

/// Measures the time from the post of 8 bytes until the last of them is in the peer's memory.
fn latency(
    hosts: &[Host; 2],
    qp: &QueuePair,
    target: &MemoryRegion,
    mark: u8,
    push: bool,
) -> Duration {
    let device = hosts[0].context.device();
    let function = device.probe().function();
    let to = target.remote();
    let data = [mark; 8];
    let mut request = WorkRequest::write(mark.into(), Source::Inline(&data), to.address, to.rkey);
    request.push = push;
    let posted = function.now();
    qp.post_send(&request).unwrap();
    while bytes(target)[..8] != data {
        assert!(function.now() < posted + TIMEOUT, "nothing arrived");
        function.relax();
    }
    let arrived = function.now();
    assert_eq!(hosts[0].completions(1)[0].wr_id, u64::from(mark));
    arrived - posted
}

#[test]
fn a_pushed_entry_saves_a_read() {
    let (_turn, cards) = cards();
    let hosts = open(&cards.devices, false);
    let (qa, qb) = (hosts[0].qp(), hosts[1].qp());
    connect([&qa, &qb], 77);
    let target = hosts[1].region(4096, true);
    // The first packet of a queue pair meets cold tables nowhere: all take as long.
    for round in 0..4 {
        let fetched = latency(&hosts, &qa, &target, 2 * round + 1, false);
        let pushed = latency(&hosts, &qa, &target, 2 * round + 2, true);
        assert!(
            pushed + PCIE_READ <= fetched,
            "pushed {pushed:?}, read by the card {fetched:?}"
        );
    }
    assert_eq!(
        (cards.pair.bad_accesses(0), cards.pair.bad_accesses(1)),
        (0, 0)
    );
}

#[test]
fn pushed_or_not_work_requests_keep_their_order() {
    let (_turn, cards) = cards();
    let hosts = open(&cards.devices, false);
    let (qa, qb) = (hosts[0].qp(), hosts[1].qp());
    connect([&qa, &qb], 0xff_fffe);
    let target = hosts[1].region(4096, true);
    let to = target.remote();
    let pushes = [true, true, false, true, false, false, true, true];
    for (wr_id, push) in (0..).zip(pushes) {
        let mark = [wr_id as u8 + 1; 16];
        let mut request = WorkRequest::write(
            wr_id,
            Source::Inline(&mark),
            to.address + 16 * wr_id,
            to.rkey,
        );
        request.push = push;
        qa.post_send(&request.with_immediate(wr_id as u32)).unwrap();
    }
    let sent: Vec<_> = hosts[0]
        .completions(8)
        .iter()
        .map(|wc| (wc.wr_id, wc.status))
        .collect();
    assert_eq!(
        sent,
        [0, 1, 2, 3, 4, 5, 6, 7].map(|wr_id| (wr_id, WcStatus::Success))
    );
    let received: Vec<_> = hosts[1]
        .completions(8)
        .iter()
        .map(|wc| wc.immediate)
        .collect();
    assert_eq!(received, [0, 1, 2, 3, 4, 5, 6, 7].map(Some));
    let expected: Vec<u8> = (0..128).map(|at| at / 16 + 1).collect();
    assert!(bytes(&target)[..128] == expected, "other bytes arrived");
}
