//! No frame is lost without a reason, and no frame appears from nowhere.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use sim_net::{Fabric, Fate, HostId, Time};
use stellar_wire::{Srv6Encap, UsidContainer};

use crate::common::{leaf_spine, Sent};

#[derive(Clone, Debug)]
struct Traffic {
    from: u32,
    to: u32,
    payload: usize,
    ack: bool,
    v6: bool,
    /// uSIDs with or without a target.
    path: Option<Vec<u16>>,
    gap: Time,
}

fn traffic() -> impl Strategy<Value = Traffic> {
    let usid = prop_oneof![1..8u16, 0x1000..0x1009u16, 0xe000..0xe006u16];
    let path = proptest::option::weighted(0.3, proptest::collection::vec(usid, 1..=6));
    let gap = prop_oneof![Just(0), 0..200_000u64];
    let ends = (0..8u32, 0..8u32);
    (ends, 0..3000usize, any::<bool>(), any::<bool>(), path, gap).prop_map(
        |((from, to), payload, ack, v6, path, gap)| Traffic {
            from,
            to,
            payload,
            ack,
            v6,
            path,
            gap,
        },
    )
}

fn settings() -> impl Strategy<Value = String> {
    let trim = prop_oneof![Just(""), Just(", trim = { dscp = 9 }")];
    (0..3u32, 0..2u32, 0..500u32, 100..20_000u32, trim, any::<bool>()).prop_map(
        |(loss, corruption, jitter, queue, trim, events)| {
            let mut text = String::from("[fabric]\nswitch_latency_ns = 100\nreroute_ns = 500\n");
            text += &format!(
                "[[overrides]]\nplane = 0\nset = {{ loss = 0.0{loss}, corruption = 0.0{corruption}, jitter_ns = {jitter}, \
                 queue_bytes = {queue}, control_queue_bytes = {queue}{trim} }}\n"
            );
            for (at, up) in [(2, false), (4, true)] {
                if events {
                    text += &format!("[[events]]\nat_us = {at}\nnode = 'p0.spine1'\nup = {up}\n");
                    text += &format!("[[events]]\nat_us = {at}\nlink = 'p0.h1-leaf0'\nup = {up}\n");
                }
            }
            text
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, rng_seed: RngSeed::Fixed(2026), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn frames_are_conserved(
        traffic in proptest::collection::vec(traffic(), 1..150),
        settings in settings(),
        seed: u64,
    ) {
        let mut fabric = Fabric::new(leaf_spine(3, 4, &settings), seed);
        let filtered = fabric.topology().link("p0.leaf1-spine2").unwrap().forward();
        let filter = |_: &sim_net::Frame, n: u64| match n % 5 {
            0 => Fate::Drop,
            1 => Fate::Duplicate,
            2 => Fate::Delay(n * 10_000),
            _ => Fate::Pass,
        };
        fabric.set_filter(filtered, Some(Box::new(filter))).unwrap();
        let (mut sent, mut delivered, mut time) = (0u64, 0u64, 0);
        for item in &traffic {
            let srv6 = item.path.as_ref().map(|path| Srv6Encap {
                path: UsidContainer::new(0xfcbb_bb00, path).unwrap(),
                ..Srv6Encap::default()
            });
            Sent {
                payload: item.payload,
                ack: item.ack,
                v6: item.v6,
                srv6,
                ..Sent::new(HostId(item.from), HostId(item.to))
            }
            .send(&mut fabric, time + item.gap);
            sent += 1;
            time += item.gap;
            fabric.advance_to(time, |_| delivered += 1);
            let totals = fabric.totals();
            prop_assert_eq!((totals.sent, totals.delivered), (sent, delivered));
            prop_assert_eq!(
                totals.sent + totals.duplicated,
                totals.delivered + totals.dropped.total() + totals.in_flight
            );
        }
        fabric.advance_to(Time::MAX, |_| delivered += 1);
        let totals = fabric.totals();
        prop_assert_eq!(totals.in_flight, 0);
        prop_assert_eq!(sent + totals.duplicated, delivered + totals.dropped.total());
        prop_assert_eq!(fabric.next_event(), None);
        for channel in fabric.topology().channels() {
            let stats = fabric.stats(channel).unwrap();
            prop_assert_eq!((stats.data.bytes, stats.control.bytes), (0, 0));
        }
    }
}
