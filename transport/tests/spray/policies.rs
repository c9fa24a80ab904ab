//! What each policy does with feedback, and a policy of the test's own.

use stellar_transport::rx::Psn;
use stellar_transport::spray::{
    EvIndex, Feedback, PathAck, PathPolicy, Paths, PlaneMask, Policy, Spray, SprayConfig,
};
use stellar_transport::time::Ticks;
use stellar_wire::rows::{EXPLORED_PACKETS, FREEZE_TICKS};

use crate::spray::common::{config, ev, indices, spray, used, NOW};

/// An acknowledgement of `packets` packets that reflects `index`.
fn ack(spray: &Spray, index: u8, hint: Feedback, packets: u16) -> PathAck {
    PathAck {
        entropy: spray.entropy(ev(index)).expect("a value").0,
        hint,
        packets,
        ..PathAck::default()
    }
}

fn good(spray: &mut Spray, index: u8, now: Ticks) {
    let ack = ack(spray, index, Feedback::Good, 1);
    assert_eq!(spray.on_ack(&ack, now), Some(ev(index)));
}

/// The next path on plane 0.
fn even(spray: &mut Spray) -> u8 {
    let path = spray.choose(None, PlaneMask::only(0));
    path.expect("a path").index.value()
}

fn evens(spray: &mut Spray, count: usize) -> Vec<u8> {
    (0..count).map(|_| even(spray)).collect()
}

#[test]
fn the_names_are_those_of_the_policies() {
    let names = Policy::ALL.map(Policy::name);
    for (policy, name) in Policy::ALL.into_iter().zip(names) {
        assert_eq!(Policy::from_name(name), Some(policy));
    }
    assert_eq!(Policy::from_name("obs"), Some(Policy::Obs));
    assert_eq!(Policy::from_name("best"), None);
}

#[test]
fn recycling_takes_acknowledged_paths_once_in_their_order_and_then_those_of_the_oblivious_order() {
    for policy in [Policy::Reps, Policy::Mixed] {
        let mut oblivious = spray(Policy::Obs, 128);
        let mut recycles = spray(policy, 128);
        assert_eq!(evens(&mut recycles, 10), evens(&mut oblivious, 10));
        for index in [40, 8, 8, 126] {
            good(&mut recycles, index, NOW);
        }
        // The other plane remembers its own.
        good(&mut recycles, 7, NOW);
        assert_eq!(evens(&mut recycles, 4), [40, 8, 8, 126]);
        assert_eq!(evens(&mut recycles, 10), evens(&mut oblivious, 10));
        let odd = recycles.choose(None, PlaneMask::only(1)).expect("a path");
        assert_eq!(odd.index, ev(7));
    }
}

#[test]
fn recycling_remembers_eight_paths_of_a_plane_and_none_that_was_marked() {
    let mut spray = spray(Policy::Reps, 128);
    for index in (0..24).step_by(2) {
        good(&mut spray, index, NOW);
        let marked = ack(&spray, index + 64, Feedback::Skip, 1);
        spray.on_ack(&marked, NOW);
    }
    assert_eq!(evens(&mut spray, 8), [8, 10, 12, 14, 16, 18, 20, 22]);
}

#[test]
fn recycling_forgets_paths_that_are_denied_or_avoided() {
    let mut spray = spray(Policy::Reps, 128);
    for index in [2, 4, 6, 8] {
        good(&mut spray, index, NOW);
    }
    spray.deny(ev(2));
    good(&mut spray, 2, NOW);
    let retransmission = spray.choose(Some(ev(4)), PlaneMask::only(0));
    assert_eq!(retransmission.expect("a path").index, ev(6));
    assert_eq!(even(&mut spray), 8);
    spray.allow(ev(2));
    assert!(!evens(&mut spray, 4).contains(&4), "4 was forgotten");
}

