//! RC: go-back-N, acknowledgements, refusals.

use stellar_transport::endpoint::TransportConfig;
use stellar_transport::requester::RcConfig;
use stellar_transport::rx::{DropReason, Psn};
use stellar_wire::host::{EventKind, WcStatus, Wqe};
use stellar_wire::{Aeth, NakCode, Opcode, Syndrome};

use crate::endpoint::network::Fate;
use crate::endpoint::pair::{perfect, qp, write, Pair, TARGET_KEY};

const QP: u32 = 5;

fn counters(pair: &Pair) -> stellar_transport::requester::RequesterCounters {
    *pair.cards[0].qp_counters(QP).expect("queue pair")
}

#[test]
fn a_transfer_without_loss_uses_one_path_and_few_acknowledgements() {
    let mut pair = Pair::rc(perfect);
    pair.network.log = Some(Vec::new());
    pair.post(QP, write(0, 1, 100 * 1024, 1));
    pair.post(QP, write(0, 200_000, 1, 2));
    pair.finish(QP, [1, 2]);
    assert_eq!(
        (counters(&pair).packets, counters(&pair).retransmissions),
        (101, 0)
    );
    let log = pair.network.log.take().expect("log");
    let data = log.iter().filter(|(.., f)| f.bth.opcode.is_write());
    assert!(data
        .clone()
        .all(|(_, _, port, f)| *port == 0 && f.udp.sport == 0xc000));
    let acks = log
        .iter()
        .filter(|(.., f)| f.bth.opcode == Opcode::RcAck)
        .count();
    assert_eq!(acks, 8, "every 16 packets, at the end of each message");
    // The connection does not migrate to another path, so requests and answers have migration state "migrated".
    assert!(log.iter().all(|(.., f)| f.bth.mig_req));
}

#[test]
fn a_lost_packet_is_answered_by_a_nak_and_everything_after_it_sent_again() {
    let mut lost = false;
    let mut pair = Pair::rc(move |seen| {
        let target = seen.is_data() && seen.psn() == 0x1005 && !lost;
        lost |= target;
        Fate::lost_if(target)
    });
    pair.post(QP, write(0, 0, 60 * 1024, 1));
    pair.finish(QP, [1]);
    let counters = counters(&pair);
    assert_eq!((counters.naks, counters.timeouts), (1, 0));
    assert!(
        counters.retransmissions > 50,
        "go-back-N: {}",
        counters.retransmissions
    );
    assert_eq!(
        pair.cards[1].memory().bytes_written,
        60 * 1024,
        "duplicates are not placed"
    );
}

#[test]
fn loss_everywhere_and_psn_wrap() {
    let mut pair = Pair::new(perfect);
    pair.connect(|card| {
        let mut qp = qp(card, QP, 10, TransportConfig::Rc(RcConfig::default()));
        qp.sq_psn = Psn::new((1 << 24) - 30);
        qp.rq_psn = qp.sq_psn;
        qp
    });
    let mut n = 0u32;
    pair.network.set_rule(move |_| {
        n += 1;
        Fate::lost_if(n.wrapping_mul(2_654_435_761) >> 16 & 31 == 0)
    });
    for i in 0..20 {
        pair.post(QP, write(i * 10_000, i * 10_001, 9_999, i));
    }
    pair.finish(QP, 0..20);
    assert!(counters(&pair).retransmissions > 0);
}

#[test]
fn a_lost_acknowledgement_costs_a_timeout_and_no_second_placement() {
    let mut lost = false;
    let mut pair = Pair::rc(move |seen| {
        let target = seen.is(Opcode::RcAck) && !lost;
        lost |= target;
        Fate::lost_if(target)
    });
    pair.post(QP, write(0, 0, 500, 1));
    pair.finish(QP, [1]);
    assert_eq!(
        (counters(&pair).timeouts, counters(&pair).retransmissions),
        (1, 1)
    );
    assert_eq!(pair.cards[1].rx_counters().reason(DropReason::Duplicate), 1);
}

