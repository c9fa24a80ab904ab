//! WRITE with immediate: order of completions, counters without order, limits.

use stellar_transport::endpoint::TransportConfig;
use stellar_transport::requester::{RcConfig, NO_COALESCING};
use stellar_transport::time::Ticks;
use stellar_wire::host::{CqeOpcode, EventKind, WcStatus};
use stellar_wire::mrc::NackReason;
use stellar_wire::Opcode;

use crate::endpoint::network::Fate;
use crate::endpoint::pair::{mrc, perfect, qp, write, write_imm, Pair};

const QP: u32 = 5;

/// (immediate, bytes) of the receive completions of card 1.
fn received(pair: &mut Pair) -> Vec<(u32, u32)> {
    let completions = pair.completions(1, QP);
    assert!(completions
        .iter()
        .all(|c| c.opcode == CqeOpcode::RecvRdmaWithImm));
    completions
        .iter()
        .map(|c| (c.immediate, c.byte_len))
        .collect()
}

#[test]
fn immediates_that_arrive_early_wait_for_what_was_sent_before() {
    let mut pair = Pair::mrc(|seen| Fate {
        delay: if seen.is_data() && seen.psn() == 0x1001 {
            5000
        } else {
            0
        },
        ..Fate::default()
    });
    pair.post(QP, write(0, 0, 3000, 1));
    pair.post(QP, write_imm(3000, 3000, 10, 2, 0xaaaa));
    pair.post(QP, write_imm(4000, 4000, 5000, 3, 0xbbbb));
    pair.post(QP, write_imm(9000, 9000, 0, 4, 0xcccc));
    pair.run_for(4000);
    assert_eq!(received(&mut pair), [], "PSN 0x1001 is still missing");
    assert_eq!(
        pair.cards[1].imm_count(QP),
        Some(3),
        "but all three are whole"
    );
    pair.finish(QP, [1, 2, 3, 4]);
    assert_eq!(
        received(&mut pair),
        [(0xaaaa, 10), (0xbbbb, 5000), (0xcccc, 0)]
    );
    assert_eq!(pair.cards[1].imm_count(QP), Some(3));
}

#[test]
fn a_message_with_a_hole_is_not_counted_until_the_hole_is_filled() {
    let mut pair = Pair::mrc(|seen| Fate {
        delay: if seen.is_data() && seen.psn() == 0x1002 {
            5000
        } else {
            0
        },
        ..Fate::default()
    });
    pair.post(QP, write_imm(0, 0, 5000, 1, 7));
    pair.post(QP, write_imm(5000, 5000, 2, 2, 8));
    pair.run_for(4000);
    assert_eq!(
        pair.cards[1].imm_count(QP),
        Some(1),
        "only the second is whole"
    );
    pair.finish(QP, [1, 2]);
    assert_eq!(pair.cards[1].imm_count(QP), Some(2));
    assert_eq!(received(&mut pair), [(7, 5000), (8, 2)]);
}

#[test]
fn the_counter_raises_one_event_at_its_threshold() {
    let mut pair = Pair::new(perfect);
    pair.connect(|card| {
        let mut qp = qp(card, QP, 10, TransportConfig::Mrc(mrc(10)));
        qp.imm.completions = false;
        qp
    });
    assert!(pair.cards[1].arm_imm_counter(QP, 3));
    assert!(!pair.cards[1].arm_imm_counter(99, 3), "no such queue pair");
    for i in 0..5 {
        pair.post(QP, write_imm(i * 100, i * 100, 100, i, 1));
    }
    pair.finish(QP, 0..5);
    assert_eq!(pair.completions(1, QP), [], "counted, not completed");
    assert_eq!(pair.cards[1].imm_count(QP), Some(5));
    let event = pair.cards[1].poll_event().expect("one event");
    assert_eq!(
        (event.kind, event.source, event.data),
        (EventKind::ImmThreshold, QP, 3)
    );
    assert_eq!(pair.cards[1].poll_event(), None);
    assert!(pair.cards[1].arm_imm_counter(QP, 5), "reached already");
    assert_eq!(pair.cards[1].poll_event().map(|event| event.data), Some(5));
}

#[test]
fn no_more_are_under_way_than_agreed_and_none_is_lost() {
    let mut pair = Pair::new(|_: &crate::endpoint::network::Seen<'_>| Fate::default());
    pair.connect(|card| {
        let mut qp = qp(card, QP, 10, TransportConfig::Mrc(mrc(10)));
        qp.imm.max_wimm = 4;
        qp
    });
    let mut n = 0u64;
    pair.network.set_rule(move |_| {
        n += 1;
        Fate {
            delay: n * 7919 % 1000,
            ..Fate::default()
        }
    });
    for i in 0..40 {
        pair.post(QP, write_imm(i * 100, i * 100, 100, i, i as u32));
    }
    pair.finish(QP, 0..40);
    assert_eq!(
        received(&mut pair),
        Vec::from_iter((0..40).map(|i| (i, 100)))
    );
    assert_eq!(pair.cards[1].counters().wimm_exceeded, 0);
}

/// The oldest packet is late, so as many are in flight as agreed; the next ones wait for it. Others are lost, and all come in another order.
#[test]
fn two_hundred_and_fifty_six_are_in_flight_and_the_next_one_waits() {
    let mut n = 0u64;
    let mut pair = Pair::new(move |seen: &crate::endpoint::network::Seen<'_>| {
        n += 1;
        let lost = seen.is_data() && n.is_multiple_of(61);
        let late = seen.is_data() && seen.psn() == 0x1000;
        Fate {
            delay: if late { 20_000 } else { n * 7919 % 1000 },
            ..Fate::lost_if(lost)
        }
    });
    pair.connect(|card| {
        let mut config = mrc(10);
        config.rto = Ticks(40_000);
        config.early_loss = 0;
        config.coalesce_from = NO_COALESCING;
        let mut qp = qp(card, QP, 10, TransportConfig::Mrc(config));
        qp.imm.max_wimm = 256;
        qp
    });
    for i in 0..600 {
        pair.post(QP, write_imm(i * 20, i * 20, 20, i, i as u32));
    }
    pair.network.log = Some(Vec::new());
    pair.run_for(15_000);
    let sent = pair.network.log.take().expect("log");
    let psns = sent
        .iter()
        .filter(|(.., frame)| frame.bth.opcode.is_write());
    let last = psns.map(|(.., frame)| frame.bth.psn).max();
    assert_eq!(last, Some(0x1000 + 255), "as many as agreed, and no more");
    assert_eq!(received(&mut pair), [], "the oldest one is missing");
    pair.finish(QP, 0..600);
    assert_eq!(
        received(&mut pair),
        Vec::from_iter((0..600).map(|i| (i, 20)))
    );
    assert_eq!(pair.cards[1].imm_count(QP), Some(600));
    assert_eq!(pair.cards[1].counters().wimm_exceeded, 0);
}

