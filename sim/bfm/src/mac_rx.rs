//! Receive side of an Ethernet MAC: frames to beats.

use std::collections::VecDeque;

use crate::beat::Beat;
use crate::pacing::{NextBeat, Pacer, Pacing};
use crate::BEAT;

/// A beat that a MAC outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MacBeat {
    /// The beat's bytes: all of the width, except in the last beat of a frame.
    pub beat: Beat,
    /// With the last beat: the frame is damaged.
    pub error: bool,
}

/// The receive side of a MAC, with frames that were not output yet.
pub struct MacRx {
    /// Frames, and whether each is damaged.
    frames: VecDeque<(Vec<u8>, bool)>,
    /// Bytes of the first frame that have been output.
    sent: usize,
    beat_bytes: usize,
    pacer: Pacer,
}

impl MacRx {
    /// An idle MAC with beats of `beat_bytes` bytes.
    ///
    /// # Panics
    /// If a [`Beat`] cannot hold so many bytes.
    pub fn new(beat_bytes: usize, pacing: &Pacing) -> Self {
        assert!(
            (1..=BEAT).contains(&beat_bytes),
            "a beat has 1 to {BEAT} bytes, not {beat_bytes}"
        );
        Self {
            frames: VecDeque::new(),
            sent: 0,
            beat_bytes,
            pacer: Pacer::new(pacing, beat_bytes),
        }
    }

    /// Queues a frame, from the destination address to the last byte before the FCS. `error` says that it is damaged.
    ///
    /// # Panics
    /// If the frame is empty: no MAC delivers one.
    pub fn push(&mut self, frame: Vec<u8>, error: bool) {
        assert!(!frame.is_empty(), "a MAC never delivers an empty frame");
        if self.frames.is_empty() {
            self.pacer.end_idle();
        }
        self.frames.push_back((frame, error));
    }

    /// Number of frames that were not output completely.
    pub fn waiting(&self) -> usize {
        self.frames.len()
    }

    /// The beat of this cycle, if one is due. Call it once per cycle.
    #[inline]
    pub fn clock(&mut self) -> Option<MacBeat> {
        self.pacer.tick();
        if self.frames.is_empty() {
            return None;
        }
        self.next_beat()
    }

    fn next_beat(&mut self) -> Option<MacBeat> {
        let (frame, error) = self.frames.front()?;
        let end = (self.sent + self.beat_bytes).min(frame.len());
        let last = end == frame.len();
        let next = NextBeat {
            bytes: end - self.sent,
            end,
            last,
        };
        if !self.pacer.release(&next) {
            return None;
        }
        let beat = MacBeat {
            beat: Beat::new(&frame[self.sent..end], last),
            error: last && *error,
        };
        self.sent = end;
        if last {
            self.sent = 0;
            self.frames.pop_front();
        }
        Some(beat)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pacing::WIRE_OVERHEAD;
    use crate::PORT_BYTES_PER_CLOCK;

    const LINE: Pacing = Pacing::Line {
        bytes_per_clock: PORT_BYTES_PER_CLOCK,
    };
    const TOKEN_BUCKET: Pacing = Pacing::TokenBucket {
        bytes_per_clock: PORT_BYTES_PER_CLOCK,
    };

    /// Cycles, counted from 1, in which beats are output until all frames are.
    fn clocks_of_beats(mac: &mut MacRx) -> Vec<u64> {
        let mut clocks = vec![];
        for clock in 1.. {
            if mac.waiting() == 0 {
                break;
            }
            clocks.extend(mac.clock().map(|_| clock));
        }
        clocks
    }

    #[test]
    fn frames_arrive_at_line_rate_and_not_faster() {
        for pacing in [LINE, TOKEN_BUCKET] {
            let mut mac = MacRx::new(128, &pacing);
            for _ in 0..1000 {
                mac.push(vec![0; 1098], false);
            }
            let clocks = *clocks_of_beats(&mut mac).last().expect("there are frames");
            let wire_bytes = 1000 * (1098 + WIRE_OVERHEAD);
            assert!(
                clocks * 100 >= wire_bytes - 12,
                "{pacing:?}: {clocks} clocks for {wire_bytes} bytes"
            );
            assert!(clocks * 100 <= wire_bytes + 200, "{pacing:?}: {clocks}");
        }
    }

    #[test]
    fn after_an_idle_time_a_line_delays_a_beat_by_its_bytes_and_a_token_bucket_does_not() {
        // Preamble and 128 bytes take two cycles of 100 bytes; 256 bytes and their preamble take three.
        for (pacing, expected) in [(LINE, [2, 3, 4]), (TOKEN_BUCKET, [1, 2, 3])] {
            let mut mac = MacRx::new(128, &pacing);
            for _ in 0..10 {
                assert_eq!(mac.clock(), None);
            }
            mac.push(vec![0; 300], false);
            assert_eq!(clocks_of_beats(&mut mac), expected, "{pacing:?}");
        }
    }

    #[test]
    fn a_last_beat_that_is_dearer_than_the_bucket_is_deep_leaves_when_the_bucket_is_full() {
        let mut mac = MacRx::new(16, &Pacing::TokenBucket { bytes_per_clock: 8 });
        mac.push(vec![0; 32], false);
        // 16 tokens; then all 32, although beat and overhead are 40 bytes.
        assert_eq!(clocks_of_beats(&mut mac), [2, 6]);
    }

    #[test]
    fn beats_carry_the_frame_and_mark_its_end() {
        let frame: Vec<u8> = (0..=255).collect();
        let random = Pacing::Random {
            percent: 30,
            seed: 5,
        };
        for pacing in [Pacing::EveryClock, random, LINE, TOKEN_BUCKET] {
            let mut mac = MacRx::new(64, &pacing);
            mac.push(frame.clone(), true);
            let mut seen = vec![];
            let mut beats = 0;
            while mac.waiting() > 0 {
                if let Some(MacBeat { beat, error }) = mac.clock() {
                    beats += 1;
                    assert_eq!(beat.last, beats == 4);
                    assert_eq!(error, beat.last);
                    beat.append_to(beat.bytes, &mut seen);
                }
            }
            assert_eq!(seen, frame);
        }
    }
}
