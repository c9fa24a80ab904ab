//! Transmit side of an Ethernet MAC: beats to frames.

use std::collections::VecDeque;

use sim_net::MIN_FRAME;

use crate::beat::Beat;
use crate::pacing::WIRE_OVERHEAD;
use crate::BEAT;

/// Complete frames that may wait for the network.
const WAITING: usize = 2;

/// The transmit side of a MAC. It accepts beats as fast as the wire carries them, and collects frames.
pub struct MacTx {
    bytes_per_clock: u64,
    part: Vec<u8>,
    /// Bytes on the wire that were accepted and not sent yet.
    backlog: u64,
    /// Complete frames.
    frames: VecDeque<Vec<u8>>,
}

impl MacTx {
    /// An idle MAC of a port of this rate.
    pub fn new(bytes_per_clock: u64) -> Self {
        Self {
            bytes_per_clock,
            part: Vec::new(),
            backlog: 0,
            frames: VecDeque::new(),
        }
    }

    /// Whether the next beat begins a frame.
    pub fn between_frames(&self) -> bool {
        self.part.is_empty()
    }

    /// Whether a beat is accepted in this cycle. Call it once per cycle.
    pub fn ready(&mut self) -> bool {
        self.backlog = self.backlog.saturating_sub(self.bytes_per_clock);
        self.backlog < BEAT as u64 && self.frames.len() < WAITING
    }

    /// Accepts a beat.
    pub fn push(&mut self, beat: &Beat) {
        self.backlog += beat.bytes as u64;
        beat.append_to(beat.bytes, &mut self.part);
        if beat.last {
            let padding = MIN_FRAME.saturating_sub(self.part.len());
            self.backlog += WIRE_OVERHEAD + padding as u64;
            // The next frame probably has the same length. Reserving that avoids copies while it grows.
            let room = Vec::with_capacity(self.part.len());
            self.frames
                .push_back(std::mem::replace(&mut self.part, room));
        }
    }

    /// The next complete frame.
    pub fn pop(&mut self) -> Option<Vec<u8>> {
        self.frames.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes per cycle: less than the shortest frame takes, so that the wire is the limit.
    const RATE: u64 = 50;

    /// Cycles in which `count` copies of `frame` are accepted, if each is taken as soon as it is complete.
    fn clocks(count: usize, frame: &[u8]) -> u64 {
        let mut mac = MacTx::new(RATE);
        let mut clocks = 0;
        for _ in 0..count {
            for (i, chunk) in frame.chunks(BEAT).enumerate() {
                assert_eq!(mac.between_frames(), i == 0);
                clocks += 1;
                while !mac.ready() {
                    clocks += 1;
                }
                mac.push(&Beat::new(chunk, (i + 1) * BEAT >= frame.len()));
            }
            assert_eq!(mac.pop().as_deref(), Some(frame));
        }
        clocks
    }

    #[test]
    fn frames_leave_at_line_rate_and_short_ones_are_padded() {
        for (length, on_wire) in [(1098, 1098 + 24), (20, 60 + 24)] {
            let frame: Vec<u8> = (0..length).map(|i| i as u8).collect();
            let sent = RATE * clocks(1000, &frame);
            let wire_bytes = 1000 * on_wire;
            assert!(sent <= wire_bytes + RATE, "{length}: {sent}");
            // Less than a beat waits when another one is accepted, with the overhead of a frame.
            let ahead = 2 * BEAT as u64 + WIRE_OVERHEAD;
            assert!(sent + ahead >= wire_bytes, "{length}: {sent}");
        }
    }

    #[test]
    fn frames_that_nobody_takes_stop_the_stream() {
        let mut mac = MacTx::new(RATE);
        for _ in 0..WAITING {
            while !mac.ready() {}
            mac.push(&Beat::new(&[1; 64], true));
        }
        assert!((0..100).all(|_| !mac.ready()));
        assert!(mac.pop().is_some());
        assert!(mac.ready());
    }
}
