//! Recycled entropies (REPS, "REPS: Recycled Entropy Packet Spraying for Adaptive Load Balancing and Failure Mitigation").

use stellar_wire::rows::PathAck;

use super::recycled::Recycled;
use super::PathPolicy;
use crate::spray::{EvIndex, Feedback, Paths};
use crate::time::Ticks;

#[derive(Clone, Debug, Default)]
pub(super) struct Reps {
    recycled: Recycled,
}

impl PathPolicy for Reps {
    fn choose(&mut self, paths: &mut Paths, plane: u8, candidates: u64) -> u8 {
        self.recycled.choose(paths, plane, candidates)
    }

    fn on_feedback(&mut self, _paths: &mut Paths, _index: EvIndex, feedback: Feedback, now: Ticks) {
        self.recycled.on_feedback(feedback, now);
    }

    fn on_ack(&mut self, paths: &mut Paths, index: Option<EvIndex>, ack: &PathAck, now: Ticks) {
        self.recycled.on_ack(paths, index, ack, now);
    }

    fn copy(&self) -> Box<dyn PathPolicy> {
        Box::new(self.clone())
    }
}