#[test]
fn more_than_agreed_fails_the_queue_pair_on_both_sides() {
    for agreed in [[8, 2], [256, 255]] {
        more_than_agreed_fails(agreed);
    }
}

/// The sender takes another number than the receiver for what was agreed.
fn more_than_agreed_fails(agreed: [u16; 2]) {
    let mut pair = Pair::new(|seen: &crate::endpoint::network::Seen<'_>| {
        Fate::lost_if(seen.is_data() && seen.psn() == 0x1000)
    });
    pair.connect(|card| {
        let mut qp = qp(card, QP, 10, TransportConfig::Mrc(mrc(10)));
        qp.imm.max_wimm = agreed[usize::from(card)];
        qp
    });
    pair.network.log = Some(Vec::new());
    let posted = u64::from(agreed[0]);
    for i in 0..posted {
        let wqe = write_imm(i * 10, i * 10, 10, i, 0);
        pair.cards[0].post(QP, wqe).expect("room");
    }
    pair.run();
    assert_eq!(pair.cards[1].counters().wimm_exceeded, 1);
    assert_eq!(
        pair.cards[1].poll_event().map(|e| e.kind),
        Some(EventKind::QpError)
    );
    let statuses: Vec<_> = pair
        .completions(0, QP)
        .iter()
        .map(|c| (c.wr_id, c.status))
        .collect();
    assert_eq!(
        statuses.len() as u64,
        posted,
        "every work request completes"
    );
    let failed: Vec<_> = statuses
        .iter()
        .filter(|s| s.1 == WcStatus::RemOpErr)
        .collect();
    assert_eq!(failed.len(), 1);
    assert!(statuses
        .iter()
        .all(|s| matches!(s.1, WcStatus::RemOpErr | WcStatus::WrFlushErr)));
    let log = pair.network.log.take().expect("log");
    let nacks: Vec<_> = log
        .iter()
        .filter_map(|(.., frame)| frame.ext.neth)
        .collect();
    assert_eq!(nacks.len(), 1);
    assert_eq!(nacks[0].reason, NackReason::UnexpectedEvent);
}

#[test]
fn message_numbers_count_messages_and_immediates() {
    let mut pair = Pair::mrc(perfect);
    pair.network.log = Some(Vec::new());
    pair.post(QP, write(0, 0, 2000, 1));
    pair.post(QP, write_imm(2000, 2000, 2000, 2, 5));
    pair.post(
        QP,
        stellar_wire::host::Wqe {
            wr_id: 3,
            ..Default::default()
        },
    );
    pair.post(QP, write(4000, 4000, 1, 4));
    pair.post(QP, write_imm(4001, 4001, 1, 5, 6));
    pair.finish(QP, [1, 2, 3, 4, 5]);
    let log = pair.network.log.take().expect("log");
    let mut numbers: Vec<_> = log
        .iter()
        .filter_map(|(.., f)| Some((f.bth.psn, f.bth.opcode, f.ext.meth?.msn, f.ext.meth?.rqmsn)))
        .collect();
    numbers.sort_by_key(|n| n.0);
    use Opcode::{MrcWriteFirst, MrcWriteLast, MrcWriteLastImm, MrcWriteOnly, MrcWriteOnlyImm};
    let expected = [
        (0x1000, MrcWriteFirst, 0, 0),
        (0x1001, MrcWriteLast, 0, 0),
        (0x1002, MrcWriteFirst, 1, 0),
        (0x1003, MrcWriteLastImm, 1, 0),
        (0x1004, MrcWriteOnly, 2, 0),
        (0x1005, MrcWriteOnlyImm, 3, 1),
    ];
    assert_eq!(numbers, expected);
    let completions = pair.completions(1, QP);
    assert_eq!(
        completions.iter().map(|c| c.msn).collect::<Vec<_>>(),
        [1, 3]
    );
}

#[test]
fn rc_immediates_complete_as_their_messages_end() {
    let mut pair = Pair::new(perfect);
    pair.connect(|card| qp(card, QP, 10, TransportConfig::Rc(RcConfig::default())));
    pair.post(QP, write_imm(0, 0, 3000, 1, 0x11));
    pair.post(QP, write(3000, 3000, 5000, 2));
    pair.post(QP, write_imm(8000, 8000, 0, 3, 0x22));
    pair.finish(QP, [1, 2, 3]);
    assert_eq!(received(&mut pair), [(0x11, 3000), (0x22, 0)]);
    assert_eq!(pair.cards[1].imm_count(QP), Some(2));
}
