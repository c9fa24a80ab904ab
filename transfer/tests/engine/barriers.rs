//! Barriers: no engine leaves before all have entered, and earlier writes have arrived then.

use proptest::prelude::*;
use stellar_transfer::*;

use crate::engine::cluster::{pattern, Cluster, Setup};

const IMMEDIATE: u32 = 0xbaaa_aaaa;
const BYTES: usize = 3000;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    /// Rounds with one immediate: every engine writes to every other, enters at a random time, and finds all writes of the others when the barrier
    /// ends.
    #[test]
    fn nobody_leaves_early_and_all_that_was_written_before_is_there(
        engines in 2usize..5, rails in 1usize..3, rounds in 1usize..5, seed in any::<u64>(),
    ) {
        let mut cluster = Cluster::new(Setup { engines, rails, seed, ..Setup::default() });
        let source: Vec<_> = (0..engines).map(|e| cluster.region(e, BYTES, Access::Local)).collect();
        // Engine e has a part for each other engine and each round, so no part is overwritten before it was checked.
        let target: Vec<_> = (0..engines)
            .map(|e| cluster.region(e, engines * rounds * BYTES, Access::RemoteWrite))
            .collect();
        let place = |writer: usize, round: usize| (writer * rounds + round) * BYTES;
        let mut entered = vec![0usize; engines];
        let mut left = vec![0usize; engines];
        for _ in 0..400_000 {
            cluster.turn();
            let engine = cluster.network.random(engines);
            while let Some(event) = cluster.engines[engine].next_event() {
                let Event::Done { result: Ok(()), .. } = event else { panic!("{event:?}") };
                let round = left[engine];
                left[engine] += 1;
                for other in (0..engines).filter(|&other| other != engine) {
                    prop_assert!(entered[other] > round, "left before engine {} entered", other);
                    let found = target[engine].memory().unwrap().copy(place(other, round), BYTES);
                    prop_assert!(found == pattern(BYTES, other * 10 + round), "bytes are missing");
                }
            }
            if left[engine] == entered[engine] && entered[engine] < rounds && cluster.network.random(30) == 0 {
                let round = entered[engine];
                let memory = source[engine].memory().unwrap();
                memory.write(0, &pattern(BYTES, engine * 10 + round)).unwrap();
                let others: Vec<_> = (0..engines).filter(|&other| other != engine).collect();
                let at = place(engine, round) as u64;
                let slice = source[engine].slice(0, BYTES as u64);
                let parts = others.iter().map(|&other| (slice, target[other].descriptor().at(at)));
                let transfer = Transfer::scatter(parts);
                cluster.engines[engine].submit_with(&transfer, |result| result.unwrap()).unwrap();
                let peers: Vec<_> = others.iter().map(|&other| cluster.peer(engine, other)).collect();
                cluster.engines[engine].barrier(IMMEDIATE, &peers).unwrap();
                entered[engine] += 1;
            }
            if left.iter().all(|&left| left == rounds) {
                break;
            }
        }
        prop_assert_eq!(left, vec![rounds; engines]);
        for engine in &cluster.engines {
            prop_assert_eq!(engine.arrivals(IMMEDIATE), 0);
        }
    }
}

#[test]
fn a_barrier_ends_with_the_peer_that_is_lost() {
    let mut cluster = Cluster::new(Setup {
        engines: 3,
        ..Setup::default()
    });
    let peers = [1, 2].map(|other| cluster.peer(0, other));
    let id = cluster.engines[0].barrier(7, &peers).unwrap();
    assert!(!cluster.engines[0].cancel(7), "a barrier was stopped");
    cluster.settle();
    let gone = cluster.peer(2, 0);
    cluster.engines[2].disconnect(gone);
    cluster.settle();
    match cluster.engines[0].next_event() {
        Some(Event::Done {
            id: done,
            result: Err(lost),
        }) => {
            assert_eq!((done, lost.peer), (id, peers[1]));
            assert!(matches!(lost.reason, LinkError::GivenUp));
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(
        cluster.engines[0].next_event(),
        Some(Event::Lost(_))
    ));
    // The immediate can be used again.
    cluster.engines[0].barrier(7, &peers[..1]).unwrap();
}
