//! Counters of the lane.

use super::{AckKind, DropReason, RxDecision};

/// Counters of a lane. The hardware's have 48 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    by_reason: [u64; DropReason::COUNT],
    by_ack_kind: [u64; AckKind::COUNT],
    /// Frames, good and bad.
    pub frames: u64,
    /// Payload bytes placed.
    pub bytes_placed: u64,
    /// Write TLPs.
    pub tlps: u64,
}

impl Counters {
    /// Frames dropped for `reason`; for [`DropReason::None`], packets accepted.
    pub fn reason(&self, reason: DropReason) -> u64 {
        self.by_reason[usize::from(reason.index())]
    }

    /// Acknowledgement requests of a kind.
    pub fn ack_kind(&self, kind: AckKind) -> u64 {
        self.by_ack_kind[usize::from(kind.index())]
    }

    /// Counts a frame with the reason that a hardware lane reported for it.
    pub fn count_reported(&mut self, reason: DropReason) {
        self.frames += 1;
        self.by_reason[usize::from(reason.index())] += 1;
    }

    /// Counts the packet of one frame.
    pub(super) fn count(&mut self, decision: &RxDecision) {
        self.count_reported(decision.reason);
        if let Some(place) = &decision.place {
            self.bytes_placed += u64::from(place.length);
        }
        if let Some(ack) = &decision.ack {
            self.by_ack_kind[usize::from(ack.body.kind().index())] += 1;
        }
    }
}
