//! Paths that are taken again because packets on them were acknowledged without a mark.

use stellar_wire::rows::{PathAck, EXPLORED_PACKETS, FREEZE_TICKS, RECYCLED_BITS};

use crate::spray::{EvIndex, Feedback, Paths};
use crate::time::Ticks;

/// Paths that a plane remembers.
const PATHS: u8 = 1 << RECYCLED_BITS;

/// What both planes of a queue pair remember. After a timeout nothing new is trusted for a while: the remembered paths are taken in turn.
#[derive(Clone, Debug, Default)]
pub(super) struct Recycled {
    rings: [Ring; 2],
    /// The remembered paths are taken in turn, until this time.
    frozen: Option<Ticks>,
    /// Packets that have to be acknowledged before paths are remembered.
    explore: u8,
}

/// The paths of one plane, by slot. The fresh ones, which were not taken again yet, are those before `head`.
#[derive(Clone, Copy, Debug, Default)]
struct Ring {
    slots: [u8; PATHS as usize],
    /// Where the next path is written.
    head: u8,
    fresh: u8,
    /// Entries that were ever written.
    filled: u8,
}

impl Recycled {
    /// A remembered slot, or else the next one in order.
    pub(super) fn choose(&mut self, paths: &mut Paths, plane: u8, candidates: u64) -> u8 {
        self.take(plane, candidates)
            .unwrap_or_else(|| paths.next_in_order(plane, candidates))
    }

    /// A remembered slot of `plane` among `candidates`: the oldest fresh one, or while frozen the next in turn. Fresh ones that are no candidates are forgotten.
    fn take(&mut self, plane: u8, candidates: u64) -> Option<u8> {
        let frozen = self.frozen.is_some();
        let ring = &mut self.rings[usize::from(plane)];
        let usable = |slot: &u8| candidates >> slot & 1 == 1;
        while let Some(slot) = ring.pop() {
            if usable(&slot) {
                return Some(slot);
            }
        }
        if !frozen || !ring.written().iter().any(usable) {
            return None;
        }
        std::iter::repeat_with(|| ring.turn()).find(usable)
    }

    pub(super) fn on_feedback(&mut self, feedback: Feedback, now: Ticks) {
        self.thaw(now);
        if feedback == Feedback::Timeout && self.frozen.is_none() && self.explore == 0 {
            self.frozen = Some(now.plus(Ticks(FREEZE_TICKS)));
        }
    }

    /// Remembers the path of an acknowledgement without a mark, unless it was withdrawn meanwhile.
    pub(super) fn on_ack(
        &mut self,
        paths: &Paths,
        index: Option<EvIndex>,
        ack: &PathAck,
        now: Ticks,
    ) {
        self.thaw(now);
        if self.explore > 0 {
            let packets = u8::try_from(ack.packets).unwrap_or(u8::MAX);
            self.explore = self.explore.saturating_sub(packets);
            return;
        }
        let Some(index) = index.filter(|_| ack.hint == Feedback::Good) else {
            return;
        };
        if let Some(slot) = paths.slot_in_service(index) {
            self.rings[usize::from(index.plane())].push(slot);
        }
    }

    /// Ends the time after a timeout. What was remembered is as old as that: other paths are explored.
    fn thaw(&mut self, now: Ticks) {
        if self.frozen.is_some_and(|until| now.reached(until)) {
            *self = Self {
                explore: EXPLORED_PACKETS,
                ..Self::default()
            };
        }
    }
}

impl Ring {
    fn written(&self) -> &[u8] {
        &self.slots[..usize::from(self.filled)]
    }

    fn push(&mut self, slot: u8) {
        self.slots[usize::from(self.head)] = slot;
        self.filled = self.filled.max(self.head + 1);
        self.head = (self.head + 1) % PATHS;
        self.fresh = (self.fresh + 1).min(PATHS);
    }

    /// Takes the oldest fresh slot.
    fn pop(&mut self) -> Option<u8> {
        let at = (PATHS + self.head - self.fresh) % PATHS;
        self.fresh = self.fresh.checked_sub(1)?;
        Some(self.slots[usize::from(at)])
    }

    /// Takes the next slot in turn; there is none fresh.
    fn turn(&mut self) -> u8 {
        let at = if self.head < self.filled {
            self.head
        } else {
            0
        };
        self.head = (at + 1) % PATHS;
        self.slots[usize::from(at)]
    }
}