#[test]
fn after_a_timeout_the_remembered_paths_are_taken_in_turn_and_then_others_are_explored() {
    let mut spray = spray(Policy::Reps, 128);
    for index in [2, 4, 6] {
        good(&mut spray, index, NOW);
    }
    assert_eq!(even(&mut spray), 2);
    let late = Ticks(1_000);
    spray.on_feedback(ev(90), Feedback::Timeout, late);
    // The fresh ones first, then all in turn.
    assert_eq!(evens(&mut spray, 8), [4, 6, 2, 4, 6, 2, 4, 6]);
    // A second timeout does not make it longer.
    spray.on_feedback(ev(92), Feedback::Timeout, Ticks(2_000));
    good(&mut spray, 10, Ticks(late.0 + FREEZE_TICKS - 1));
    let mut turns = evens(&mut spray, 9);
    assert_eq!(turns.remove(0), 10);
    turns.sort_unstable();
    turns.dedup();
    assert_eq!(turns, [2, 4, 6, 10].map(|index| index).to_vec());

    let over = Ticks(late.0 + FREEZE_TICKS);
    for _ in 0..EXPLORED_PACKETS / 8 {
        let eight = ack(&spray, 20, Feedback::Good, 8);
        spray.on_ack(&eight, over);
    }
    // While other paths are explored, a timeout does not freeze, and nothing is remembered.
    let explored = evens(&mut spray, 32);
    assert_eq!(explored.iter().filter(|&&index| index == 20).count(), 1);
    good(&mut spray, 30, over);
    assert_eq!(even(&mut spray), 30);
}

#[test]
fn a_timeout_during_exploration_does_not_freeze() {
    let mut spray = spray(Policy::Reps, 8);
    spray.on_feedback(ev(0), Feedback::Timeout, NOW);
    spray.on_feedback(ev(0), Feedback::Timeout, Ticks(FREEZE_TICKS));
    let all = ack(&spray, 2, Feedback::Good, EXPLORED_PACKETS.into());
    spray.on_ack(&all, Ticks(FREEZE_TICKS));
    good(&mut spray, 2, Ticks(FREEZE_TICKS));
    // Remembered once, not frozen: taken once, and then in order.
    assert_eq!(even(&mut spray), 2);
    assert_eq!(used(&mut spray, 8).len(), 8);
}

#[test]
fn a_path_loses_a_turn_for_a_mark_four_when_trimmed_and_fifteen_when_late() {
    for (feedback, turns) in [
        (vec![Feedback::Good, Feedback::ProbeAnswered], 0),
        (vec![Feedback::Skip], 1),
        (vec![Feedback::Trimmed], 4),
        (vec![Feedback::Trimmed, Feedback::Skip, Feedback::Skip], 6),
        (vec![Feedback::Timeout], 15),
        (vec![Feedback::AlwaysSkip, Feedback::Trimmed], 15),
    ] {
        for policy in [Policy::Bitmap, Policy::Mixed] {
            let mut spray = spray(policy, 16);
            for &feedback in &feedback {
                spray.on_feedback(ev(6), feedback, NOW);
            }
            // Turns of any other path of the plane until the path is taken again.
            let mut turns_of_4 = 0;
            loop {
                match even(&mut spray) {
                    6 => break,
                    4 => turns_of_4 += 1,
                    _ => {}
                }
            }
            assert!(
                (turns..=turns + 1).contains(&turns_of_4),
                "{policy:?}, {feedback:?}: {turns_of_4} turns"
            );
        }
    }
}

/// An acknowledgement of one packet with this position of the window.
fn at(una: u32, next: u32, hint: Feedback) -> PathAck {
    PathAck {
        hint,
        packets: 1,
        una: Psn::new(una),
        next_psn: Psn::new(next),
        ..PathAck::default()
    }
}

fn bender() -> (Spray, u8) {
    let mut spray = spray(Policy::FlowBender, 128);
    let [first, same] = indices(&mut spray, 2)[..] else {
        panic!("two paths");
    };
    assert_eq!(first, same);
    // The first round begins with the first acknowledgement, whatever that carries.
    spray.on_ack(&at(1, 100, Feedback::Skip), NOW);
    assert_eq!(indices(&mut spray, 1), [first]);
    (spray, first)
}

#[test]
fn a_bender_changes_its_path_after_a_round_with_more_than_a_twentieth_marked() {
    for (marked, changes) in [(4, false), (5, false), (6, true)] {
        let (mut spray, first) = bender();
        for packet in 1..=100 {
            let hint = if packet <= marked {
                Feedback::Skip
            } else {
                Feedback::Good
            };
            assert_eq!(indices(&mut spray, 1), [first], "within the round");
            spray.on_ack(&at(packet, 101 + packet, hint), NOW);
        }
        let now = indices(&mut spray, 1);
        assert_eq!(now != [first], changes, "{marked} of 100 marked");
        // The next round counts from the start.
        for packet in 101..=201 {
            spray.on_ack(&at(packet, 300, Feedback::Good), NOW);
        }
        assert_eq!(indices(&mut spray, 1), now);
    }
}

