//! RC: a peer without a receive work request answers a WRITE with immediate by an RNR NAK.

use stellar_transport::endpoint::TransportConfig;
use stellar_transport::requester::{RcConfig, RequesterCounters};
use stellar_wire::host::{EventKind, WcStatus, Wqe, WqeOpcode};
use stellar_wire::Syndrome;

use crate::endpoint::network::{Fate, Refusal, Seen};
use crate::endpoint::pair::{perfect, qp, write, Pair};

const QP: u32 = 5;
/// First PSN.
const FIRST: u32 = 0x1000;
/// Code of 0.32 ms, which is longer than the timeout, and that time in ticks.
const TIMER: u8 = 10;
const WAIT: u64 = 40_000;

/// A WRITE with immediate of `packets` packets.
fn immediate(packets: u32, wr_id: u64) -> Wqe {
    Wqe {
        opcode: WqeOpcode::WriteImm,
        ..write(0, 0, packets * 1024, wr_id)
    }
}

/// A pair whose sender retries so often after timeouts, and after RNR NAKs.
fn pair(retry_count: u8, rnr_retry: u8, rule: impl FnMut(&Seen<'_>) -> Fate + 'static) -> Pair {
    let mut pair = Pair::new(perfect);
    pair.connect(|card| {
        let config = RcConfig {
            retry_count,
            rnr_retry,
            ..RcConfig::default()
        };
        qp(card, QP, 10, TransportConfig::Rc(config))
    });
    pair.network.set_rule(rule);
    pair.network.log = Some(Vec::new());
    pair
}

/// Refuses each transmission of the packet `psn` until it has refused `times`.
fn not_ready(psn: u32, times: u32) -> impl FnMut(&Seen<'_>) -> Fate {
    let mut refused = 0;
    move |seen| {
        let expected = refused == times || seen.psn() < psn;
        if !seen.is_data() || expected {
            return Fate::default();
        }
        // The receiver is silent about what is behind the packet.
        let answers = seen.psn() == psn;
        refused += u32::from(answers);
        Fate {
            lost: true,
            refused: answers.then_some(Refusal::Nak(Syndrome::RnrNak { timer: TIMER })),
            ..Fate::default()
        }
    }
}

fn counters(pair: &Pair) -> RequesterCounters {
    *pair.cards[0].qp_counters(QP).expect("queue pair")
}

/// Times at which the packet `psn` was sent.
fn sent_at(pair: &Pair, psn: u32) -> Vec<u64> {
    let log = pair.network.log.as_ref().expect("log");
    let sent = log
        .iter()
        .filter(|(_, from, _, frame)| *from == 0 && frame.bth.psn == psn);
    sent.map(|&(at, ..)| at).collect()
}

#[test]
fn the_sender_waits_for_the_time_of_the_nak_and_goes_back_to_its_psn() {
    // No timeout is allowed, and none is spent although the wait is longer than one.
    let mut pair = pair(0, 2, not_ready(FIRST + 3, 2));
    pair.post(QP, immediate(4, 1));
    pair.post(QP, write(9000, 9000, 3000, 2));
    pair.run_for(WAIT / 2);
    let window = sent_at(&pair, FIRST);
    assert_eq!(
        window.len(),
        1,
        "what came before the packet is acknowledged"
    );
    pair.finish(QP, [1, 2]);
    let times = sent_at(&pair, FIRST + 3);
    let waits: Vec<_> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(waits.len(), 2);
    for wait in waits {
        // A round trip and the time of the NAK.
        assert!((WAIT + 500..WAIT + 700).contains(&wait), "{wait} ticks");
    }
    let counters = counters(&pair);
    // What was sent behind the second refusal arrives, and a sequence NAK answers it. That spends nothing, as it will be sent again.
    assert_eq!((counters.naks, counters.timeouts), (3, 0));
    assert_eq!(sent_at(&pair, FIRST + 2).len(), 1);
    // The packets behind it left with the first transmission, and were dropped.
    assert!(sent_at(&pair, FIRST + 4).len() > 1);
}

#[test]
fn rnr_retries_are_a_budget_of_their_own() {
    let mut pair = pair(7, 2, not_ready(FIRST + 3, u32::MAX));
    pair.cards[0].post(QP, immediate(4, 1)).expect("room");
    pair.cards[0].post(QP, write(0, 0, 10, 2)).expect("room");
    pair.run();
    let ends = pair.completions(0, QP);
    let ends: Vec<_> = ends.iter().map(|end| (end.wr_id, end.status)).collect();
    assert_eq!(
        ends,
        [(1, WcStatus::RnrRetryExcErr), (2, WcStatus::WrFlushErr)]
    );
    assert_eq!(sent_at(&pair, FIRST + 3).len(), 3, "two retries");
    assert_eq!(counters(&pair).timeouts, 0);
    let event = pair.cards[0].poll_event().map(|event| event.kind);
    assert_eq!(event, Some(EventKind::QpError));
}

#[test]
fn seven_rnr_retries_are_no_limit_and_progress_restores_the_others() {
    let mut patient = pair(0, 7, not_ready(FIRST, 20));
    patient.post(QP, immediate(1, 1));
    patient.finish(QP, [1]);
    assert_eq!(counters(&patient).naks, 20);

    // Each of ten messages is refused once.
    let mut seen_once = std::collections::BTreeSet::new();
    let rule = move |seen: &Seen<'_>| Fate {
        refused: (seen.is_data() && seen_once.insert(seen.psn()))
            .then_some(Refusal::Nak(Syndrome::RnrNak { timer: 1 })),
        ..Fate::default()
    };
    let mut pair = pair(0, 1, rule);
    for i in 0..10 {
        pair.post(QP, immediate(1, i));
        pair.run();
    }
    pair.finish(QP, 0..10);
    assert_eq!(counters(&pair).naks, 10);
}
