//! One path that changes when it is congested (FlowBender, CoNEXT 2014).

use stellar_wire::rows::{PathAck, BEND_ONE_IN};

use super::PathPolicy;
use crate::rx::Psn;
use crate::spray::{EvIndex, Feedback, Paths};
use crate::time::Ticks;

/// Largest count. A round acknowledges fewer packets: those of its window of 4,096, and as many behind it.
const MOST: u16 = (1 << 14) - 1;

/// A round is a round trip: it ends when everything is acknowledged that was sent before it began.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlowBender {
    /// Congested rounds in a row before the path changes.
    bend_after: u8,
    /// Those that there were.
    congested: u8,
    /// Packets acknowledged in this round, at most [`MOST`].
    packets: u16,
    /// Acknowledgements of these packets that carried a mark. A marked packet is acknowledged at once, so this is their number.
    marked: u16,
    /// First PSN behind the round. There is no round before the first acknowledgement.
    end: Option<Psn>,
}

impl FlowBender {
    pub fn new(bend_after: u8) -> Self {
        Self {
            bend_after,
            congested: 0,
            packets: 0,
            marked: 0,
            end: None,
        }
    }

    /// Counts a round that ends. Returns whether there were enough that were congested.
    fn bends_after(&mut self, congested: bool) -> bool {
        self.congested = if congested { self.congested + 1 } else { 0 };
        let bends = self.congested >= self.bend_after;
        if bends {
            self.congested = 0;
        }
        bends
    }
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
            bends |= self.bends_after(self.end.is_some() && congested);
            *self = Self {
                end: Some(ack.next_psn),
                congested: self.congested,
                ..Self::new(self.bend_after)
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
