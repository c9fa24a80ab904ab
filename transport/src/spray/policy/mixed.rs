//! Recycled paths, and otherwise the order without the turns that paths lost (`mixed` of the Ultra Ethernet Consortium's simulator).

use stellar_wire::rows::PathAck;

use super::bitmap::turns;
use super::recycled::Recycled;
use super::PathPolicy;
use crate::spray::{EvIndex, Feedback, Paths};
use crate::time::Ticks;

#[derive(Clone, Debug, Default)]
pub(super) struct Mixed {
    recycled: Recycled,
}

impl PathPolicy for Mixed {
    fn choose(&mut self, paths: &mut Paths, plane: u8, candidates: u64) -> u8 {
        self.recycled.choose(paths, plane, candidates)
    }

    fn on_feedback(&mut self, paths: &mut Paths, index: EvIndex, feedback: Feedback, now: Ticks) {
        self.recycled.on_feedback(feedback, now);
        paths.lose_turns(index, turns(feedback));
    }

    fn on_ack(&mut self, paths: &mut Paths, index: Option<EvIndex>, ack: &PathAck, now: Ticks) {
        self.recycled.on_ack(paths, index, ack, now);
        if let Some(index) = index {
            paths.lose_turns(index, turns(ack.hint));
        }
    }

    fn copy(&self) -> Box<dyn PathPolicy> {
        Box::new(self.clone())
    }
}
