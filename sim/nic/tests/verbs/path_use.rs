//! Paths that are denied and allowed while a queue pair sends.

use sim_nic::Link;
use stellar_driver::*;

use crate::verbs::hosts::*;

const BYTES: u32 = 32 << 10;
/// Cycles in which a message of that size arrives several times over: 12 us, far below the timeout.
const LONG: u64 = 3_000;

/// Two paths, one by each port, and no early loss detection, so nothing is sent again on the other path before the timeout.
fn connect_by_two_paths(qps: [&QueuePair; 2]) {
    let told = qps.map(|qp| qp.connection(5));
    for (qp, peer) in qps.into_iter().zip([told[1], told[0]]) {
        qp.modify(Modify::Init(InitAttributes::default())).unwrap();
        let mut ready = RtrAttributes::new(peer);
        ready.path.paths = 2;
        qp.modify(Modify::Rtr(ready)).unwrap();
    }
    for qp in qps {
        let send = RtsAttributes {
            early_loss: 0,
            ..RtsAttributes::new(5)
        };
        qp.modify(Modify::Rts(send)).unwrap();
    }
}

/// Port 1 is paused, so a packet that took one of its paths would not arrive.
#[test]
fn a_path_that_is_denied_carries_nothing_until_it_is_allowed() {
    let (_turn, cards) = cards();
    let pair = &cards.pair;
    if pair.shape().ports() == 1 {
        return;
    }
    let [a, b] = open(&cards.devices, false);
    let (qa, qb) = (a.qp(), b.qp());
    connect_by_two_paths([&qa, &qb]);
    let (source, target) = (
        a.region(BYTES as usize, false),
        b.region(BYTES as usize, true),
    );
    let sent = pattern(BYTES as usize, 0x77);
    source.memory().unwrap().write(0, &sent).unwrap();
    let to = target.remote();
    let post = |wr_id| {
        let slice = source.slice(0, BYTES).unwrap();
        qa.post_send(&WorkRequest::write(wr_id, slice, to.address, to.rkey))
            .unwrap();
    };
    post(0);
    assert_eq!(ends(&a.completions(1)), [(0, WcStatus::Success)]);

    // Path 1 and the backups of its port, one of which would serve in its place.
    let of_port1 = || std::iter::once(1).chain((129..136).step_by(2));
    of_port1().for_each(|path| qa.deny_path(path).unwrap());
    pair.set_link(0, 1, Link::Paused);
    for wr_id in 1..4 {
        post(wr_id);
        pair.run(LONG);
        assert_eq!(ends(&a.cq.poll(4).unwrap()), [(wr_id, WcStatus::Success)]);
    }
    assert!(bytes(&target) == sent, "other bytes arrived");

    of_port1().for_each(|path| qa.allow_path(path).unwrap());
    post(4);
    pair.run(LONG);
    assert_eq!(ends(&a.cq.poll(4).unwrap()), [], "packets took port 1");
    pair.set_link(0, 1, Link::Up);
    assert_eq!(ends(&a.completions(1)), [(4, WcStatus::Success)]);
    let again = qa.counters().unwrap().get(QpCounter::Retransmissions);
    assert_eq!(again, 0);
}
