//! Shares of contexts in the ports of a card.

use std::num::NonZeroU8;

use sim_nic::{chosen_shape, host_ports, CardPair};
use sim_world::group::jain;
use stellar_driver::*;

use crate::verbs::hosts::*;

/// Bytes of a message.
const MESSAGE: u32 = 32 << 10;
/// Messages that a queue pair has posted at a time.
const POSTED: usize = 7;
/// Cycles between two polls.
const STEP: u32 = 32;

/// A context on each host, whose queue pairs always have something to send.
struct Sender {
    hosts: [Host; 2],
    qps: Vec<[QueuePair; 2]>,
    source: MemoryRegion,
    target: MemoryRegion,
    /// Bytes that have been acknowledged.
    bytes: u64,
}

impl Sender {
    fn new(devices: &[Device; 2], qps: usize) -> Self {
        let hosts = open(devices, false);
        let qps = (0..qps).map(|_| {
            let pair = [hosts[0].qp(), hosts[1].qp()];
            connect([&pair[0], &pair[1]], 77);
            pair
        });
        Self {
            qps: qps.collect(),
            source: hosts[0].region(MESSAGE as usize, false),
            target: hosts[1].region(MESSAGE as usize, true),
            hosts,
            bytes: 0,
        }
    }

    fn post(&self, qp: usize) {
        let to = self.target.remote();
        let slice = self.source.slice(0, MESSAGE).unwrap();
        let request = WorkRequest::write(qp as u64, slice, to.address, to.rkey);
        self.qps[qp][0].post_send(&request).unwrap();
    }

    /// Posts a message for each that has completed.
    fn refill(&mut self) {
        for completion in self.hosts[0].cq.poll(64).unwrap() {
            assert_eq!(completion.status, WcStatus::Success);
            self.bytes += u64::from(MESSAGE);
            self.post(completion.wr_id as usize);
        }
    }
}

/// Rate of all ports of the card in Gb/s.
fn wire_gbps() -> f64 {
    let ports = host_ports(chosen_shape());
    ports.count as f64 * f64::from(ports.rate_gbps)
}

/// Has all senders send for `warm` cycles and for `cycles` more; returns their bytes in the latter, and the seconds that these took. The cycles are those of a card with
/// 400 Gb/s; a slower one takes more, so that it sends as much: whole messages are counted.
fn send(pair: &CardPair, senders: &mut [Sender], warm: u64, cycles: u64) -> (Vec<f64>, f64) {
    for sender in &*senders {
        (0..sender.qps.len() * POSTED).for_each(|n| sender.post(n % sender.qps.len()));
    }
    let mut run = |cycles: u64| {
        let began = pair.clocks();
        while pair.clocks() - began < cycles {
            pair.run(STEP.into());
            senders.iter_mut().for_each(Sender::refill);
        }
        let bytes: Vec<f64> = senders.iter().map(|sender| sender.bytes as f64).collect();
        (bytes, pair.clocks() - began)
    };
    let slower = (400.0 / wire_gbps()) as u64;
    let (before, _) = run(slower * warm);
    let (after, clocks) = run(slower * cycles);
    // The rest completes, so that the cards are quiet for the next test.
    for sender in senders {
        sender.hosts[0].completions(sender.qps.len() * POSTED);
    }
    let bytes = before
        .iter()
        .zip(after)
        .map(|(before, after)| after - before);
    (bytes.collect(), clocks as f64 * 4e-9)
}

#[test]
fn contexts_have_equal_shares_whatever_their_number_of_queue_pairs() {
    let (_turn, cards) = cards();
    let mut senders: Vec<Sender> = [12, 4, 2, 2]
        .map(|qps| Sender::new(&cards.devices, qps))
        .into();
    let (bytes, seconds) = send(&cards.pair, &mut senders, 8_000, 30_000);
    let total: f64 = bytes.iter().sum();
    let fairness = jain(bytes.iter().copied()).expect("bytes arrived");
    println!(
        "bytes of 12, 4, 2 and 2 queue pairs: {bytes:?}, Jain's index {:.4}, {:.1} Gb/s",
        fairness,
        total * 8e-9 / seconds
    );
    assert!(fairness >= 0.99, "{bytes:?}");
}

#[test]
fn shares_are_those_of_the_weights_and_a_limit_is_kept() {
    let (_turn, cards) = cards();
    let mut senders: Vec<Sender> = (0..3).map(|_| Sender::new(&cards.devices, 2)).collect();
    let device = &cards.devices[0];
    for (sender, weight) in senders.iter().zip([1, 2, 4]) {
        let share = TenantShare::of_weight(NonZeroU8::new(weight).unwrap());
        device
            .set_tenant_share(&sender.hosts[0].context, share)
            .unwrap();
    }
    let (bytes, _) = send(&cards.pair, &mut senders, 8_000, 40_000);
    let total: f64 = bytes.iter().sum();
    println!(
        "shares of the weights 1, 2, 4: {:?}",
        bytes.iter().map(|bytes| bytes / total).collect::<Vec<_>>()
    );
    for (bytes, weight) in bytes.iter().zip([1.0, 2.0, 4.0]) {
        assert!(
            (bytes / total * 7.0 / weight - 1.0).abs() < 0.06,
            "{bytes} of {total}"
        );
    }

    // The one with the largest weight gets a limit of 15 % of the ports' rate. The others share the rest by their weights.
    let wire = wire_gbps() * 1e9;
    let most = 0.15 * wire;
    let limit = RateLimit {
        bits_per_second: most as u64,
        bucket: 32 << 10,
    };
    let share = TenantShare {
        limit: Some(limit),
        ..TenantShare::default()
    };
    device
        .set_tenant_share(&senders[2].hosts[0].context, share)
        .unwrap();
    let (bytes, seconds) = send(&cards.pair, &mut senders, 8_000, 40_000);
    // A packet of 4 KiB counts 128 bytes more.
    let rates: Vec<f64> = bytes
        .iter()
        .map(|bytes| bytes * 8.0 * 4224.0 / 4096.0 / seconds)
        .collect();
    println!("rates of the weights 1 and 2 and of the limit of {most:.0}: {rates:.0?}");
    assert!((rates[2] / most - 1.0).abs() < 0.06, "{rates:.0?}");
    assert!((rates[1] / rates[0] - 2.0).abs() < 0.12, "{rates:.0?}");
    let all: f64 = rates.iter().sum();
    assert!(all > 0.85 * wire, "the others take the rest: {rates:.0?}");
}