#[test]
fn a_bender_changes_its_path_after_as_many_congested_rounds_in_a_row_as_configured() {
    let config = SprayConfig {
        bend_after: 3,
        ..config(Policy::FlowBender, 128)
    };
    let mut spray = Spray::new(config).expect("usual");
    let first = indices(&mut spray, 1);
    // The first acknowledgement begins the first round. Every other one ends a round of one packet.
    let rounds = [true, true, false, true, true, true];
    spray.on_ack(&at(1, 1, Feedback::Good), NOW);
    for (round, congested) in (2..).zip(rounds) {
        assert_eq!(indices(&mut spray, 1), first, "before round {round}");
        let hint = if congested {
            Feedback::Skip
        } else {
            Feedback::Good
        };
        spray.on_ack(&at(round, round, hint), NOW);
    }
    assert_ne!(indices(&mut spray, 1), first);
}

#[test]
fn a_bender_changes_its_path_at_once_after_a_timeout_or_at_the_receivers_request() {
    let (mut spray, first) = bender();
    spray.on_feedback(ev(first), Feedback::Timeout, NOW);
    let second = indices(&mut spray, 1)[0];
    assert_ne!(second, first);
    spray.on_ack(&at(2, 100, Feedback::AlwaysSkip), NOW);
    assert_ne!(indices(&mut spray, 1), [second]);
}

/// The path with the shortest round trip of late on either plane; every seventh packet explores. A policy of the test's own.
#[derive(Clone, Debug, Default)]
struct ShortestRoundTrip {
    /// Slot and round trip of the best path of a plane.
    best: [Option<(u8, u16)>; 2],
    packets: u32,
}

impl PathPolicy for ShortestRoundTrip {
    fn choose(&mut self, paths: &mut Paths, plane: u8, candidates: u64) -> u8 {
        self.packets += 1;
        match self.best[usize::from(plane)] {
            Some((slot, _)) if candidates >> slot & 1 == 1 && !self.packets.is_multiple_of(7) => {
                slot
            }
            _ => paths.next_in_order(plane, candidates),
        }
    }

    fn on_ack(&mut self, paths: &mut Paths, index: Option<EvIndex>, ack: &PathAck, _: Ticks) {
        let slot = index.and_then(|index| Some((index.plane(), paths.slot_in_service(index)?)));
        if let (Some((plane, slot)), true) = (slot, ack.sampled) {
            let best = &mut self.best[usize::from(plane)];
            if best.is_none_or(|(known, shortest)| known == slot || ack.round_trip < shortest) {
                *best = Some((slot, ack.round_trip));
            }
        }
    }

    fn copy(&self) -> Box<dyn PathPolicy> {
        Box::new(self.clone())
    }
}

#[test]
fn a_policy_of_ones_own_chooses_by_what_acknowledgements_tell() {
    let policy = Box::new(ShortestRoundTrip::default());
    let mut spray = Spray::with_policy(config(Policy::Obs, 32), policy).expect("usual");
    let mut taken = [0; 32];
    for _ in 0..2_000 {
        let path = spray.choose(None, PlaneMask::BOTH).expect("a path");
        let index = path.index.value();
        taken[usize::from(index)] += 1;
        // Paths 10 and 13 are the shortest of their planes.
        let round_trip = if [10, 13].contains(&index) {
            900
        } else {
            1_000
        };
        let ack = PathAck {
            entropy: path.entropy.0,
            sampled: true,
            round_trip,
            packets: 1,
            ..PathAck::default()
        };
        spray.on_ack(&ack, NOW);
    }
    assert!(taken[10] > 750 && taken[13] > 750, "{taken:?}");
    assert!(taken.iter().all(|&count| count > 0), "{taken:?}");
    // What software denies is not the policy's concern.
    spray.deny(ev(10));
    assert!(!indices(&mut spray, 100).contains(&10));
}
