//! One path that changes when it is congested (FlowBender, CoNEXT 2014).

use stellar_wire::rows::{PathAck, BEND_ONE_IN};

use super::PathPolicy;
use crate::rx::Psn;
use crate::spray::{EvIndex, Feedback, Paths};
use crate::time::Ticks;

/// Largest count. A round acknowledges fewer packets: those of its window of 4,096, and as many behind it.
const MOST: u16 = (1 << 14) - 1;

/// A round is a round trip: it ends when everything is acknowledged that was sent before it began. The number of congested rounds before the path changes is one, as in
/// the paper's defaults.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FlowBender {
    /// Packets acknowledged in this round, at most [`MOST`].
    packets: u16,
    /// Acknowledgements of these packets that carried a mark. A marked packet is acknowledged at once, so this is their number.
    marked: u16,
    /// First PSN behind the round. There is no round before the first acknowledgement.
    end: Option<Psn>,
}

impl PathPolicy for FlowBender {
    fn on_feedback(&mut self, paths: &mut Paths, _index: EvIndex, feedback: Feedback, _now: Ticks) {
        if matches!(feedback, Feedback::Timeout | Feedback::AlwaysSkip) {
            paths.draw_home();
        }
    }

    fn on_ack(&mut self, paths: &mut Paths, _index: Option<EvIndex>, ack: &PathAck, _now: Ticks) {
        let marked = u16::from(ack.hint != Feedback::Good && ack.packets > 0);
        self.packets = (self.packets + ack.packets).min(MOST);
        self.marked = (self.marked + marked).min(MOST);
        let mut bends = ack.hint == Feedback::AlwaysSkip;
        if self.end.is_none_or(|end| !ack.una.is_behind(end)) {
            let congested = u32::from(self.marked) * BEND_ONE_IN > u32::from(self.packets);
            bends |= self.end.is_some() && congested;
            *self = Self {
                end: Some(ack.next_psn),
                ..Self::default()
            };
        }
        if bends {
            paths.draw_home();
        }
    }

    fn copy(&self) -> Box<dyn PathPolicy> {
        Box::new(*self)
    }
}
