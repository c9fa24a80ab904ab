//! HP3: what ends a pause, and the cycles of the operations. The bench compares every response with the reference.

use hdl_spray_engine::cycles;
use stellar_transport::spray::{Feedback, Policy, SkipScope};

use crate::spray_engine::bench as with_policy;
use crate::spray_engine::bench::{Bench, News};

/// Ends a round with an acknowledgement of a packet on the path in use.
fn round(bench: &mut Bench, hint: Feedback) {
    let entropy = bench.entropy(0, bench.home(0));
    let news = News {
        packets: 9,
        advance: 9,
        ..hint.into()
    };
    bench.ack(10, 0, entropy, news);
}

/// A queue pair in a pause, and the paths that are probed: that in use first.
fn paused() -> (Bench, Vec<u8>) {
    let mut bench = with_policy(Policy::Hp3, SkipScope::NextTurn);
    for _ in 0..4 {
        assert_eq!(bench.query(0, 0), None);
        assert_eq!(bench.took(), cycles::QUERY + 3);
        round(&mut bench, Feedback::Skip);
        assert_eq!(bench.took(), 9);
    }
    let mut probes = vec![];
    while let Some(index) = bench.probe(0, 1) {
        assert_eq!(bench.took(), if probes.is_empty() { 13 } else { 11 });
        probes.push(index);
    }
    assert_eq!(bench.took(), 6);
    (bench, probes)
}

#[test]
fn a_pause_probes_eight_paths_and_the_first_answer_decides() {
    let (mut bench, probes) = paused();
    let home = bench.home(0);
    assert_eq!((probes.len(), probes[0]), (8, home));
    bench.probe_answered(0, probes[3], 5);
    bench.probe_answered(0, probes[5], 5);
    assert!(bench.query(0, 100).is_some());
    assert_eq!(bench.home(0), home);
    assert_eq!(bench.empty(0, 5_000), None);
    assert_eq!(bench.home(0), probes[3]);
    let chosen: Vec<u8> = [0, 1]
        .into_iter()
        .filter_map(|plane| bench.choose(0, plane, None))
        .collect();
    assert_eq!(chosen, [probes[3]]);
}

#[test]
fn a_pause_for_nothing_is_followed_by_eight_rounds() {
    for case in 0..4 {
        let (mut bench, probes) = paused();
        let home = bench.home(0);
        match case {
            0 => bench.probe_answered(0, probes[0], 5),
            1 => {
                bench.probe_answered(0, probes[2], 5);
                bench.feedback(0, probes[2], Feedback::Skip);
            }
            2 => assert_eq!(bench.query(0, 2_000), None),
            // Nothing but an answer or time ends it.
            _ => {
                assert!(bench.empty(0, 100).is_some());
                assert_eq!(bench.query(0, 1_900), None);
            }
        }
        assert_eq!((bench.query(0, 0), bench.home(0)), (None, home));
        for _ in 0..8 {
            round(&mut bench, Feedback::Skip);
            assert_eq!(bench.query(0, 0), None, "case {case}");
        }
        round(&mut bench, Feedback::Skip);
        assert!(bench.query(0, 0).is_some(), "case {case}");
    }
}

#[test]
fn a_timeout_leaves_the_path_at_once() {
    let (mut bench, probes) = paused();
    bench.feedback(0, bench.home(0), Feedback::Timeout);
    assert_eq!(bench.took(), 8, "it names the path in use");
    assert_eq!(bench.query(0, 0), None);

    let (mut draining, _) = paused();
    draining.probe_answered(0, probes[6], 5);
    draining.feedback(0, probes[0], Feedback::Timeout);
    assert_eq!(draining.took(), 7, "it names the path in use");
    assert_eq!((draining.query(0, 0), draining.home(0)), (None, probes[6]));
}
