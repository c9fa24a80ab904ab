//! The MACs of a port: frames to beats and beats to frames, not faster than the wire.

use std::collections::VecDeque;

use sim_net::{FCS, GAP, MIN_FRAME, PREAMBLE};

use crate::beat::Beat;
use crate::BEAT;

/// A port's rate in bytes per cycle: 200 Gb/s at 250 MHz.
const BYTES_PER_CLOCK: u64 = 100;

/// Receive side. It outputs frames not faster than the wire delivers them.
#[derive(Default)]
pub struct MacRx {
    frames: VecDeque<Vec<u8>>,
    /// Bytes of the first frame that have been output.
    given: usize,
    /// Bytes that the wire has delivered and that were not output. While nothing waits, at most one beat.
    brought: u64,
}

impl MacRx {
    /// A frame begins to arrive: destination address to iCRC.
    pub fn push(&mut self, frame: Vec<u8>) {
        self.frames.push_back(frame);
    }

    /// The beat of this cycle. In the world a frame arrives at once, so only the distance of its beats is simulated here.
    pub fn clock(&mut self) -> Option<Beat> {
        self.brought = (self.brought + BYTES_PER_CLOCK).min(2 * BEAT as u64);
        let frame = self.frames.front()?;
        let end = (self.given + BEAT).min(frame.len());
        let last = end == frame.len();
        let overhead = (PREAMBLE + FCS + GAP) as u64;
        let wire = (end - self.given) as u64 + if last { overhead } else { 0 };
        if self.brought < wire.min(2 * BEAT as u64) {
            return None;
        }
        self.brought = self.brought.saturating_sub(wire);
        let beat = Beat::new(&frame[self.given..end], last);
        self.given = end;
        if last {
            self.given = 0;
            self.frames.pop_front();
        }
        Some(beat)
    }
}

/// Transmit side: accepts beats as fast as the wire carries them, frame by frame.
#[derive(Default)]
pub struct MacTx {
    part: Vec<u8>,
    /// Bytes on the wire that were accepted and not sent yet.
    backlog: u64,
    /// Complete frames.
    frames: VecDeque<Vec<u8>>,
}

/// Frames that may wait for the world's line.
const WAITING: usize = 2;

impl MacTx {
    /// Whether the next beat begins a frame.
    pub fn between_frames(&self) -> bool {
        self.part.is_empty()
    }

    /// Whether a beat is accepted in this cycle. Call it once per cycle.
    pub fn ready(&mut self) -> bool {
        self.backlog = self.backlog.saturating_sub(BYTES_PER_CLOCK);
        self.backlog < BEAT as u64 && self.frames.len() < WAITING
    }

    /// Accepts a beat.
    pub fn push(&mut self, beat: &Beat) {
        self.backlog += beat.bytes as u64;
        beat.append_to(&mut self.part);
        if beat.last {
            let padding = MIN_FRAME.saturating_sub(self.part.len());
            self.backlog += (PREAMBLE + FCS + GAP + padding) as u64;
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
