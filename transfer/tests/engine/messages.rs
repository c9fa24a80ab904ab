//! Messages and calls: each arrives once and complete, and each call gets its own reply.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use stellar_transfer::*;

use crate::engine::cluster::{pattern, Cluster, Setup};

/// Reply to a request.
fn answer(request: &[u8]) -> Vec<u8> {
    request.iter().rev().map(|byte| byte ^ 0xff).collect()
}

/// Reads an engine's events, with random pauses; returns messages and replies.
#[derive(Default)]
struct Seen {
    messages: BTreeMap<usize, Vec<Vec<u8>>>,
    answers: BTreeMap<(usize, CallId), Vec<u8>>,
    done: usize,
    open: Vec<(usize, RequestId, Vec<u8>)>,
}

impl Seen {
    /// Reads one event of one engine, and replies to one request.
    fn look(&mut self, cluster: &mut Cluster) {
        let engine = cluster.network.random(cluster.engines.len());
        match cluster.engines[engine].next_event() {
            Some(Event::Message { bytes, .. }) => {
                self.messages.entry(engine).or_default().push(bytes);
            }
            Some(Event::Request { request, bytes }) => self.open.push((engine, request, bytes)),
            Some(Event::Response { call, result }) => {
                let before = self.answers.insert((engine, call), result.unwrap());
                assert!(before.is_none(), "answered twice");
            }
            Some(Event::Done { result: Ok(()), .. }) => self.done += 1,
            None => {}
            other => panic!("{other:?}"),
        }
        if !self.open.is_empty() && cluster.network.random(4) == 0 {
            let which = cluster.network.random(self.open.len());
            let (engine, request, bytes) = self.open.swap_remove(which);
            cluster.engines[engine]
                .reply(request, &answer(&bytes))
                .unwrap();
            let twice = cluster.engines[engine].reply(request, &[]);
            assert!(matches!(twice, Err(SubmitError::NoRequest(_))));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    /// Both engines send and call at the same time, more than there are slots, and read events at random times.
    #[test]
    fn every_message_comes_once_and_every_call_has_its_answer(
        seed in any::<u64>(), slots in 1u16..4, depth in 1u32..4,
        lengths in prop::collection::vec((0usize..=100, any::<bool>(), 0usize..2), 1..40),
    ) {
        let mut cluster = Cluster::new(Setup { slots, depth, seed, ..Setup::default() });
        let mut seen = Seen::default();
        let mut sent: BTreeMap<usize, Vec<Vec<u8>>> = BTreeMap::new();
        let mut calls = BTreeMap::new();
        let mut done = 0;
        for (number, &(length, asks, from)) in lengths.iter().enumerate() {
            let peer = cluster.peer(from, 1 - from);
            let bytes = pattern(length, number);
            if asks {
                let call = cluster.engines[from].call(peer, &bytes).unwrap();
                calls.insert((from, call), answer(&bytes));
            } else {
                cluster.engines[from].send(peer, &bytes).unwrap();
                sent.entry(1 - from).or_default().push(bytes);
            }
            done += 1;
        }
        // A call gives one event for its reply, and one at the engine that replied.
        let all = |seen: &Seen| seen.answers.len() == calls.len() && seen.done == done;
        cluster.run(|cluster| {
            seen.look(cluster);
            let count = |by: &BTreeMap<usize, Vec<Vec<u8>>>| by.values().map(Vec::len).sum::<usize>();
            all(&seen) && count(&seen.messages) == count(&sent)
        });
        for messages in seen.messages.values_mut().chain(sent.values_mut()) {
            messages.sort();
        }
        prop_assert_eq!(&seen.messages, &sent);
        prop_assert_eq!(&seen.answers, &calls);
        cluster.settle();
        prop_assert!(cluster.engines.iter().all(Engine::is_idle));
    }
}

#[test]
fn what_the_application_does_not_take_holds_the_sender_back() {
    let mut cluster = Cluster::new(Setup {
        slots: 2,
        ..Setup::default()
    });
    let peer = cluster.peer(0, 1);
    let ids: BTreeSet<_> = (0..5u8)
        .map(|n| cluster.engines[0].send(peer, &[n]).unwrap())
        .collect();
    assert_eq!(ids.len(), 5);
    cluster.settle();
    let done =
        |cluster: &mut Cluster| std::iter::from_fn(|| cluster.engines[0].next_event()).count();
    assert_eq!(done(&mut cluster), 2);
    let mut came = BTreeSet::new();
    for more in [2, 1, 0] {
        for _ in 0..2 {
            if let Some(Event::Message { bytes, .. }) = cluster.engines[1].next_event() {
                came.extend(bytes);
            }
        }
        cluster.settle();
        assert_eq!(done(&mut cluster), more);
    }
    assert_eq!(came, (0..5).collect());
}
