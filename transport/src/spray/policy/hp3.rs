//! One path that stays congested is left for the one that answers a probe first, when nothing is in flight (HP3, IWQoS 2026).

use std::mem;

use stellar_wire::rows::{
    PathAck, WindowChange, DRAIN_PATIENCE, DRAIN_PROBES, DRAIN_REST, DRAIN_ROUNDS,
};

use super::PathPolicy;
use crate::rx::Psn;
use crate::spray::{EvIndex, Feedback, Paths, PlaneMask};
use crate::time::Ticks;

/// What the queue pair does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It sends, and counts rounds with marks.
    Watching,
    /// It sends no data, and waits for the first answer to a probe.
    Probing { since: Ticks },
    /// It sends no data until all of it is acknowledged, and then moves.
    Draining { to: EvIndex },
}

/// The state of one queue pair. A round is a round trip: it ends when everything is acknowledged that was sent before it began.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hp3 {
    base: u32,
    phase: Phase,
    /// First PSN behind the round. There is no round before the first acknowledgement.
    end: Option<Psn>,
    /// The round has a mark.
    marked: bool,
    /// Rounds in a row that had one.
    congested: u8,
    /// Rounds until data may pause again.
    rest: u8,
    /// Probes that are due, the first of which is that of the path in use; the index from which the next one's path is searched.
    to_probe: u8,
    probe_from: EvIndex,
    change: WindowChange,
}

impl Hp3 {
    pub fn new(base_rtt: Ticks) -> Self {
        Self {
            base: base_rtt.0,
            phase: Phase::Watching,
            end: None,
            marked: false,
            congested: 0,
            rest: 0,
            to_probe: 0,
            probe_from: EvIndex::active(0, 0),
            change: WindowChange::Keep,
        }
    }

    /// Ends a round. Returns whether the path stays congested.
    fn ends(&mut self, next: Psn) -> bool {
        let was_round = self.end.replace(next).is_some();
        let marked = was_round && self.marked;
        self.marked = false;
        self.rest = self.rest.saturating_sub(was_round.into());
        self.congested = if marked {
            (self.congested + 1).min(DRAIN_ROUNDS)
        } else {
            0
        };
        self.congested == DRAIN_ROUNDS && self.rest == 0
    }

    /// Stops to send data, and probes.
    fn pause(&mut self, paths: &mut Paths, now: Ticks) {
        self.phase = Phase::Probing { since: now };
        self.to_probe = DRAIN_PROBES;
        self.probe_from = paths.draw();
        self.change = WindowChange::Save;
        // Paths that were probed in an earlier pause are open again.
        paths.age_probed(true);
    }

    /// Begins to watch the path anew: no round is open.
    fn watch(&mut self) {
        self.phase = Phase::Watching;
        self.to_probe = 0;
        self.end = None;
        self.marked = false;
        self.congested = 0;
    }

    /// Sends again, with the window that `change` makes.
    fn resume(&mut self, change: WindowChange) {
        self.watch();
        // A pause that ends before its window was saved leaves it as it is.
        self.change = if self.change == WindowChange::Save {
            WindowChange::Keep
        } else {
            change
        };
    }

    /// Fast recovery: no path is better than the one in use.
    fn recover(&mut self) {
        self.resume(WindowChange::Restore);
        self.rest = DRAIN_REST;
    }

    /// The path in use does not work: it is left at once.
    fn fail(&mut self, paths: &mut Paths) {
        match self.phase {
            Phase::Watching => {
                self.watch();
                paths.draw_home();
            }
            Phase::Probing { .. } => {
                self.resume(WindowChange::Restore);
                paths.draw_home();
            }
            Phase::Draining { to } => {
                self.resume(WindowChange::Restore);
                paths.take_home(to);
            }
        }
    }
}

impl PathPolicy for Hp3 {
    fn on_feedback(&mut self, paths: &mut Paths, index: EvIndex, feedback: Feedback, _now: Ticks) {
        match feedback {
            Feedback::Timeout | Feedback::AlwaysSkip => self.fail(paths),
            // The probe that was answered first was marked.
            Feedback::Skip if self.phase == (Phase::Draining { to: index }) => self.recover(),
            _ => {}
        }
    }

    fn on_ack(&mut self, paths: &mut Paths, _index: Option<EvIndex>, ack: &PathAck, now: Ticks) {
        if ack.hint == Feedback::AlwaysSkip {
            self.fail(paths);
            return;
        }
        self.marked |= ack.hint != Feedback::Good && ack.packets > 0;
        let ends = self.end.is_none_or(|end| !ack.una.is_behind(end));
        if self.phase == Phase::Watching && ends && self.ends(ack.next_psn) {
            self.pause(paths, now);
        }
    }

    fn on_probe(&mut self, paths: &mut Paths, index: EvIndex, round_trip: u16, now: Ticks) {
        let Phase::Probing { since } = self.phase else {
            return;
        };
        // A probe that left before the pause says nothing of it.
        if u32::from(round_trip) > now.since(since).0 {
            return;
        }
        if paths.is_home(index) {
            self.recover();
        } else if !index.is_backup() && paths.slot_in_service(index).is_some() {
            self.to_probe = 0;
            self.phase = Phase::Draining { to: index };
        }
    }

    fn probe_due(&mut self, paths: &mut Paths, up: PlaneMask, _now: Ticks) -> Option<EvIndex> {
        self.to_probe = self.to_probe.checked_sub(1)?;
        let is_first = self.to_probe == DRAIN_PROBES - 1;
        let due = if is_first && up.contains(paths.home().0) {
            Some(paths.probe_home())
        } else {
            paths.next_unprobed(self.probe_from, up)
        };
        if due.is_some() {
            self.probe_from = paths.draw();
        } else {
            self.to_probe = 0;
        }
        due
    }

    fn on_empty(&mut self, paths: &mut Paths) {
        if let Phase::Draining { to } = self.phase {
            paths.take_home(to);
            self.resume(WindowChange::Raise);
        }
    }

    fn held_until(&mut self, _paths: &mut Paths, now: Ticks) -> Option<Ticks> {
        match self.phase {
            Phase::Watching => None,
            Phase::Probing { since } => {
                let patience = DRAIN_PATIENCE * self.base;
                if now.since(since).0 < patience {
                    return Some(since.plus(Ticks(patience)));
                }
                self.recover();
                None
            }
            // Acknowledgements end it, at the latest that of the path's own probe, which was sent behind all data: the receiver may withhold others. If that is lost,
            // the timeout does.
            Phase::Draining { .. } => Some(now.plus(Ticks(self.base))),
        }
    }

    fn resends_while_held(&self) -> bool {
        true
    }

    fn window_change(&mut self) -> WindowChange {
        mem::take(&mut self.change)
    }

    fn copy(&self) -> Box<dyn PathPolicy> {
        Box::new(*self)
    }
}
