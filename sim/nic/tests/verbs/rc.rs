//! Queue pairs of RC, alone and beside those of MRC.

use std::time::Duration;

use stellar_driver::*;

use crate::verbs::hosts::*;

#[test]
fn many_packets_immediates_and_inline_bytes_arrive_in_order() {
    let (_turn, cards) = cards();
    let [a, b] = open(&cards.devices, false);
    let (qa, qb) = (a.qp_over(Transport::Rc), b.qp_over(Transport::Rc));
    // The PSNs wrap on the way.
    connect([&qa, &qb], 0xff_ffe0);
    let source = a.region(300_000, false);
    let target = b.region(400_000, true);
    let to = target.remote();
    let sent = pattern(300_000, 0x96);
    source.memory().unwrap().write(0, &sent).unwrap();

    // The message has 64 packets, more than there are between two requested acknowledgements.
    let slice = source.slice(7, 260_003).unwrap();
    qa.post_send(&WorkRequest::write(1, slice, to.address + 33, to.rkey))
        .unwrap();
    let inline = Source::Inline(b"sixteen bytes...");
    let inline = WorkRequest::write(2, inline, to.address + 300_000, to.rkey);
    qa.post_send(&inline.with_immediate(0xfeed).unsignaled())
        .unwrap();
    let slice = source.slice(270_000, 9_000).unwrap();
    let last = WorkRequest::write(3, slice, to.address + 310_001, to.rkey);
    qa.post_send(&last.with_immediate(0xbeef)).unwrap();
    qa.post_send(&WorkRequest::nop(4).fenced().pushed())
        .unwrap();

    let done = a.completions(3);
    assert_eq!(ends(&done), [1, 3, 4].map(|id| (id, WcStatus::Success)));
    assert_eq!(qa.outstanding(), 0);
    let received = CqeOpcode::RecvRdmaWithImm;
    let qp = qb.number();
    assert_eq!(
        arrived(&b.completions(2)),
        [
            (received, Some(0xfeed), 16, qp),
            (received, Some(0xbeef), 9_000, qp)
        ]
    );
    let mut expected = vec![0; 400_000];
    expected[33..260_036].copy_from_slice(&sent[7..260_010]);
    expected[300_000..300_016].copy_from_slice(b"sixteen bytes...");
    expected[310_001..319_001].copy_from_slice(&sent[270_000..279_000]);
    assert!(bytes(&target) == expected, "other bytes arrived");
    assert_eq!(
        (cards.pair.bad_accesses(0), cards.pair.bad_accesses(1)),
        (0, 0)
    );
}

