//! MRC: what spends the retry budget of a queue pair, and what restores it.

use stellar_transport::endpoint::TransportConfig;
use stellar_transport::requester::{Backoff, RequesterCounters};
use stellar_transport::spray::Policy;
use stellar_wire::host::WcStatus;
use stellar_wire::mrc::NackReason;

use crate::endpoint::network::{Fate, Refusal, Seen};
use crate::endpoint::pair::{mrc, perfect, qp, spray, write, Pair};

const QP: u32 = 5;
/// The timeout in ticks.
const RTO: u64 = 31_250;

/// A pair whose sender has this budget.
fn pair(budget: u8, backoff: Backoff, rule: impl FnMut(&Seen<'_>) -> Fate + 'static) -> Pair {
    let mut pair = Pair::new(perfect);
    pair.connect(|card| {
        let mut config = mrc(10);
        config.retry_budget = budget;
        config.backoff = backoff;
        qp(card, QP, 10, TransportConfig::Mrc(config))
    });
    pair.network.set_rule(rule);
    pair.network.log = Some(Vec::new());
    pair
}

fn counters(pair: &Pair) -> RequesterCounters {
    *pair.cards[0].qp_counters(QP).expect("counters")
}

/// Sends a message of 100 packets, of which none arrives. Returns the time until the queue pair fails.
fn dies_after(budget: u8, backoff: Backoff, refused: Option<NackReason>) -> u64 {
    let mut pair = pair(budget, backoff, move |seen| Fate {
        lost: seen.is_data(),
        refused: refused.filter(|_| seen.is_data()).map(Refusal::Nack),
        ..Fate::default()
    });
    let message = write(0, 0, 100 << 10, 1);
    pair.cards[0].post(QP, message).expect("room");
    let start = pair.now;
    pair.run();
    let statuses: Vec<_> = pair.completions(0, QP).iter().map(|c| c.status).collect();
    assert_eq!(statuses, [WcStatus::RetryExcErr]);
    let log = pair.network.log.as_ref().expect("log");
    let last = log.last().expect("packets").0;
    assert!(counters(&pair).retransmissions > u64::from(budget));
    last - start
}

#[test]
fn a_budget_is_a_time_without_progress_whatever_finds_the_losses() {
    // Of a receiver that says nothing the last packet is sent one timeout before the end.
    let silent = dies_after(3, Backoff::Fixed, None);
    assert!((3 * RTO..7 * RTO / 2).contains(&silent), "{silent} ticks");
    let silent = dies_after(3, Backoff::Exponential, None);
    assert!((7 * RTO..15 * RTO / 2).contains(&silent), "{silent} ticks");
    for reason in [
        NackReason::Trimmed,
        NackReason::TrimmedLastHop,
        NackReason::NoResource,
    ] {
        let refused = dies_after(3, Backoff::Fixed, Some(reason));
        assert!((3 * RTO..7 * RTO / 2).contains(&refused), "{refused} ticks");
    }
}

#[test]
fn packets_that_are_lost_together_spend_one_retry() {
    let mut seen_once = std::collections::BTreeSet::new();
    let rule = move |seen: &Seen<'_>| Fate::lost_if(seen.is_data() && seen_once.insert(seen.psn()));
    let mut pair = pair(1, Backoff::Exponential, rule);
    pair.post(QP, write(0, 0, 40 << 10, 1));
    pair.finish(QP, [1]);
    assert_eq!(counters(&pair).timeouts, 40);
}

#[test]
fn progress_restores_the_budget() {
    // Each of ten messages is lost once, one after the other.
    let mut seen_once = std::collections::BTreeSet::new();
    let rule = move |seen: &Seen<'_>| Fate::lost_if(seen.is_data() && seen_once.insert(seen.psn()));
    let mut pair = pair(1, Backoff::Exponential, rule);
    for i in 0..10 {
        pair.post(QP, write(0, 0, 1000, i));
        pair.run();
    }
    pair.finish(QP, 0..10);
    assert_eq!(counters(&pair).timeouts, 10);
}

#[test]
fn timeouts_double_or_stay_as_they_are() {
    for (backoff, expected) in [
        (Backoff::Fixed, [RTO; 3]),
        (Backoff::Exponential, [RTO, 2 * RTO, 4 * RTO]),
    ] {
        let mut sent = 0;
        let mut pair = pair(3, backoff, move |seen| {
            sent += u32::from(seen.is_data());
            Fate::lost_if(seen.is_data() && sent <= 3)
        });
        pair.post(QP, write(0, 0, 1, 1));
        pair.finish(QP, [1]);
        let log = pair.network.log.take().expect("log");
        let data = log.iter().filter(|(.., f)| f.bth.opcode.is_write());
        let times: Vec<u64> = data.map(|sent| sent.0).collect();
        let waits: Vec<u64> = times.windows(2).map(|w| w[1] - w[0]).collect();
        assert_eq!(waits, expected, "{backoff:?}");
    }
}

/// One packet is lost each time that it is sent. Answers to tail probes show that before its timeout, so no timer expires.
#[test]
fn a_packet_that_never_arrives_fails_the_queue_pair_although_its_losses_are_found_early() {
    for policy in [Policy::Obs, Policy::EvState] {
        let mut pair = Pair::new(perfect);
        pair.connect(|card| {
            let mut config = mrc(10);
            config.spray = spray(policy, 128, 3);
            config.early_loss = 128;
            config.retry_budget = 3;
            config.backoff = Backoff::Fixed;
            qp(card, QP, 10, TransportConfig::Mrc(config))
        });
        for i in 0..20 {
            pair.post(QP, write(0, 0, 4000, i));
            pair.run();
        }
        pair.completions(0, QP);
        let hole = counters(&pair).packets as u32 + 0x1000 + 5;
        pair.network
            .set_rule(move |seen| Fate::lost_if(seen.is_data() && seen.psn() == hole));
        let message = write(0, 0, 20 << 10, 20);
        pair.cards[0].post(QP, message).expect("room");
        let start = pair.now;
        pair.run();
        let statuses: Vec<_> = pair.completions(0, QP).iter().map(|c| c.status).collect();
        assert_eq!(statuses, [WcStatus::RetryExcErr]);
        let counters = counters(&pair);
        assert_eq!(counters.timeouts, 0, "{counters:?}");
        assert!(counters.early_losses > 20, "{counters:?}");
        let took = pair.now - start;
        assert!((3 * RTO..4 * RTO).contains(&took), "{took} ticks");
    }
}
