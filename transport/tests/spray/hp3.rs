//! When HP3 pauses, and what ends the pause.

use stellar_transport::rx::Psn;
use stellar_transport::spray::{EvIndex, Feedback, PathAck, Policy, Spray};
use stellar_transport::time::Ticks;
use stellar_wire::rows::WindowChange;

use crate::spray::common::{spray, BASE_RTT};

const BASE: u32 = BASE_RTT.0;

/// A queue pair of 16 paths.
pub struct Flow {
    pub spray: Spray,
    pub now: u32,
    una: u32,
    next: u32,
}

impl Flow {
    fn new() -> Self {
        Self::with(spray(Policy::Hp3, 16))
    }

    pub fn with(spray: Spray) -> Self {
        Self {
            spray,
            now: 1_000_000,
            una: 0,
            next: 0,
        }
    }

    /// Acknowledges up to `una`, when the packets before `next` were sent.
    pub fn ack(&mut self, una: u32, next: u32, hint: Feedback) {
        let entropy = self.spray.entropy(self.spray.home()).expect("a path");
        let ack = PathAck {
            entropy: entropy.0,
            hint,
            sampled: false,
            round_trip: 0,
            packets: (una - self.una) as u16,
            una: Psn::new(una),
            next_psn: Psn::new(next),
            in_flight: 0,
        };
        (self.una, self.next) = (una, next);
        self.spray.on_ack(&ack, Ticks(self.now));
    }

    /// Rounds of ten packets, with these marks.
    fn rounds(&mut self, marks: &[bool]) {
        for &marked in marks {
            let hint = if marked {
                Feedback::Skip
            } else {
                Feedback::Good
            };
            self.ack(self.una + 5, self.una + 15, hint);
            self.ack(self.una + 5, self.una + 15, Feedback::Good);
        }
    }

    pub fn probes(&mut self) -> Vec<EvIndex> {
        std::iter::from_fn(|| self.spray.probe_due(Ticks(self.now))).collect()
    }

    /// Ticks until data may be sent or the queue pair asks again.
    pub fn held(&mut self) -> Option<u32> {
        let now = Ticks(self.now);
        let mut until = self.spray.held_until(now)?;
        if self.una == self.next {
            self.spray.on_empty();
            until = self.spray.held_until(now)?;
        }
        Some(until.since(Ticks(self.now)).0)
    }

    pub fn answer(&mut self, passed: u32, index: EvIndex, marked: bool) {
        self.now += passed;
        let now = Ticks(self.now);
        self.spray.on_probe(index, passed as u16, now);
        if marked {
            self.spray.on_feedback(index, Feedback::Skip, now);
        }
    }

    /// In a pause, with the paths that are probed: that in use first.
    fn paused() -> (Self, Vec<EvIndex>) {
        let mut flow = Self::new();
        flow.rounds(&[false, true, true, true, true]);
        assert_eq!(flow.held(), Some(2 * BASE));
        assert_eq!(flow.spray.window_change(), WindowChange::Save);
        let probes = flow.probes();
        (flow, probes)
    }
}

#[test]
fn data_pauses_after_three_marked_rounds_in_a_row() {
    let mut flow = Flow::new();
    // The acknowledgement that begins the first round counts for none.
    flow.rounds(&[true, true, true, false, true, true, false]);
    assert_eq!((flow.held(), flow.probes()), (None, vec![]));
    let (flow, probes) = Flow::paused();
    assert_eq!(probes.len(), 8);
    assert_eq!(probes[0], flow.spray.home());
    let mut different = probes.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), 8);
}

#[test]
fn the_path_changes_to_the_first_that_answers_when_nothing_is_in_flight() {
    let (mut flow, probes) = Flow::paused();
    let home = flow.spray.home();
    flow.answer(600, probes[3], false);
    flow.answer(10, probes[5], false);
    assert!(flow.held().is_some());
    flow.ack(flow.next - 1, flow.next, Feedback::Skip);
    assert!(flow.held().is_some());
    assert_eq!(
        (flow.spray.home(), flow.spray.window_change()),
        (home, WindowChange::Keep)
    );
    flow.ack(flow.next, flow.next, Feedback::Skip);
    assert_eq!(flow.held(), None);
    assert_eq!(flow.spray.home(), probes[3]);
    assert_eq!(flow.spray.window_change(), WindowChange::Raise);
}

#[test]
fn the_path_stays_if_it_answers_first_or_the_first_answer_is_marked_or_none_comes() {
    for case in 0..3 {
        let (mut flow, probes) = Flow::paused();
        let home = flow.spray.home();
        match case {
            0 => flow.answer(600, probes[0], false),
            1 => flow.answer(600, probes[2], true),
            _ => flow.now += 2 * BASE,
        }
        assert_eq!(flow.held(), None, "case {case}");
        assert_eq!(flow.spray.window_change(), WindowChange::Restore);
        assert_eq!((flow.spray.home(), flow.probes()), (home, vec![]));
        // What comes later changes nothing, and eight rounds pass without another pause.
        flow.answer(10, probes[4], false);
        flow.rounds(&[true; 8]);
        assert_eq!(flow.held(), None);
        flow.rounds(&[true; 2]);
        assert!(flow.held().is_some(), "case {case}");
    }
}

#[test]
fn an_answer_to_a_probe_from_before_the_pause_does_not_count() {
    let (mut flow, probes) = Flow::paused();
    flow.now += 100;
    flow.spray.on_probe(probes[1], 101, Ticks(flow.now));
    flow.spray.on_probe(probes[0], 101, Ticks(flow.now));
    assert_eq!(flow.held(), Some(2 * BASE - 100));
}

#[test]
fn a_timeout_leaves_the_path_at_once() {
    let (mut flow, probes) = Flow::paused();
    flow.answer(600, probes[3], false);
    let now = Ticks(flow.now);
    let home = flow.spray.home();
    flow.spray.on_feedback(home, Feedback::Timeout, now);
    assert_eq!((flow.held(), flow.spray.home()), (None, probes[3]));
    assert_eq!(flow.spray.window_change(), WindowChange::Restore);
}
