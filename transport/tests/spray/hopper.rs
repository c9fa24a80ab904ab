//! When Hopper probes, when it leaves a path, and how long it waits.

use stellar_transport::rx::Psn;
use stellar_transport::spray::{EvIndex, Feedback, PathAck, Policy, Spray};
use stellar_transport::time::Ticks;

use crate::spray::common::{ev, indices, spray, BASE_RTT};

const BASE: u32 = BASE_RTT.0;

/// A queue pair of 16 paths, and the time.
struct Flow {
    spray: Spray,
    now: u32,
    una: u32,
}

impl Flow {
    fn new() -> Self {
        Self {
            spray: spray(Policy::Hopper, 16),
            now: 1_000_000,
            una: 0,
        }
    }

    fn home(&self) -> EvIndex {
        self.spray.home()
    }

    /// After `passed` ticks, a packet on the path in use is acknowledged, with `packets` before it, and `outstanding` packets are not.
    fn ack(&mut self, passed: u32, round_trip: u32, packets: u32, outstanding: u32) {
        self.now += passed;
        self.una += packets;
        let entropy = self.spray.entropy(self.home()).expect("a path");
        let ack = PathAck {
            entropy: entropy.0,
            hint: Feedback::Good,
            sampled: true,
            round_trip: round_trip as u16,
            packets: packets as u16,
            una: Psn::new(self.una),
            next_psn: Psn::new(self.una + outstanding),
            in_flight: 0,
        };
        self.spray.on_ack(&ack, Ticks(self.now));
    }

    fn probes(&mut self) -> Vec<EvIndex> {
        std::iter::from_fn(|| self.spray.probe_due(Ticks(self.now))).collect()
    }

    fn answer(&mut self, passed: u32, index: EvIndex, round_trip: u32) {
        self.now += passed;
        self.spray
            .on_probe(index, round_trip as u16, Ticks(self.now));
    }

    /// Ticks for which no data is sent.
    fn held(&mut self) -> Option<u32> {
        let until = self.spray.held_until(Ticks(self.now))?;
        Some(until.since(Ticks(self.now)).0)
    }

    /// A queue pair that has probed two paths, with a round trip of 600 ticks on the second one.
    fn probed() -> (Self, EvIndex) {
        let mut flow = Self::new();
        flow.ack(0, 1_600, 1, 0);
        let [first, second] = flow.probes()[..] else {
            panic!("two probes");
        };
        flow.answer(700, first, 1_500);
        flow.answer(10, second, 600);
        (flow, second)
    }
}

#[test]
fn two_other_paths_are_probed_above_one_and_a_half_base_round_trips_once_an_epoch() {
    let mut flow = Flow::new();
    flow.ack(0, BASE * 3 / 2, 1, 0);
    assert_eq!(flow.probes(), []);
    flow.ack(1, BASE * 3 / 2 + 1, 1, 0);
    let first = flow.probes();
    assert_eq!(first.len(), 2);
    assert!(first[0] != first[1] && !first.contains(&flow.home()));
    flow.ack(BASE - 2, 3_000, 1, 0);
    assert_eq!(flow.probes(), [], "the epoch is not over");
    flow.ack(1, 3_000, 1, 0);
    assert_eq!(flow.probes().len(), 2);
}

#[test]
fn no_path_is_probed_twice_within_four_base_round_trips() {
    let mut flow = Flow::new();
    let mut probed = vec![];
    for _ in 0..4 {
        flow.ack(BASE, 1_800, 1, 0);
        probed.extend(flow.probes());
    }
    let home = flow.home();
    assert_eq!(probed.len(), 8);
    probed.push(home);
    probed.sort_unstable();
    probed.dedup();
    assert_eq!(probed.len(), 9, "all are different");
    // With four paths there are three others, which are probed again when the first epoch is forgotten.
    let mut few = Flow {
        spray: spray(Policy::Hopper, 4),
        ..Flow::new()
    };
    let counts: Vec<usize> = (0..9)
        .map(|_| {
            few.ack(BASE, 1_800, 1, 0);
            few.probes().len()
        })
        .collect();
    assert_eq!(counts, [2, 1, 0, 0, 2, 1, 0, 0, 2]);
    // A pause forgets all.
    few.ack(4 * BASE, 1_800, 1, 0);
    assert_eq!(few.probes().len(), 2);
}

#[test]
fn a_denied_path_and_one_on_a_plane_that_is_down_are_not_probed() {
    let mut flow = Flow::new();
    let plane = flow.home().plane();
    flow.spray.set_plane(1 - plane, false);
    for index in (0..16).map(ev).filter(|index| index.plane() == plane) {
        if index != flow.home() {
            flow.spray.deny(index);
        }
    }
    flow.ack(0, 3_000, 1, 0);
    assert_eq!(flow.probes(), []);
    flow.spray.set_plane(1 - plane, true);
    assert_eq!(flow.probes(), [], "there is no probe left in this epoch");
    flow.ack(BASE, 3_000, 1, 0);
    let probes = flow.probes();
    assert!(probes.len() == 2 && probes.iter().all(|index| index.plane() != plane));
}