#[test]
fn silence_spends_the_retries() {
    let mut pair = Pair::rc(|seen| Fate::lost_if(seen.is_data()));
    for i in 0..3 {
        pair.cards[0].post(QP, write(0, 0, 10, i)).expect("room");
    }
    pair.run();
    let statuses: Vec<_> = pair
        .completions(0, QP)
        .iter()
        .map(|c| (c.wr_id, c.status))
        .collect();
    use WcStatus::{RetryExcErr, WrFlushErr};
    assert_eq!(
        statuses,
        [(0, RetryExcErr), (1, WrFlushErr), (2, WrFlushErr)]
    );
    assert_eq!(
        counters(&pair).timeouts,
        8,
        "seven retries and the last straw"
    );
    assert_eq!(
        pair.cards[0].poll_event().map(|e| e.kind),
        Some(EventKind::QpError)
    );
}

#[test]
fn progress_restores_the_retries() {
    let mut pair = Pair::new(perfect);
    pair.connect(|card| {
        let config = RcConfig {
            window: 1,
            retry_count: 1,
            ..RcConfig::default()
        };
        qp(card, QP, 10, TransportConfig::Rc(config))
    });
    let mut seen_once = std::collections::BTreeSet::new();
    pair.network
        .set_rule(move |seen| Fate::lost_if(seen.is_data() && seen_once.insert(seen.psn())));
    pair.post(QP, write(0, 0, 10 * 1024, 1));
    pair.finish(QP, [1]);
    assert_eq!(counters(&pair).timeouts, 10);
}

/// Sends a good message, then `bad`, then a third; returns the AETH of the refusal.
fn refused(bad: Wqe, status: WcStatus) -> Aeth {
    let mut pair = Pair::rc(perfect);
    pair.network.log = Some(Vec::new());
    pair.post(QP, write(0, 0, 5000, 1));
    pair.cards[0].post(QP, bad).expect("room");
    pair.cards[0].post(QP, write(0, 0, 5000, 3)).expect("room");
    pair.run();
    pair.check_memory();
    let statuses: Vec<_> = pair
        .completions(0, QP)
        .iter()
        .map(|c| (c.wr_id, c.status))
        .collect();
    assert_eq!(
        statuses,
        [
            (1, WcStatus::Success),
            (2, status),
            (3, WcStatus::WrFlushErr)
        ]
    );
    for card in &mut pair.cards {
        assert_eq!(card.poll_event().map(|e| e.kind), Some(EventKind::QpError));
    }
    let log = pair.network.log.take().expect("log");
    let last = log.iter().rev().find_map(|(.., frame)| frame.ext.aeth);
    last.expect("an acknowledgement")
}

#[test]
fn refused_access_is_a_nak_with_the_number_of_messages_completed() {
    let bad_key = Wqe {
        rkey: TARGET_KEY ^ 1,
        ..write(0, 0, 100, 2)
    };
    let aeth = refused(bad_key, WcStatus::RemAccessErr);
    let nak = Syndrome::Nak(NakCode::RemoteAccessError);
    assert_eq!(
        (aeth.syndrome, aeth.msn),
        (nak, 1),
        "the refused message is not counted"
    );
    // Refused at its first packet of several: nothing was counted for it anyway.
    let out_of_bounds = write(0, crate::endpoint::pair::REGION - 10, 3000, 2);
    assert_eq!(refused(out_of_bounds, WcStatus::RemAccessErr).msn, 1);
}

#[test]
fn a_malformed_request_is_a_nak_invalid_request() {
    // The peer's path MTU is smaller than ours: its first full packet is too long for it.
    for (own, peers) in [(11, 10), (13, 12)] {
        let mut pair = Pair::new(perfect);
        pair.connect(|card| {
            let mtu_log2 = if card == 0 { own } else { peers };
            qp(card, QP, mtu_log2, TransportConfig::Rc(RcConfig::default()))
        });
        let write = write(0, 0, (2 << own) + 904, 1);
        pair.cards[0].post(QP, write).expect("room");
        pair.run();
        pair.check_memory();
        let statuses: Vec<_> = pair.completions(0, QP).iter().map(|c| c.status).collect();
        assert_eq!(statuses, [WcStatus::RemInvReqErr], "2^{own} to 2^{peers}");
    }
}

#[test]
fn messages_of_no_byte_one_byte_and_unaligned_ends() {
    let mut pair = Pair::rc(perfect);
    let lengths = [0u32, 1, 3, 1024, 1025, 0, 4097];
    let mut at = 2;
    for (i, &length) in (0..).zip(&lengths) {
        pair.post(QP, write(at, at + 1, length, i));
        at += u64::from(length);
    }
    pair.finish(QP, 0..lengths.len() as u64);
}
