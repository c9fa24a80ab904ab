//! One path that a plan places, and that is left when throughput falls (deterministic placement and telemetry of SRv6; the rules are ours).

use stellar_transport::spray::{EvIndex, Feedback, PathAck, PathPolicy, Paths};
use stellar_transport::time::Ticks;

/// The path is left if a sample is below this many fifths of the best one on it: a drop by 20 %.
const KEPT_FIFTHS: u64 = 4;

/// Samples of one path.
#[derive(Clone, Copy, Debug)]
struct Samples {
    /// Start of the present one.
    since: Ticks,
    /// Packets that were acknowledged in it.
    packets: u32,
    /// The path is new: the first sample has packets of the one before.
    is_first: bool,
    /// Packets in 2^32 ticks of the best sample.
    best: u64,
}

/// A queue pair with one path at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    /// The path in use, and how many there are.
    slot: u8,
    slots: u8,
    /// The path is taken before the next packet.
    moves: bool,
    /// Length of a sample; `None`: the path is only left when it does not work.
    period: Option<Ticks>,
    samples: Option<Samples>,
}

impl Placed {
    /// A queue pair that begins on the path `place`, modulo the number of its paths on a plane.
    pub fn new(place: u32, paths: u8, period: Option<Ticks>) -> Self {
        let slots = (paths / 2).max(1);
        Self {
            slot: (place % u32::from(slots)) as u8,
            slots,
            moves: true,
            period,
            samples: None,
        }
    }

    fn leave(&mut self) {
        self.slot = (self.slot + 1) % self.slots;
        self.moves = true;
        self.samples = None;
    }
}

impl PathPolicy for Placed {
    fn held_until(&mut self, paths: &mut Paths, _: Ticks) -> Option<Ticks> {
        if std::mem::take(&mut self.moves) {
            paths.take_home(EvIndex::active(0, self.slot));
        }
        None
    }

    fn on_ack(&mut self, _: &mut Paths, _: Option<EvIndex>, ack: &PathAck, now: Ticks) {
        let Some(period) = self.period else {
            return;
        };
        let samples = self.samples.get_or_insert(Samples {
            since: now,
            packets: 0,
            is_first: true,
            best: 0,
        });
        samples.packets += u32::from(ack.packets);
        let length = now.since(samples.since).0;
        if length < period.0 {
            return;
        }
        let rate = (u64::from(samples.packets) << 32) / u64::from(length.max(1));
        let falls = rate * 5 < samples.best * KEPT_FIFTHS;
        *samples = Samples {
            since: now,
            packets: 0,
            is_first: false,
            best: if samples.is_first {
                0
            } else {
                samples.best.max(rate)
            },
        };
        if falls {
            self.leave();
        }
    }

    fn on_feedback(&mut self, _: &mut Paths, _: EvIndex, feedback: Feedback, _: Ticks) {
        if feedback == Feedback::Timeout {
            self.leave();
        }
    }

    fn on_empty(&mut self, _: &mut Paths) {
        // Without packets to send a sample says nothing of the path.
        self.samples = None;
    }

    fn copy(&self) -> Box<dyn PathPolicy> {
        Box::new(*self)
    }
}
