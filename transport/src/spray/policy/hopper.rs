//! One path, and probes of others when it is slow (Hopper, "Host-based load balancing for RDMA in AI clusters").

use stellar_wire::rows::{
    PathAck, HOP_BETTER, HOP_EPOCHS, HOP_MOST_DELAY, HOP_PROBES, HOP_PROBE_HALVES,
    HOP_SWITCH_HALVES,
};

use super::PathPolicy;
use crate::spray::{EvIndex, Feedback, Paths, PlaneMask};
use crate::time::Ticks;

/// Largest count of packets that a line spans.
const MOST: u16 = (1 << 13) - 1;

/// A path that was probed.
#[derive(Clone, Copy, Debug)]
struct Alternative {
    index: EvIndex,
    round_trip: u16,
    /// The probe was answered.
    at: Ticks,
}

/// A switch that waits until the packets on the old path have a head start.
#[derive(Clone, Copy, Debug)]
struct Hop {
    to: EvIndex,
    at: Ticks,
}

/// The state of one queue pair. An epoch is at least a base round trip; it begins with an acknowledgement. In an epoch there is at most one round of probes and at
/// most one decision.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hopper {
    base: u32,
    /// Start of the epoch.
    epoch: Option<Ticks>,
    may_probe: bool,
    may_switch: bool,
    /// Probes that are due, and the index from which the next one's path is searched.
    to_probe: u8,
    probe_from: EvIndex,
    /// The line through the round trips of the path: its first one, and the packets acknowledged since then.
    first: Option<u16>,
    acked: u16,
    /// The fastest path of those whose probes were answered of late.
    best: Option<Alternative>,
    hop: Option<Hop>,
}

impl Hopper {
    pub fn new(base_rtt: Ticks) -> Self {
        Self {
            base: base_rtt.0,
            epoch: None,
            may_probe: false,
            may_switch: false,
            to_probe: 0,
            probe_from: EvIndex::active(0, 0),
            first: None,
            acked: 0,
            best: None,
            hop: None,
        }
    }

    /// Begins an epoch, if a base round trip has passed. Returns whether it did.
    fn begins(&mut self, paths: &mut Paths, now: Ticks) -> bool {
        let since = self.epoch.map_or(u32::MAX, |epoch| now.since(epoch).0);
        let begins = since >= self.base;
        if begins {
            paths.age_probed(since >= HOP_EPOCHS * self.base);
            self.epoch = Some(now);
            self.may_probe = true;
            self.may_switch = true;
        }
        begins
    }

    /// Whether the alternative counts still.
    fn counts(&self, best: &Alternative, now: Ticks) -> bool {
        now.since(best.at).0 <= HOP_EPOCHS * self.base
    }

    /// Takes the round trip of a packet on the path in use, which was `rise` shorter at the start of a line over `acked` packets. `outstanding` packets were sent
    /// and are not acknowledged.
    fn sampled(&mut self, paths: &mut Paths, sample: Sample, now: Ticks) {
        let round_trip = u32::from(sample.round_trip);
        if self.hop.is_some() {
            return;
        }
        if self.may_probe && 2 * round_trip > HOP_PROBE_HALVES * self.base {
            self.may_probe = false;
            self.to_probe = HOP_PROBES;
            self.probe_from = paths.draw();
        }
        if !self.may_switch || 2 * round_trip <= HOP_SWITCH_HALVES * self.base {
            return;
        }
        self.may_switch = false;
        let better = |best: &Alternative| {
            HOP_BETTER * u32::from(best.round_trip) < (HOP_BETTER - 1) * round_trip
        };
        if let Some(best) = self
            .best
            .filter(|best| self.counts(best, now) && better(best))
        {
            let delay = round_trip - u32::from(best.round_trip) + sample.growth();
            let most = HOP_MOST_DELAY * self.base;
            self.best = None;
            self.to_probe = 0;
            self.hop = Some(Hop {
                to: best.index,
                at: now.plus(Ticks(delay.min(most))),
            });
        }
    }

    /// The path is another one now, or may be.
    fn leave(&mut self) {
        self.hop = None;
        self.first = None;
    }
}

/// A round trip of the path in use.
struct Sample {
    round_trip: u16,
    /// Since the line began: growth, and packets acknowledged.
    rise: u16,
    acked: u16,
    /// Packets that were sent and are not acknowledged.
    outstanding: u16,
}

impl Sample {
    /// How much the round trip grows until the last packet that was sent, if it goes on as on the line.
    fn growth(&self) -> u32 {
        let rise = u32::from(self.rise) * u32::from(self.outstanding);
        rise.checked_div(self.acked.into()).unwrap_or(0)
    }
}

impl PathPolicy for Hopper {
    fn on_feedback(&mut self, paths: &mut Paths, _index: EvIndex, feedback: Feedback, _now: Ticks) {
        if matches!(feedback, Feedback::Timeout | Feedback::AlwaysSkip) {
            self.leave();
            paths.draw_home();
        }
    }

    fn on_ack(&mut self, paths: &mut Paths, index: Option<EvIndex>, ack: &PathAck, now: Ticks) {
        let begins = self.begins(paths, now);
        if ack.hint == Feedback::AlwaysSkip {
            self.leave();
            paths.draw_home();
            return;
        }
        let acked = (self.acked + ack.packets).min(MOST);
        let is_home = index.is_some_and(|index| paths.is_home(index));
        if ack.sampled && is_home {
            let outstanding = ack.next_psn.distance_from(ack.una) as u16 & MOST;
            let (rise, acked) = match self.first {
                Some(first) => (ack.round_trip.saturating_sub(first), acked),
                None => (0, 0),
            };
            let sample = Sample {
                round_trip: ack.round_trip,
                rise,
                acked,
                outstanding,
            };
            self.sampled(paths, sample, now);
        }
        if ack.sampled && is_home && (begins || self.first.is_none()) {
            // The sample ends the line of the epoch before, and begins the one of this.
            self.first = Some(ack.round_trip);
            self.acked = 0;
        } else if begins {
            self.first = None;
        } else {
            self.acked = acked;
        }
    }

    fn on_probe(&mut self, paths: &mut Paths, index: EvIndex, round_trip: u16, now: Ticks) {
        let known = !index.is_backup() && paths.slot_in_service(index).is_some();
        let stays = |best: &Alternative| {
            best.index != index && best.round_trip < round_trip && self.counts(best, now)
        };
        if known && !paths.is_home(index) && !self.best.as_ref().is_some_and(stays) {
            self.best = Some(Alternative {
                index,
                round_trip,
                at: now,
            });
        }
    }

    fn probe_due(&mut self, paths: &mut Paths, up: PlaneMask, _now: Ticks) -> Option<EvIndex> {
        self.to_probe = self.to_probe.checked_sub(1)?;
        let due = paths.next_unprobed(self.probe_from, up);
        if due.is_some() {
            self.probe_from = paths.draw();
        } else {
            self.to_probe = 0;
        }
        due
    }

    fn held_until(&mut self, paths: &mut Paths, now: Ticks) -> Option<Ticks> {
        let hop = self.hop?;
        // A delay is short. If less time has passed than before it was over, the queue pair was idle for long.
        let left = hop.at.since(now).0;
        if left > 0 && left <= HOP_MOST_DELAY * self.base {
            return Some(hop.at);
        }
        paths.take_home(hop.to);
        self.leave();
        None
    }

    fn copy(&self) -> Box<dyn PathPolicy> {
        Box::new(*self)
    }
}
