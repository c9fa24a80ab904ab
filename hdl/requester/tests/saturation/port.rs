//! A port of the card as the engine sees it: framing, reads of payload, the wire.

use std::collections::VecDeque;

/// Cycles from a packet taken to the next.
const FRAMING: u64 = 3;
/// Packets that wait for their payload, and cycles until it has come.
const WAITING: usize = 64;
const PAYLOAD: u64 = 200;

/// Packets under way to the wire, in the order they came.
pub struct Port {
    /// Packed `TxRequest`, and when its payload is there.
    waiting: VecDeque<(u64, Vec<u32>)>,
    /// When framing takes the next one.
    free_at: u64,
    /// Hundredths of a cycle that a packet takes on the wire, and those until the next one may leave.
    cycles: u32,
    busy: u32,
}

impl Port {
    pub const fn new(cycles: u32) -> Self {
        Self {
            waiting: VecDeque::new(),
            free_at: 0,
            cycles,
            busy: 0,
        }
    }

    pub fn is_ready(&self, now: u64) -> bool {
        self.free_at <= now && self.waiting.len() < WAITING
    }

    /// Takes a packet in this cycle.
    pub fn take(&mut self, now: u64, packet: Vec<u32>) {
        self.free_at = now + FRAMING;
        self.waiting.push_back((now + PAYLOAD, packet));
    }

    /// One cycle. Returns the packet whose transmission starts in it.
    pub fn leave(&mut self, now: u64) -> Option<Vec<u32>> {
        self.busy = self.busy.saturating_sub(100);
        let (due, _) = self.waiting.front()?;
        if *due > now || self.busy >= 100 {
            return None;
        }
        self.busy += self.cycles;
        self.waiting.pop_front().map(|(_, packet)| packet)
    }
}
