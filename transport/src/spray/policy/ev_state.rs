//! States of entropy values (OCP MRC 1.0). They are kept in the tables of [`Paths`], because values that are withdrawn are replaced by backups.

use super::PathPolicy;
use crate::spray::{EvIndex, EvState, Feedback, Paths};
use crate::time::Ticks;

#[derive(Clone, Copy, Debug)]
pub(super) struct EvStates;

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

    fn copy(&self) -> Box<dyn PathPolicy> {
        Box::new(*self)
    }
}
