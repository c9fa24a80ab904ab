//! A run that uses every feature gives the frames, times and counts that were recorded when the test was written.

use std::sync::{Arc, Mutex};

use sim_net::{ChannelId, ChannelStats, DropReason, Fabric, Fate, Frame, HostId, TapSide, Time};
use stellar_wire::{Ecn, Srv6Encap, UsidContainer};

use crate::common::{leaf_spine, Sent};

/// Result of the run below. It changes only with the model: if you change that on purpose, say so in the changelog and record the new value.
const RECORDED: u64 = 9_819_914_595_929_551_532;

const FAULTS: &str = "
    [fabric]
    switch_latency_ns = 100
    reroute_ns = 700
    [[overrides]]
    plane = 0
    set = { jitter_ns = 90, loss = 0.01, corruption = 0.02, queue_bytes = 9000, control_queue_bytes = 300, \
        ecn = { min_bytes = 2000, max_bytes = 8000, max_probability = 0.5 }, trim = { dscp = 9, last_hop_dscp = 10 } }
    [[overrides]]
    node = 'p0.spine1'
    set = { rate_gbps = 150 }
    [[overrides]]
    node = 'p0.leaf1'
    set = { control_queue_bytes = 100 }
    [[events]]
    at_us = 2
    node = 'p0.spine2'
    up = false
    [[events]]
    at_us = 5
    node = 'p0.spine2'
    up = true
    [[events]]
    at_us = 4
    link = 'p0.h5-leaf1'
    up = false
    [[events]]
    at_us = 5.5
    link = 'p0.h5-leaf1'
    up = true
";

/// FNV-1a over 64-bit words.
#[derive(Clone)]
struct Hash(u64);

impl Hash {
    fn word(&mut self, word: u64) {
        for byte in word.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn frame(&mut self, time: Time, frame: &Frame) {
        self.word(time);
        self.word(frame.len() as u64);
        for &byte in frame.bytes() {
            self.word(byte.into());
        }
    }
}

/// Frame `n` of the run: data and control packets, IPv4, IPv6 and SRv6, of many sizes and flows.
fn sent(n: u32) -> Sent {
    let (from, to) = (n * 7 % 8, n * 5 % 8 + u32::from(n.is_multiple_of(3)));
    let srv6 = (n % 11 == 3).then(|| Srv6Encap {
        path: UsidContainer::new(0xfcbb_bb00, &[3 + n as u16 % 3, 0x1000 + to as u16 % 8])
            .expect("two uSIDs fit"),
        ..Srv6Encap::default()
    });
    Sent {
        psn: n,
        sport: 0xc000 + (n % 61) as u16,
        flow_label: n % 97,
        payload: (n as usize * 379) % 4096,
        ecn: if n.is_multiple_of(5) {
            Ecn::NotEct
        } else {
            Ecn::Ect0
        },
        v6: n % 4 == 1,
        ack: n % 6 == 5,
        srv6,
        ..Sent::new(HostId(from), HostId(to % 8))
    }
}

#[test]
fn a_run_with_every_feature_is_as_it_was_recorded() {
    let mut fabric = Fabric::new(leaf_spine(3, 4, FAULTS), 42);
    let hash = Arc::new(Mutex::new(Hash(0xcbf2_9ce4_8422_2325)));
    for channel in fabric.topology().channels().collect::<Vec<_>>() {
        for side in [TapSide::Transmit, TapSide::Receive] {
            let hash = Arc::clone(&hash);
            let tap = move |channel: ChannelId, time: Time, frame: &Frame| {
                let mut hash = hash.lock().unwrap();
                hash.word(channel.0.into());
                hash.frame(time, frame);
            };
            fabric.set_tap(channel, side, Box::new(tap)).unwrap();
        }
    }
    let filtered = fabric.topology().link("p0.leaf0-spine0").unwrap().forward();
    let filter = |_: &Frame, n: u64| match n % 9 {
        2 => Fate::Drop,
        4 => Fate::Duplicate,
        6 => Fate::Delay(n * 1_000),
        8 => Fate::MarkCe,
        _ => Fate::Pass,
    };
    fabric.set_filter(filtered, Some(Box::new(filter))).unwrap();
    fabric
        .receive_from_first_bit(HostId(2), 0)
        .expect("host 2 exists");
    let channels = fabric.topology().channels().collect();
    fabric.sample_every(500_000, channels).unwrap();
    for n in 0..1500 {
        let time = u64::from(n) * 5_000;
        fabric.advance_to(time, |delivery| {
            let mut hash = hash.lock().unwrap();
            hash.word(delivery.host.0.into());
            hash.frame(delivery.time, &delivery.frame);
        });
        sent(n).send(&mut fabric, time + u64::from(n % 4) * 1_000_000);
    }
    fabric.advance_to(Time::MAX, |delivery| {
        hash.lock().unwrap().frame(delivery.time, &delivery.frame);
    });
    let totals = fabric.totals();
    let stats: Vec<_> = fabric
        .topology()
        .channels()
        .map(|channel| fabric.stats(channel).unwrap())
        .collect();
    let sum = |count: fn(&ChannelStats) -> u64| stats.iter().map(count).sum::<u64>();
    let happened = [
        totals.duplicated,
        totals.dropped.of(DropReason::QueueFull),
        totals.dropped.of(DropReason::RandomLoss),
        totals.dropped.of(DropReason::LinkDown),
        sum(|stats| stats.ecn_marks),
        sum(|stats| stats.trims),
        sum(|stats| stats.corrupted),
    ];
    assert!(happened.iter().all(|&count| count > 4), "{happened:?}");
    let mut hash = hash.lock().unwrap().clone();
    // The run was recorded before channels counted pauses, of which it has none.
    let everything = serde_json::to_string(&(totals, stats)).unwrap();
    let everything = everything.replace("\"pauses\":0,", "");
    for sample in fabric.samples() {
        hash.word(sample.time);
        hash.word(sample.channel.0.into());
        hash.word(sample.data_bytes);
        hash.word(sample.control_bytes);
        hash.word(sample.sent_bytes);
    }
    for byte in everything.bytes() {
        hash.word(byte.into());
    }
    assert_eq!(hash.0, RECORDED, "{totals:?}");
}
