//! States of entropy values: every transition, backups, probes, and never stopping.

use stellar_transport::spray::{
    EvState, Feedback, PlaneMask, Policy, SkipScope, Spray, SprayConfig,
};
use stellar_transport::time::Ticks;

use crate::spray::common::{
    config, ev, indices, next, spray, used, with_backups, NOW, PROBE_INTERVAL,
};

#[test]
fn a_mark_bypasses_for_the_rest_of_the_rotation() {
    let mut spray = spray(Policy::EvState, 128);
    // A full rotation, to know that the next one starts here.
    indices(&mut spray, 128);
    let first = next(&mut spray).index;
    let marked = ev(first.value() ^ 2);
    spray.on_feedback(marked, Feedback::Skip, NOW);
    assert_eq!(spray.state(marked), Some(EvState::Skip));
    let rest = indices(&mut spray, 124);
    assert!(!rest.contains(&marked.value()), "bypassed");
    // 126 packets were sent, 63 on each plane. The plane with the marked path has no more than 63 other paths.
    let after = indices(&mut spray, 3);
    assert_eq!(spray.state(marked), Some(EvState::Good));
    let next_rotation = [after, indices(&mut spray, 125)].concat();
    assert!(
        next_rotation.contains(&marked.value()),
        "back in the next rotation"
    );
}

#[test]
fn next_turn_scope_bypasses_exactly_one_turn() {
    let config = SprayConfig {
        skip: SkipScope::NextTurn,
        ..config(Policy::EvState, 128)
    };
    let mut spray = Spray::new(config).expect("a usual configuration");
    // Marked after its turn: the bypass is in the next rotation.
    let marked = next(&mut spray).index;
    indices(&mut spray, 127);
    spray.on_feedback(marked, Feedback::Skip, NOW);
    let turns = |packets: Vec<u8>| {
        packets
            .iter()
            .filter(|index| **index == marked.value())
            .count()
    };
    assert_eq!(turns(indices(&mut spray, 126)), 0);
    assert!(turns(indices(&mut spray, 258)) >= 2);
    assert_eq!(spray.state(marked), Some(EvState::Good));
}

#[test]
fn every_path_marked_is_no_path_marked() {
    for skip in [SkipScope::RestOfRotation, SkipScope::NextTurn] {
        let mut spray = Spray::new(SprayConfig {
            skip,
            ..config(Policy::EvState, 8)
        })
        .expect("usual");
        for _ in 0..50 {
            (0..8).for_each(|index| spray.on_feedback(ev(index), Feedback::Skip, NOW));
            indices(&mut spray, 3);
        }
        assert_eq!(used(&mut spray, 32).len(), 8, "{skip:?}");
    }
}

#[test]
fn timeouts_and_always_skip_withdraw_until_a_probe_is_answered() {
    for feedback in [Feedback::Timeout, Feedback::AlwaysSkip] {
        let mut spray = spray(Policy::EvState, 8);
        spray.on_feedback(ev(3), feedback, NOW);
        assert_eq!(spray.state(ev(3)), Some(EvState::AssumedBad));
        assert!(!used(&mut spray, 100).contains(&3));
        for no_remedy in [Feedback::Good, Feedback::Skip, Feedback::Timeout] {
            spray.on_feedback(ev(3), no_remedy, NOW);
            assert_eq!(
                spray.state(ev(3)),
                Some(EvState::AssumedBad),
                "{no_remedy:?}"
            );
        }
        spray.on_feedback(ev(3), Feedback::ProbeAnswered, NOW);
        assert_eq!(spray.state(ev(3)), Some(EvState::Good));
        assert!(used(&mut spray, 100).contains(&3));
    }
}

#[test]
fn only_software_denies_and_allows() {
    let mut spray = spray(Policy::EvState, 8);
    spray.deny(ev(3));
    for feedback in [
        Feedback::Good,
        Feedback::Skip,
        Feedback::Timeout,
        Feedback::AlwaysSkip,
        Feedback::ProbeAnswered,
    ] {
        spray.on_feedback(ev(3), feedback, NOW);
        assert_eq!(spray.state(ev(3)), Some(EvState::Denied), "{feedback:?}");
    }
    spray.allow(ev(3));
    assert_eq!(spray.state(ev(3)), Some(EvState::Good));
    spray.on_feedback(ev(3), Feedback::Timeout, NOW);
    spray.allow(ev(3));
    assert_eq!(
        spray.state(ev(3)),
        Some(EvState::AssumedBad),
        "nothing to allow"
    );
}

