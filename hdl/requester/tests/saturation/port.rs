//! A port of the card, as the engine sees it: packet builder, payload reads, wire.

use std::collections::VecDeque;

/// Minimum number of cycles between packets.
const FRAMING: u64 = 3;
/// Maximum number of packets that wait for their payload, and cycles until the payload arrives.
const WAITING: usize = 64;
const PAYLOAD: u64 = 200;

/// Packets before the wire, in order.
pub struct Port {
    /// Packed `TxRequest`, and the time when its payload arrives.
    waiting: VecDeque<(u64, Vec<u32>)>,
    /// Time when the packet builder accepts the next packet.
    free_at: u64,
    /// Hundredths of a cycle that a packet takes on the wire, and those until the wire is free.
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

    /// Accepts a packet in this cycle.
    pub fn take(&mut self, now: u64, packet: Vec<u32>) {
        self.free_at = now + FRAMING;
        self.waiting.push_back((now + PAYLOAD, packet));
    }

    /// Runs one cycle. Returns the packet whose transmission starts in it.
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
