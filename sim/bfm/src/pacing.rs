//! When a MAC outputs the beats of received frames.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sim_net::{FCS, GAP, PREAMBLE};

/// Bytes of a frame on the wire beyond those that reach a design: preamble and start delimiter, FCS, gap (IEEE 802.3).
pub const WIRE_OVERHEAD: u64 = (PREAMBLE + FCS + GAP) as u64;

/// How a MAC decides in which cycles it outputs beats.
#[derive(Clone, Debug)]
pub enum Pacing {
    /// For frames that wait for the wire. The frames follow one another on it without idle time, and a beat is due when its last byte has arrived.
    Line {
        /// Rate of the port: 100 is 200 Gb/s at 250 MHz.
        bytes_per_clock: u64,
    },
    /// For frames that a model of the network delivers when they begin to arrive, so that only the distance of beats is left to simulate. The bucket
    /// fills at the rate of the port up to two beats, and a beat takes what it occupies on the wire.
    TokenBucket {
        /// Rate of the port: 100 is 200 Gb/s at 250 MHz.
        bytes_per_clock: u64,
    },
    /// A beat in every cycle: faster than any wire, for stress.
    EveryClock,
    /// Gaps inside frames and between them.
    Random {
        /// Probability of a beat in a cycle.
        percent: u32,
        /// Seed of the choices.
        seed: u64,
    },
}

/// The next beat of the frame that is received.
pub(crate) struct NextBeat {
    /// Bytes of the beat.
    pub(crate) bytes: usize,
    /// Bytes of the frame up to the end of the beat.
    pub(crate) end: usize,
    /// Whether it is the last of its frame.
    pub(crate) last: bool,
}

/// A [`Pacing`] with its state.
pub(crate) enum Pacer {
    Line {
        bytes_per_clock: u64,
        clock: u64,
        /// Wire time, in bytes since the start, at which the first preamble byte of the first frame arrives.
        wire: u64,
    },
    TokenBucket {
        bytes_per_clock: u64,
        /// Bytes that the wire has delivered and that were not output.
        tokens: u64,
        /// Maximum of `tokens`.
        depth: u64,
    },
    EveryClock,
    Random {
        percent: u32,
        rng: Box<ChaCha8Rng>,
    },
}

impl Pacer {
    /// The state before the first cycle, for beats of `beat_bytes` bytes.
    pub(crate) fn new(pacing: &Pacing, beat_bytes: usize) -> Self {
        match *pacing {
            Pacing::Line { bytes_per_clock } => Self::Line {
                bytes_per_clock,
                clock: 0,
                wire: 0,
            },
            Pacing::TokenBucket { bytes_per_clock } => Self::TokenBucket {
                bytes_per_clock,
                tokens: 0,
                depth: 2 * beat_bytes as u64,
            },
            Pacing::EveryClock => Self::EveryClock,
            Pacing::Random { percent, seed } => Self::Random {
                percent,
                rng: Box::new(ChaCha8Rng::seed_from_u64(seed)),
            },
        }
    }

    /// Ends an idle period: a frame is queued while no other waits.
    pub(crate) fn end_idle(&mut self) {
        if let Self::Line {
            bytes_per_clock,
            clock,
            wire,
        } = self
        {
            // The frame starts now and not in the past.
            *wire = (*wire).max(*clock * *bytes_per_clock);
        }
    }

    /// Begins a cycle.
    pub(crate) fn tick(&mut self) {
        match self {
            Self::Line { clock, .. } => *clock += 1,
            Self::TokenBucket {
                bytes_per_clock,
                tokens,
                depth,
            } => *tokens = (*tokens + *bytes_per_clock).min(*depth),
            Self::EveryClock | Self::Random { .. } => {}
        }
    }

    /// Whether `beat` is due in this cycle. If so, it has left.
    pub(crate) fn release(&mut self, beat: &NextBeat) -> bool {
        match self {
            Self::EveryClock => true,
            Self::Random { percent, rng } => rng.random_range(0..100) < *percent,
            Self::Line {
                bytes_per_clock,
                clock,
                wire,
            } => {
                let end = *wire + (PREAMBLE + beat.end) as u64;
                let arrived = if beat.last { end + FCS as u64 } else { end };
                let due = arrived <= *clock * *bytes_per_clock;
                if due && beat.last {
                    *wire += beat.end as u64 + WIRE_OVERHEAD;
                }
                due
            }
            Self::TokenBucket { tokens, depth, .. } => {
                let overhead = if beat.last { WIRE_OVERHEAD } else { 0 };
                let cost = beat.bytes as u64 + overhead;
                let due = *tokens >= cost.min(*depth);
                if due {
                    *tokens = tokens.saturating_sub(cost);
                }
                due
            }
        }
    }
}
