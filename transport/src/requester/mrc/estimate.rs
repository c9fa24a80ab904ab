//! Delays of the paths of a queue pair (hardware block `delay_estimate`): when a packet that is missing is lost, and when a tail probe is due.

use crate::time::Ticks;

/// Least reordering window, 256 ns.
const LEAST_REORDERING: u32 = 32;
/// The longest round trip is first taken to be longer than the first sample by 2^-2, as the first reordering window of RACK (RFC 8985, 6.2 step 4).
const FIRST_SPREAD_SHIFT: u32 = 2;
/// Longest and shortest round trip move to a sample between them by 2^-6 of their distance, so that a path counts as long as 64 SACKs are about others.
const GAIN: u32 = 6;
/// The same, after a spurious loss.
const WARY_GAIN: u32 = 10;
/// Least step by which the spread grows after a packet was taken for lost too early, 512 ns.
const LEAST_STEP: u32 = 64;
/// Time that a receiver may take until it acknowledges, 1,024 ns.
const ANSWER_TIME: u32 = 128;
/// The time before a tail probe doubles at most this often.
const MOST_SHIFT: u8 = 4;

/// What a SACK tells about delays.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    /// Round trip of the packet that it answers, unless it answers a probe or an earlier transmission.
    pub round_trip: Option<Ticks>,
    /// A packet was taken for lost although it was not.
    pub spurious: bool,
    /// It acknowledges packets for the first time.
    pub progress: bool,
    /// It answers a probe.
    pub probe: bool,
}

/// Estimate of one queue pair. Times are in ticks of 8 ns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Estimate {
    /// There was a sample.
    known: bool,
    /// Longest and shortest round trip of late, 16 bits each.
    longest: u16,
    shortest: u16,
    /// Sample that the next SACK adds to the estimate. Hardware does so while the window processes that SACK.
    sample: Option<u16>,
    /// There was a spurious loss once.
    wary: bool,
    /// A loss was spurious. The next SACK widens the spread.
    spurious: bool,
    /// Tail probes that found no loss: log2 of the factor of the time before the next one, 3 bits.
    shift: u8,
    /// No more tail probes are sent until a packet is acknowledged.
    spent: bool,
    /// Time after the transmission of the lowest packet in flight at which a tail probe is due, 20 bits.
    tail: u32,
}

impl Estimate {
    /// An estimate without samples. `rto` is the timeout of a packet that was sent once.
    pub fn new(rto: Ticks) -> Self {
        Self {
            known: false,
            longest: 0,
            shortest: 0,
            sample: None,
            wary: false,
            spurious: false,
            shift: 0,
            spent: false,
            tail: rto.0 / 2,
        }
    }

    /// Adds the sample of the SACK before this one.
    pub fn fold(&mut self, rto: Ticks) {
        let sample = self.sample.take();
        if std::mem::take(&mut self.spurious) {
            let wider = u32::from(self.longest) + self.spread() + LEAST_STEP;
            self.longest = wider.min(u16::MAX.into()) as u16;
            self.wary = true;
        } else if let Some(sample) = sample {
            if self.known {
                let gain = if self.wary { WARY_GAIN } else { GAIN };
                self.shortest = self.shortest.min(sample);
                self.longest = match self.longest.checked_sub(sample) {
                    None | Some(0) => sample,
                    Some(over) => self.longest - (over >> gain) - 1,
                };
            } else {
                self.longest = sample.saturating_add(sample >> FIRST_SPREAD_SHIFT);
                self.shortest = sample;
            }
            self.known = true;
        }
        let most = rto.0 / 2;
        self.tail = if self.known {
            let longest = u32::from(self.longest);
            let wait = longest + (longest >> 2) + ANSWER_TIME;
            (wait << self.shift).min(most)
        } else {
            most
        };
    }

    /// Difference between the longest and the shortest round trip.
    fn spread(&self) -> u32 {
        u32::from(self.longest - self.shortest)
    }

    /// Records what a SACK tells. The next one adds it to the estimate.
    pub fn record(&mut self, answer: Answer) {
        self.sample = answer
            .round_trip
            .map(|time| time.0.min(u16::MAX.into()) as u16);
        self.spurious = answer.spurious;
        if answer.progress {
            self.spent = false;
            if !answer.probe {
                self.shift = self.shift.saturating_sub(1);
            }
        }
    }

    /// Records that a packet was found lost before its timeout.
    pub fn lost(&mut self) {
        self.shift = 0;
    }

    /// A packet overtakes another one by less than this time. Nothing if there was no sample.
    pub fn reordering(&self) -> Option<Ticks> {
        let window = self.spread() + (self.spread() >> 2) + LEAST_REORDERING;
        self.known.then_some(Ticks(window))
    }

    /// Time from the transmission of a packet to the tail probe that asks for it.
    pub fn tail(&self) -> Ticks {
        Ticks(self.tail)
    }

    /// The same, unless no more tail probes are sent.
    pub fn tail_probe_after(&self) -> Option<Ticks> {
        (!self.spent).then_some(self.tail())
    }

    /// Whether a packet that waits for a tail probe is taken for lost at once: no probe was in vain of late, and nothing was ever taken for lost too early.
    pub const fn trusts_tail(&self) -> bool {
        self.known && !self.wary && !self.spurious && self.shift == 0
    }

    /// Records that a tail probe was sent. The next one waits twice as long; none waits longer than half of the timeout, and one that did is the last.
    pub fn probed(&mut self, rto: Ticks) {
        let longest = rto.0 / 2;
        self.spent = self.tail >= longest;
        self.tail = (self.tail * 2).min(longest);
        self.shift = (self.shift + 1).min(MOST_SHIFT);
    }
}