/// Every queue pair that the card has free, in RESET.
fn all_that_are_left(host: &Host) -> Vec<QueuePair> {
    let config = QueuePairConfig {
        send_entries: 2,
        ..QueuePairConfig::default()
    };
    let mut taken = Vec::new();
    loop {
        match host.pd.create_qp(&host.cq, config) {
            Ok(qp) => taken.push(qp),
            Err(Error::Exhausted { .. }) => return taken,
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn a_wrong_key_is_an_access_error_and_a_place_can_change_its_transport() {
    let (_turn, cards) = cards();
    let [a, b] = open(&cards.devices, false);
    let (qa, qb) = (a.qp_over(Transport::Rc), b.qp_over(Transport::Rc));
    connect([&qa, &qb], 100);
    let target = b.region(4096, true);
    let to = target.remote();
    let good = WorkRequest::write(1, Source::Inline(b"good"), to.address, to.rkey);
    qa.post_send(&good).unwrap();
    qa.post_send(&WorkRequest {
        wr_id: 2,
        rkey: to.rkey ^ 1,
        ..good
    })
    .unwrap();
    qa.post_send(&WorkRequest { wr_id: 3, ..good }).unwrap();
    assert_eq!(
        ends(&a.completions(3)),
        [
            (1, WcStatus::Success),
            (2, WcStatus::RemAccessErr),
            (3, WcStatus::WrFlushErr)
        ]
    );
    assert_eq!(qa.state(), QpState::Error);
    let fatal = AsyncEvent::QueuePairFatal {
        qp: qa.number(),
        status: Some(WcStatus::RemAccessErr),
    };
    assert_eq!(a.context.wait_event(TIMEOUT).unwrap(), Some(fatal));

    // New queue pairs, first of MRC and then of RC, get the same numbers on both cards, because all other numbers are in use.
    let places = (qa.number(), qb.number());
    let others = [&a, &b].map(all_that_are_left);
    drop((qa, qb));
    for (round, transport) in (0..).zip([Transport::Mrc, Transport::Rc]) {
        let (qa, qb) = (a.qp_over(transport), b.qp_over(transport));
        assert_eq!((qa.number(), qb.number()), places);
        connect([&qa, &qb], 1000);
        let mark = [round + 1; 16];
        let write = WorkRequest::write(4, Source::Inline(&mark), to.address, to.rkey);
        qa.post_send(&write.with_immediate(9)).unwrap();
        assert_eq!(ends(&a.completions(1)), [(4, WcStatus::Success)]);
        assert_eq!(b.completions(1)[0].immediate, Some(9));
        assert_eq!(bytes(&target)[..16], mark);
    }
    drop(others);
    assert_eq!(
        (cards.pair.bad_accesses(0), cards.pair.bad_accesses(1)),
        (0, 0)
    );
}

#[test]
fn a_peer_that_does_not_answer_costs_the_retries_and_then_the_queue_pair() {
    let (_turn, cards) = cards();
    let [a, b] = open(&cards.devices, false);
    let (qa, qb) = (a.qp_over(Transport::Rc), b.qp_over(Transport::Rc));
    ready(&qa, qb.connection(5));
    let timeout = Duration::from_micros(4);
    qa.modify(Modify::RcRts(RcRtsAttributes {
        timeout,
        retry_cnt: 2,
        ..RcRtsAttributes::new(5)
    }))
    .unwrap();
    let function = a.context.device().probe().function().clone();
    let posted = function.now();
    let write = WorkRequest::write(1, Source::Inline(b"hello?"), 0x1000, 0);
    qa.post_send(&write).unwrap();
    assert_eq!(ends(&a.completions(1)), [(1, WcStatus::RetryExcErr)]);
    let took = function.now() - posted;
    assert!(took >= 3 * timeout && took < 5 * timeout, "{took:?}");
}

#[test]
fn both_transports_work_side_by_side_in_both_directions() {
    const BYTES: usize = 60_000;
    let (_turn, cards) = cards();
    let hosts = open(&cards.devices, false);
    let [a, b] = &hosts;
    let pairs = [Transport::Rc, Transport::Mrc, Transport::Rc, Transport::Mrc]
        .map(|transport| [a.qp_over(transport), b.qp_over(transport)]);
    for ([qa, qb], psn) in pairs.iter().zip([3, 30, 300, 3000]) {
        connect([qa, qb], psn);
    }
    let sources = [0, 1].map(|host: usize| {
        let source = hosts[host].region(BYTES, false);
        let sent = pattern(BYTES, 0x11 << host);
        source.memory().unwrap().write(0, &sent).unwrap();
        (source, sent)
    });
    let targets = [0, 1].map(|host: usize| hosts[host].region(pairs.len() * BYTES, true));
    for (index, pair) in pairs.iter().enumerate() {
        for host in 0..2 {
            let to = targets[1 - host].remote();
            let at = to.address + (index * BYTES) as u64;
            let slice = sources[host].0.slice(0, BYTES as u32).unwrap();
            let write = WorkRequest::write(index as u64, slice, at, to.rkey);
            pair[host]
                .post_send(&write.with_immediate(index as u32))
                .unwrap();
        }
    }
    for (host, end) in hosts.iter().enumerate() {
        // Each queue pair's own write, and that of its peer.
        let done = end.completions(2 * pairs.len());
        assert!(done.iter().all(|wc| wc.status == WcStatus::Success));
        for (index, pair) in pairs.iter().enumerate() {
            let qp = pair[host].number();
            let of = |immediate| {
                let is_it = |wc: &&Completion| wc.qp == qp && wc.immediate.is_some() == immediate;
                done.iter().filter(is_it).copied().collect::<Vec<_>>()
            };
            let (sent, received) = (of(false), of(true));
            assert_eq!(ends(&sent), [(index as u64, WcStatus::Success)]);
            assert_eq!(received.len(), 1, "queue pair {qp}");
            assert_eq!(received[0].immediate, Some(index as u32));
        }
        let arrived = bytes(&targets[host]);
        for place in arrived.chunks(BYTES) {
            assert!(place == sources[1 - host].1, "other bytes arrived");
        }
    }
    assert_eq!(
        (cards.pair.bad_accesses(0), cards.pair.bad_accesses(1)),
        (0, 0)
    );
}