#[test]
fn probes_are_paced_and_go_round() {
    let mut spray = with_backups(8, 4);
    for index in [1, 2, 6] {
        spray.on_feedback(ev(index), Feedback::Timeout, NOW);
    }
    // Backup 129 serves slot 0 of plane 1, and fails too.
    spray.on_feedback(ev(129), Feedback::Timeout, NOW);
    let mut now = Ticks(u32::MAX - 1_500);
    let mut probed = Vec::new();
    for _ in 0..8 {
        probed.push(spray.probe_due(now).expect("a probe is due").value());
        assert_eq!(spray.probe_due(now), None, "one at a time");
        now = now.plus(Ticks(PROBE_INTERVAL.0 - 1));
        assert_eq!(spray.probe_due(now), None, "a tick early");
        now = now.plus(Ticks(1));
    }
    assert_eq!(probed, [1, 2, 6, 129, 1, 2, 6, 129]);
    spray.set_plane(1, false);
    assert_eq!(
        spray.probe_due(now).map(|index| index.value()),
        Some(2),
        "none into a plane that is down"
    );
    spray.on_feedback(ev(2), Feedback::ProbeAnswered, NOW);
    spray.on_feedback(ev(6), Feedback::ProbeAnswered, NOW);
    assert_eq!(
        spray.probe_due(now.plus(PROBE_INTERVAL)),
        None,
        "nothing left to probe"
    );
}

#[test]
fn oblivious_policies_ignore_feedback() {
    for policy in [Policy::Obs, Policy::RoundRobin, Policy::SinglePath] {
        let (mut with, mut without) = (spray(policy, 8), spray(policy, 8));
        for index in 0..8 {
            with.on_feedback(ev(index), Feedback::Timeout, NOW);
            with.on_feedback(ev(index), Feedback::Skip, NOW);
        }
        assert_eq!(
            indices(&mut with, 100),
            indices(&mut without, 100),
            "{policy:?}"
        );
        assert_eq!(with.probe_due(Ticks(0)), None);
    }
}

#[test]
fn a_plane_without_a_good_path_leaves_the_load_to_the_other() {
    let mut spray = spray(Policy::EvState, 8);
    for index in [1, 3, 5, 7] {
        spray.on_feedback(ev(index), Feedback::Timeout, NOW);
    }
    assert_eq!(used(&mut spray, 100), [0, 2, 4, 6]);
    assert_eq!(
        spray.choose(None, PlaneMask::only(1)),
        None,
        "its port sends nothing"
    );
}

#[test]
fn a_queue_pair_never_stops_for_want_of_good_paths() {
    let mut spray = spray(Policy::EvState, 8);
    for index in 0..8 {
        spray.on_feedback(ev(index), Feedback::Timeout, NOW);
    }
    spray.deny(ev(4));
    assert_eq!(
        used(&mut spray, 200),
        [0, 1, 2, 3, 5, 6, 7],
        "all but the denied one"
    );
    for _ in 0..20 {
        assert_ne!(
            spray
                .choose(Some(ev(1)), PlaneMask::BOTH)
                .map(|path| path.index),
            Some(ev(1))
        );
    }
    spray.on_feedback(ev(6), Feedback::ProbeAnswered, NOW);
    assert_eq!(
        used(&mut spray, 100),
        [6],
        "one good path is better than all doubtful ones"
    );
    (0..8).for_each(|index| spray.deny(ev(index)));
    assert_eq!(
        spray.choose(None, PlaneMask::BOTH),
        None,
        "software's word stands"
    );
}

#[test]
fn unknown_values_are_ignored() {
    let mut spray = spray(Policy::EvState, 8);
    for index in [8, 127, 128, 143] {
        spray.on_feedback(ev(index), Feedback::Timeout, NOW);
        spray.deny(ev(index));
        spray.allow(ev(index));
        assert_eq!(
            (spray.state(ev(index)), spray.entropy(ev(index))),
            (None, None)
        );
    }
    assert_eq!(spray.probe_due(Ticks(0)), None);
    assert_eq!(used(&mut spray, 100), [0, 1, 2, 3, 4, 5, 6, 7]);
}

/// Returns the load of a path that is always marked, as a share of its load without marks. Feedback arrives `latency` packets later.
fn share_of_marked_path(skip: SkipScope, latency: usize) -> f64 {
    const PACKETS: usize = 128 * 400;
    let mut spray = Spray::new(SprayConfig {
        skip,
        ..config(Policy::EvState, 128)
    })
    .expect("usual");
    let mut in_flight = std::collections::VecDeque::new();
    let mut marked = 0;
    for _ in 0..PACKETS {
        let index = next(&mut spray).index;
        marked += usize::from(index == ev(40));
        in_flight.push_back(index);
        if in_flight.len() > latency && in_flight.pop_front() == Some(ev(40)) {
            spray.on_feedback(ev(40), Feedback::Skip, NOW);
        }
    }
    marked as f64 * 128.0 / PACKETS as f64
}

#[test]
fn a_path_that_is_always_marked_carries_less() {
    for latency in [16, 48, 96, 192] {
        let [rest, next_turn] = [SkipScope::RestOfRotation, SkipScope::NextTurn]
            .map(|skip| share_of_marked_path(skip, latency));
        println!("feedback after {latency} packets: {rest:.2} rest of rotation, {next_turn:.2} next turn");
        assert!(rest < 0.97, "latency {latency}: {rest:.2}");
        assert!(
            next_turn < 0.68 && next_turn < rest,
            "latency {latency}: {next_turn:.2}, {rest:.2}"
        );
    }
}
