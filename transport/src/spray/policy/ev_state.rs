//! States of entropy values (OCP MRC 1.0). They are kept in the tables of [`Paths`], because values that are withdrawn are replaced by backups.

use super::PathPolicy;
use crate::spray::{EvIndex, EvState, Feedback, Paths, PlaneMask};
use crate::time::Ticks;

#[derive(Clone, Copy, Debug)]
pub(super) struct EvStates {
    probe_interval: Ticks,
    last_probe: Option<Ticks>,
    /// Where the search for the next value to probe starts.
    probe_from: EvIndex,
}

impl EvStates {
    pub fn new(probe_interval: Ticks) -> Self {
        Self {
            probe_interval,
            last_probe: None,
            probe_from: EvIndex::active(0, 0),
        }
    }
}

impl PathPolicy for EvStates {
    /// A denied value stays denied, and one that is assumed bad stays so until a probe is answered.
    fn on_feedback(&mut self, paths: &mut Paths, index: EvIndex, feedback: Feedback, _now: Ticks) {
        let next = match (paths.state(index), feedback) {
            (None | Some(EvState::Denied), _) | (_, Feedback::Good) => return,
            (Some(_), Feedback::Timeout | Feedback::AlwaysSkip) => EvState::AssumedBad,
            (Some(EvState::AssumedBad), Feedback::ProbeAnswered) => EvState::Good,
            (Some(EvState::Good | EvState::Skip), Feedback::Skip | Feedback::Trimmed) => {
                EvState::Skip
            }
            (Some(_), Feedback::Skip | Feedback::Trimmed | Feedback::ProbeAnswered) => return,
        };
        paths.set_state(index, next);
    }

    /// The next value that is assumed bad in a plane that is up, going round, at most one per probe interval.
    fn probe_due(&mut self, paths: &mut Paths, up: PlaneMask, now: Ticks) -> Option<EvIndex> {
        if self
            .last_probe
            .is_some_and(|last| !now.elapsed(last, self.probe_interval))
        {
            return None;
        }
        let from = self.probe_from;
        let due = paths
            .tables()
            .iter()
            .filter_map(|table| table.next_assumed_bad(from))
            .filter(|index| up.contains(index.plane()))
            .min_by_key(|index| index.value().wrapping_sub(from.value()))?;
        self.last_probe = Some(now);
        self.probe_from = EvIndex::new(due.value() + 1).unwrap_or(EvIndex::active(0, 0));
        Some(due)
    }

    fn copy(&self) -> Box<dyn PathPolicy> {
        Box::new(*self)
    }
}
