//! Queue pairs and NICs that fail: everything that depends on them ends with the reason.

use std::collections::BTreeMap;

use proptest::prelude::*;
use stellar_transfer::*;

use crate::engine::cluster::{bytes, pattern, Cluster, Setup};

const BYTES: usize = 9000;

/// Reads all events of an engine; returns the ends of transfers, of calls and of counters, and the lost links.
#[derive(Default, Debug)]
struct Ends {
    transfers: BTreeMap<TransferId, Result<(), PeerLost>>,
    calls: BTreeMap<CallId, bool>,
    counters: BTreeMap<u32, Result<(), PeerLost>>,
    lost: Vec<PeerLost>,
}

impl Ends {
    fn take(&mut self, engine: &mut Engine<crate::engine::network::NetNic>) {
        while let Some(event) = engine.next_event() {
            match event {
                Event::Done { id, result } => {
                    assert!(self.transfers.insert(id, result).is_none(), "ended twice");
                }
                Event::Response { call, result } => {
                    assert!(self.calls.insert(call, result.is_ok()).is_none());
                }
                Event::Reached { immediate, result } => {
                    assert!(self.counters.insert(immediate, result).is_none());
                }
                Event::Lost(lost) => self.lost.push(lost),
                Event::Request { request, bytes } => {
                    let reply = engine.reply(request, &bytes);
                    assert!(
                        matches!(reply, Ok(_) | Err(SubmitError::Lost(_))),
                        "{reply:?}"
                    );
                }
                Event::Message { .. } => {}
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// A queue pair fails at a random time during transfers, calls, a barrier and a counter. Each of them ends once on both sides, success is
    /// reported only for what has arrived, and the two engines can be connected again.
    #[test]
    fn all_that_depends_on_a_link_ends_with_it(
        seed in any::<u64>(), rails in 1usize..3, when in 0usize..600, count in 1usize..6,
    ) {
        let mut cluster = Cluster::new(Setup { rails, seed, ..Setup::default() });
        let source = cluster.region(0, BYTES, Access::Local);
        source.memory().unwrap().write(0, &pattern(BYTES, 3)).unwrap();
        let peers = [cluster.peer(0, 1), cluster.peer(1, 0)];
        let mut ends = [Ends::default(), Ends::default()];
        let mut targets = BTreeMap::new();
        let mut calls = Vec::new();
        cluster.engines[1].expect(5, 2 * count as u64 * rails as u64 + 1, Senders::These(vec![peers[1]])).unwrap();
        for number in 0..count {
            let target = cluster.region(1, BYTES, Access::RemoteWrite);
            let transfer = Transfer::write(source.slice(0, BYTES as u64), target.descriptor().at(0));
            let transfer = transfer.with_immediate(5).sharded(Sharding::Bytes);
            targets.insert(cluster.engines[0].submit(&transfer).unwrap(), target);
            calls.push(cluster.engines[number % 2].call(peers[number % 2], &[7; 20]).unwrap());
        }
        let barriers = [0, 1].map(|side| cluster.engines[side].barrier(6, &peers[side..=side]).unwrap());
        for _ in 0..when {
            cluster.turn();
        }
        let failed = cluster.network.fail_any();
        prop_assert!(failed.is_some());
        cluster.run(|cluster| {
            for (side, ends) in ends.iter_mut().enumerate() {
                ends.take(&mut cluster.engines[side]);
            }
            cluster.engines.iter().all(Engine::is_idle) && ends.iter().all(|ends| !ends.lost.is_empty())
        });
        for (id, target) in &targets {
            let result = &ends[0].transfers[id];
            let whole = bytes(target.memory().unwrap()) == pattern(BYTES, 3);
            prop_assert!(whole || result.is_err());
        }
        for side in [0, 1] {
            prop_assert_eq!(ends[side].lost.len(), 1);
            prop_assert_eq!(ends[side].lost[0].peer, peers[side]);
            prop_assert!(ends[side].transfers.contains_key(&barriers[side]));
        }
        let answered = calls.iter().enumerate().all(|(number, call)| ends[number % 2].calls.contains_key(call));
        prop_assert!(answered);
        prop_assert!(matches!(ends[1].counters.get(&5), Some(Err(_))));
        // Nothing of the old link is left, and a new one works.
        cluster.settle();
        cluster.connect(0, 1);
        let peer = cluster.peer(0, 1);
        prop_assert_ne!(peer, peers[0]);
        let target = cluster.region(1, BYTES, Access::RemoteWrite);
        let transfer = Transfer::write(source.slice(0, BYTES as u64), target.descriptor().at(0));
        cluster.engines[0].submit(&transfer).unwrap();
        cluster.settle();
        let arrived = matches!(cluster.engines[0].next_event(), Some(Event::Done { result: Ok(()), .. }));
        prop_assert!(arrived);
        prop_assert_eq!(bytes(target.memory().unwrap()), pattern(BYTES, 3));
    }
}

#[test]
fn a_key_that_is_gone_fails_the_transfer_with_the_nics_reason() {
    let mut cluster = Cluster::new(Setup::default());
    let source = cluster.region(0, 100, Access::Local);
    let target = cluster.region(1, 100, Access::RemoteWrite);
    let descriptor = target.descriptor().clone();
    target.deregister().unwrap();
    let transfer = Transfer::write(source.slice(0, 100), descriptor.at(0));
    let id = cluster.engines[0].submit(&transfer).unwrap();
    cluster.settle();
    let mut ends = Ends::default();
    ends.take(&mut cluster.engines[0]);
    let lost = ends.transfers[&id].clone().unwrap_err();
    let status = Some(WcStatus::RemOpErr);
    assert!(matches!(
        lost.reason,
        LinkError::QueuePair { channel: 0, status: found } if found == status
    ));
    assert_eq!(
        lost.to_string(),
        "peer 0 is lost: queue pair 0 of the link failed (RemOpErr)"
    );
    // The peer was notified.
    let Some(Event::Lost(lost)) = cluster.engines[1].next_event() else {
        panic!("it was not told");
    };
    assert!(matches!(lost.reason, LinkError::GivenUp));
    let again = cluster.engines[0].submit(&transfer);
    assert!(matches!(again, Err(SubmitError::Lost(_))), "{again:?}");
}

#[test]
fn a_nic_that_is_gone_ends_everything_at_once() {
    let mut cluster = Cluster::new(Setup {
        rails: 2,
        ..Setup::default()
    });
    let source = cluster.region(0, BYTES, Access::Local);
    let target = cluster.region(1, BYTES, Access::RemoteWrite);
    let transfer = Transfer::write(source.slice(0, BYTES as u64), target.descriptor().at(0));
    let id = cluster.engines[0]
        .submit(&transfer.sharded(Sharding::Rail(1)))
        .unwrap();
    for _ in 0..10 {
        cluster.turn();
    }
    cluster.network.unplug(1);
    cluster.engines[0].progress();
    let mut ends = Ends::default();
    ends.take(&mut cluster.engines[0]);
    let lost = ends.transfers[&id].clone().unwrap_err();
    assert_eq!(lost.to_string(), "peer 0 is lost: NIC 1: unplugged");
}

#[test]
fn more_immediates_that_nobody_expects_than_are_kept_take_the_link_down() {
    let network = crate::engine::network::Network::new(3);
    let engine = |id, unexpected| {
        let config = EngineConfig {
            unexpected,
            ..EngineConfig::new(EngineId(id))
        };
        Engine::new(config, vec![network.nic()]).unwrap()
    };
    let mut cluster = Cluster {
        engines: vec![engine(0, 9), engine(1, 2)],
        network: network.clone(),
    };
    cluster.connect(0, 1);
    let source = cluster.region(0, 8, Access::Local);
    let target = cluster.region(1, 8, Access::RemoteWrite);
    for immediate in [1, 2, 1, 3] {
        let transfer = Transfer::write(source.slice(0, 8), target.descriptor().at(0));
        cluster.engines[0]
            .submit(&transfer.with_immediate(immediate))
            .unwrap();
        cluster.settle();
    }
    let mut ends = Ends::default();
    ends.take(&mut cluster.engines[1]);
    assert!(matches!(
        ends.lost[0].reason,
        LinkError::Protocol(ProtocolError::Unexpected(2))
    ));
}
