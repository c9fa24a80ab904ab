//! Receive side of an Ethernet MAC: it turns frames into beats, not faster than the wire delivers them.

use std::collections::VecDeque;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::lane::MacBeat;

/// Bytes of a frame on the wire beyond those that reach the lane: FCS 4, preamble and start delimiter 8, gap 12 (IEEE 802.3).
pub const WIRE_OVERHEAD: u64 = 24;
const PREAMBLE: u64 = 8;
const FCS: u64 = 4;

/// The times of beats.
#[derive(Clone, Debug)]
pub enum Pacing {
    /// A port of this many bytes per cycle without idle time between frames: 100 is 200 Gb/s at 250 MHz.
    Line { bytes_per_clock: u64 },
    /// A beat in every cycle: faster than any wire, for stress.
    EveryClock,
    /// A beat in a cycle with this probability (percent), from a seed: gaps inside frames and between them.
    Random { percent: u32, seed: u64 },
}

/// A MAC port with frames waiting to be received.
pub struct MacPort {
    frames: VecDeque<(Vec<u8>, bool)>,
    /// Bytes of the first frame that have been output.
    sent: usize,
    beat_bytes: usize,
    pacing: Pacing,
    rng: ChaCha8Rng,
    /// Wire time, in bytes since the start, at which the first preamble byte of the first frame arrives.
    wire: u64,
    clock: u64,
}

impl MacPort {
    /// An idle port with beats of `beat_bytes` bytes.
    pub fn new(beat_bytes: usize, pacing: Pacing) -> Self {
        let seed = match pacing {
            Pacing::Random { seed, .. } => seed,
            _ => 0,
        };
        Self {
            frames: VecDeque::new(),
            sent: 0,
            beat_bytes,
            pacing,
            rng: ChaCha8Rng::seed_from_u64(seed),
            wire: 0,
            clock: 0,
        }
    }

    /// Queues a frame, from the destination address to the last byte before the FCS; `error` is the MAC's error flag for it.
    pub fn push(&mut self, frame: Vec<u8>, error: bool) {
        assert!(!frame.is_empty(), "a MAC never delivers an empty frame");
        if let (Pacing::Line { bytes_per_clock }, true) = (&self.pacing, self.frames.is_empty()) {
            // After an idle wire the frame starts now and not in the past.
            self.wire = self.wire.max(self.clock * bytes_per_clock);
        }
        self.frames.push_back((frame, error));
    }

    /// Number of frames that were not output completely.
    pub fn waiting(&self) -> usize {
        self.frames.len()
    }

    /// The beat of this cycle, if one is due. Call it once per cycle.
    pub fn clock(&mut self) -> Option<MacBeat> {
        self.clock += 1;
        let length = self.frames.front()?.0.len();
        let end = (self.sent + self.beat_bytes).min(length);
        let last = end == length;
        let due = match self.pacing {
            Pacing::EveryClock => true,
            Pacing::Random { percent, .. } => self.rng.random_range(0..100) < percent,
            Pacing::Line { bytes_per_clock } => {
                let arrived = self.wire + PREAMBLE + end as u64 + if last { FCS } else { 0 };
                arrived <= self.clock * bytes_per_clock
            }
        };
        if !due {
            return None;
        }
        let (frame, error) = self.frames.front().expect("looked at above");
        let beat = MacBeat {
            data: frame[self.sent..end].to_vec(),
            last,
            error: last && *error,
        };
        self.sent = end;
        if last {
            self.frames.pop_front();
            self.sent = 0;
            self.wire += length as u64 + WIRE_OVERHEAD;
        }
        Some(beat)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_arrive_at_line_rate_and_not_faster() {
        let mut mac = MacPort::new(
            128,
            Pacing::Line {
                bytes_per_clock: 100,
            },
        );
        for _ in 0..1000 {
            mac.push(vec![0; 1098], false);
        }
        let mut clocks = 0u64;
        while mac.waiting() > 0 {
            mac.clock();
            clocks += 1;
        }
        let wire_bytes = 1000 * (1098 + WIRE_OVERHEAD);
        assert!(
            clocks * 100 >= wire_bytes - 12,
            "{clocks} clocks for {wire_bytes} bytes"
        );
        assert!(clocks * 100 <= wire_bytes + 200);
    }

    #[test]
    fn beats_carry_the_frame_and_mark_its_end() {
        let frame: Vec<u8> = (0..=255).collect();
        for pacing in [
            Pacing::EveryClock,
            Pacing::Random {
                percent: 30,
                seed: 5,
            },
        ] {
            let mut mac = MacPort::new(64, pacing);
            mac.push(frame.clone(), true);
            let mut seen = vec![];
            let mut beats = 0;
            while mac.waiting() > 0 {
                if let Some(beat) = mac.clock() {
                    beats += 1;
                    assert_eq!(beat.last, beats == 4);
                    assert_eq!(beat.error, beat.last);
                    seen.extend(beat.data);
                }
            }
            assert_eq!(seen, frame);
        }
    }
}
