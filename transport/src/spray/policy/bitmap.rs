//! Turns that a path loses (STrack, the bitmap of the Ultra Ethernet Consortium's simulator).

use stellar_wire::rows::{MARK_TURNS, MOST_TURNS, TRIM_TURNS};

use super::PathPolicy;
use crate::spray::{EvIndex, Feedback, Paths};
use crate::time::Ticks;

#[derive(Clone, Copy, Debug)]
pub(super) struct Bitmap;

/// Turns that a path loses for feedback about it.
pub(super) const fn turns(feedback: Feedback) -> u8 {
    match feedback {
        Feedback::Good | Feedback::ProbeAnswered => 0,
        Feedback::Skip => MARK_TURNS,
        Feedback::Trimmed => TRIM_TURNS,
        Feedback::Timeout | Feedback::AlwaysSkip => MOST_TURNS,
    }
}

impl PathPolicy for Bitmap {
    fn on_feedback(&mut self, paths: &mut Paths, index: EvIndex, feedback: Feedback, _now: Ticks) {
        paths.lose_turns(index, turns(feedback));
    }

    fn copy(&self) -> Box<dyn PathPolicy> {
        Box::new(*self)
    }
}