#[test]
fn a_path_is_left_above_two_and_a_half_base_round_trips_for_one_of_less_than_80_percent() {
    for (round_trip, alternative, leaves) in [
        (BASE * 5 / 2, 600, false),
        (BASE * 5 / 2 + 4, 600, true),
        (3_000, 2_400, false),
        (3_000, 2_399, true),
    ] {
        let (mut flow, index) = Flow::probed();
        flow.answer(0, index, alternative);
        flow.ack(300, round_trip, 1, 0);
        let held = flow.held();
        assert_eq!(held.is_some(), leaves, "{round_trip} {alternative}");
        if leaves {
            flow.now += held.expect("a delay");
            assert_eq!(flow.held(), None);
            assert_eq!(flow.home(), index);
        }
    }
}

#[test]
fn the_probe_of_a_path_counts_for_four_base_round_trips() {
    for (passed, leaves) in [(4 * BASE, true), (4 * BASE + 1, false)] {
        let (mut flow, _) = Flow::probed();
        flow.ack(passed, 3_000, 1, 0);
        assert_eq!(flow.held().is_some(), leaves);
    }
}

#[test]
fn there_is_one_decision_in_an_epoch() {
    let mut flow = Flow::new();
    flow.ack(0, 3_000, 1, 0);
    let probes = flow.probes();
    flow.answer(600, probes[0], 600);
    flow.ack(1, 3_000, 1, 0);
    assert_eq!(flow.held(), None, "the epoch has had its decision");
    flow.ack(399, 3_000, 1, 0);
    assert!(flow.held().is_some());
}

#[test]
fn the_delay_is_the_difference_and_what_the_round_trip_grows_until_the_last_packet() {
    // 1,600 ticks, and 2,510 so many packets later. The other path has 1,900.
    for (packets, outstanding, delay) in [
        (91, 0, 610),
        (91, 40, 610 + 400),
        (90, 7, 610 + 910 * 7 / 90),
        (91, 139, 2 * BASE),
        (91, 140, 2 * BASE),
        (1, 4_000, 2 * BASE),
        (0, 40, 610),
    ] {
        let (mut flow, index) = Flow::probed();
        flow.answer(0, index, 1_900);
        flow.ack(200, 2_510, packets, outstanding);
        assert_eq!(flow.held(), Some(delay), "{packets} {outstanding}");
    }
    // A round trip that falls does not shorten the delay.
    let mut flow = Flow::new();
    flow.ack(0, 3_000, 1, 0);
    let probes = flow.probes();
    flow.answer(600, probes[0], 1_900);
    flow.ack(400, 2_510, 10, 40);
    assert_eq!(flow.held(), Some(610));
}

#[test]
fn the_sample_that_begins_an_epoch_ends_one_line_and_begins_the_next() {
    let (mut flow, index) = Flow::probed();
    flow.ack(300, 2_000, 10, 0);
    flow.answer(0, index, 1_900);
    // From 2,000 to 2,600 in 60 packets, and 20 more.
    flow.ack(10, 2_600, 60, 20);
    assert_eq!(flow.held(), Some(700 + 200));
}

#[test]
fn a_queue_pair_that_was_idle_takes_the_new_path_at_once() {
    let (mut flow, index) = Flow::probed();
    flow.ack(300, 3_000, 1, 0);
    assert!(flow.held().is_some());
    // The time has wrapped half way round.
    flow.now = flow.now.wrapping_add(3 << 30);
    assert_eq!(flow.held(), None);
    assert_eq!(flow.home(), index);
}

#[test]
fn a_timeout_and_a_request_of_the_receiver_draw_a_path_and_end_the_delay() {
    let (mut flow, _) = Flow::probed();
    flow.ack(300, 3_000, 1, 0);
    assert!(flow.held().is_some());
    let mut drawn = vec![];
    for _ in 0..4 {
        let home = flow.home();
        flow.spray
            .on_feedback(home, Feedback::Timeout, Ticks(flow.now));
        assert_eq!(flow.held(), None);
        drawn.push(flow.home());
        let asked = PathAck {
            entropy: flow.spray.entropy(home).expect("a path").0,
            hint: Feedback::AlwaysSkip,
            ..PathAck::default()
        };
        flow.spray.on_ack(&asked, Ticks(flow.now));
        drawn.push(flow.home());
        assert_eq!(indices(&mut flow.spray, 1), [flow.home().value()]);
    }
    drawn.sort_unstable();
    drawn.dedup();
    assert!(drawn.len() > 3, "{drawn:?}");
}
