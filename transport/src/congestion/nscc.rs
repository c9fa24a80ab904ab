//! The window of one queue pair.

use stellar_wire::rows::{WindowChange, DRAIN_RAISE_HALVES};

use super::reciprocal::Reciprocal;
use super::{NsccParams, NsccRegisters, MAX_WINDOW};
use crate::time::Ticks;

/// Gain of the delay average: g = 1/64.
const AVERAGE_SHIFT: u32 = 6;
/// Fraction bits of the delay average.
const AVERAGE_FRACTION: u32 = 16;
/// Fraction bits of the window.
const CWND_FRACTION: u32 = 8;
/// Fraction bits of the fast increase's factor.
const FI_SCALE_FRACTION: u32 = 11;
/// Strength of the multiplicative decrease: gamma = 51/64.
const GAMMA_64THS: u64 = 51;
/// One decrease takes at most half of the window (0.16).
const MAX_DECREASE: u64 = 1 << 15;
/// A queueing delay below this counts as an idle path: 1 us.
const IDLE_DELAY: u16 = 125;

/// Information of one SACK about path and window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckSample {
    /// Bytes this SACK acknowledges for the first time.
    pub acked_bytes: u32,
    /// Round trip ([`Ticks::round_trip`]); longer than 65,535 ticks counts as 65,535. `None` if the SACK reflects no
    /// time stamp, or one of a packet sent too long ago to measure.
    pub rtt: Option<Ticks>,
    /// The acknowledged packet was ECN-marked (SETH M = SKIP_ONCE).
    pub ecn: bool,
    /// Bytes in flight after this SACK.
    pub in_flight: u32,
}

/// Network signal congestion control of one queue pair.
///
/// The fields are the queue pair's congestion context, 392 bits. Counters of bytes saturate at [`MAX_WINDOW`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nscc {
    params: NsccParams,
    /// Window: bytes, 24.8.
    cwnd: u32,
    /// The window that a path policy told to remember.
    saved: u32,
    /// Increase collected since the last adjustment, in bytes squared; divided by the window it is bytes. 48 bits.
    increase: u64,
    /// Smallest round trip seen, ticks.
    base_rtt: u16,
    /// Average queueing delay: ticks, 16.16.
    average_delay: u32,
    /// Bytes acknowledged since the last adjustment.
    received: u32,
    /// Bytes acknowledged in this quick-adapt period.
    achieved: u32,
    /// Bytes acknowledged in a row without a mark and with an idle path.
    idle_bytes: u32,
    /// Bytes that were in flight at the last quick adapt and are not acknowledged yet: their marks are out of date.
    ignore_left: u32,
    /// A loss or trim was seen in this quick-adapt period.
    loss_seen: bool,
    /// Receiver's penalty, 7 bits.
    penalty: u8,
    period_start: Ticks,
    last_adjust: Ticks,
    last_eta: Ticks,
    last_decrease: Ticks,
}

impl Nscc {
    /// A window at its maximum, because there is no information about the path yet.
    pub fn new(params: &NsccParams, now: Ticks) -> Self {
        let registers = params.registers();
        let base = Ticks(registers.base_rtt.into());
        Self {
            params: *params,
            cwnd: registers.max_cwnd << CWND_FRACTION,
            saved: 0,
            increase: 0,
            base_rtt: registers.base_rtt,
            average_delay: 0,
            received: 0,
            achieved: 0,
            idle_bytes: 0,
            ignore_left: 0,
            loss_seen: false,
            penalty: 0,
            period_start: now,
            last_adjust: now,
            last_eta: now,
            last_decrease: now.since(base),
        }
    }

    /// Returns the window in bytes after the receiver's penalty. The window is reduced by `penalty` 128ths, or to one packet at a penalty of 127.
    pub fn cwnd(&self) -> u32 {
        let bytes = self.cwnd >> CWND_FRACTION;
        match self.penalty {
            0 => bytes,
            127 => self.registers().min_cwnd,
            penalty => {
                let share = (u64::from(bytes) * u64::from(128 - penalty)) >> 7;
                (share as u32).max(self.registers().min_cwnd)
            }
        }
    }

    /// Whether a packet of `size` bytes may be sent while `in_flight` bytes are in flight. With nothing in flight, one packet may always be sent.
    /// Otherwise a window below one packet would stop the queue pair forever.
    pub fn may_send(&self, in_flight: u32, size: u32) -> bool {
        in_flight == 0 || u64::from(self.cwnd()) >= u64::from(in_flight) + u64::from(size)
    }

    /// Smallest round trip seen, never above the programmed one.
    pub fn base_rtt(&self) -> Ticks {
        Ticks(self.base_rtt.into())
    }

    /// Average queueing delay in whole ticks.
    pub fn average_delay(&self) -> Ticks {
        Ticks(self.average_delay >> AVERAGE_FRACTION)
    }

    /// Processes a SACK that arrived at `now`.
    ///
    /// Without a round trip there is no delay sample: the bytes count, and quick adapt and the steady increase
    /// continue, but the sample changes neither the average nor the window.
    pub fn on_ack(&mut self, sample: AckSample, now: Ticks) {
        let acked = sample.acked_bytes.min(MAX_WINDOW);
        let old_mark = sample.ecn && self.ignore_left > 0;
        self.ignore_left = self.ignore_left.saturating_sub(acked);
        self.received = count(self.received, acked);
        self.achieved = count(self.achieved, acked);

        let delay = sample.rtt.and_then(|rtt| self.queueing_delay(rtt));
        if let Some(delay) = delay {
            self.average(delay, sample.ecn);
        }
        let adapted = self.quick_adapt(delay, sample.in_flight, now);
        if let (Some(delay), false, false) = (delay, adapted, old_mark) {
            self.respond(delay, sample.ecn, acked, now);
        }
        self.adjust(now);
    }

    /// Subtracts the bytes of a packet that was trimmed or lost from the window.
    pub fn on_loss(&mut self, bytes: u32) {
        let lost = bytes.min(MAX_WINDOW) << CWND_FRACTION;
        self.set_cwnd(self.cwnd.saturating_sub(lost).into());
        self.loss_seen = true;
    }

    /// Remembers the window, or goes back to it, as the path policy tells. What acknowledgements collected towards an increase stays.
    pub fn change(&mut self, change: WindowChange) {
        let saved = u64::from(self.saved);
        match change {
            WindowChange::Keep => {}
            WindowChange::Save => self.saved = self.cwnd,
            WindowChange::Restore => self.set_cwnd(saved),
            WindowChange::Raise => self.set_cwnd(saved * u64::from(DRAIN_RAISE_HALVES) / 2),
        }
    }

    /// Sets the receiver's penalty (CC_STATE `rcv_cwnd_pen`): 0 is none, 64 halves the window, 127 allows one packet at a time. It stays until the
    /// next SACK carries another one. Values above 127 count as 127.
    pub fn on_receiver_penalty(&mut self, penalty: u8) {
        self.penalty = penalty.min(127);
    }

    fn registers(&self) -> &NsccRegisters {
        self.params.registers()
    }

    /// Round trip less the smallest seen. A sample below a quarter of the programmed base RTT comes from a time stamp
    /// that wrapped, and would spoil the minimum for good: it counts as no sample.
    fn queueing_delay(&mut self, rtt: Ticks) -> Option<u16> {
        let rtt = rtt.0.min(u16::MAX.into()) as u16;
        if rtt < self.registers().base_rtt / 4 {
            return None;
        }
        self.base_rtt = self.base_rtt.min(rtt);
        Some(rtt - self.base_rtt)
    }

    /// `average += (sample - average) / 64`; an unmarked sample above target pulls toward a quarter of the base RTT.
    fn average(&mut self, delay: u16, ecn: bool) {
        // A 64th of the sample, 16.16; a quarter of the base has two bits less to shift.
        let pull = if !ecn && delay > self.registers().target {
            u32::from(self.base_rtt) << (AVERAGE_FRACTION - AVERAGE_SHIFT - 2)
        } else {
            u32::from(delay) << (AVERAGE_FRACTION - AVERAGE_SHIFT)
        };
        // The average stays at or below 0xffff_003f: at that value, the largest sample adds as much as the shift subtracts.
        self.average_delay = self.average_delay - (self.average_delay >> AVERAGE_SHIFT) + pull;
    }

    /// Quick adapt, once per base RTT plus target delay. After a loss or a very long delay, a window of which little was used shrinks to the bytes that
    /// were acknowledged. Returns whether it shrank.
    fn quick_adapt(&mut self, delay: Option<u16>, in_flight: u32, now: Ticks) -> bool {
        let &NsccRegisters {
            target,
            qa_threshold,
            qa_gate,
            max_cwnd,
            ..
        } = self.registers();
        let period = Ticks(u32::from(self.base_rtt) + u32::from(target));
        if !now.elapsed(self.period_start, period) {
            return false;
        }
        let congested = self.loss_seen || delay.is_some_and(|delay| delay > qa_threshold);
        let adapt = congested && self.achieved < max_cwnd >> qa_gate;
        if adapt {
            self.set_cwnd(u64::from(self.achieved) << CWND_FRACTION);
            self.ignore_left = in_flight.min(MAX_WINDOW);
            self.increase = 0;
            self.idle_bytes = 0;
        }
        self.achieved = 0;
        self.loss_seen = false;
        self.period_start = now;
        adapt
    }

    /// Changes the window by one of the four combinations of mark and delay.
    fn respond(&mut self, delay: u16, ecn: bool, acked: u32, now: Ticks) {
        let &NsccRegisters {
            target,
            alpha,
            fi,
            fi_scale,
            ..
        } = self.registers();
        self.idle_bytes = if !ecn && delay < IDLE_DELAY {
            count(self.idle_bytes, acked)
        } else {
            0
        };
        match (ecn, delay >= target) {
            (false, true) => self.collect(u64::from(fi), acked),
            (false, false) if self.idle_bytes > self.cwnd >> CWND_FRACTION => {
                let fast = u64::from(fi_scale) * u64::from(acked);
                self.set_cwnd(u64::from(self.cwnd) + (fast >> (FI_SCALE_FRACTION - CWND_FRACTION)));
            }
            (false, false) => {
                let gain = (u64::from(alpha) * u64::from(target - delay)) >> 16;
                self.collect(gain, acked);
            }
            (true, true) => self.decrease(now),
            (true, false) => {}
        }
    }

    /// `increase += gain * acked`; 23 bits times 24, on top of what less than 65,536 bytes collected.
    fn collect(&mut self, gain: u64, acked: u32) {
        assert!(gain < 1 << 23, "gain {gain:#x}");
        self.increase += gain * u64::from(acked);
        assert!(self.increase < 1 << 48, "increase {:#x}", self.increase);
    }

    /// At most once per base RTT, and only if the average is above target:
    /// `cwnd *= max(1 - gamma * (average - target) / average, 1/2)`.
    fn decrease(&mut self, now: Ticks) {
        let target = u32::from(self.registers().target) << AVERAGE_FRACTION;
        let due = now.elapsed(self.last_decrease, Ticks(self.base_rtt.into()));
        if !due || self.average_delay <= target {
            return;
        }
        let excess = u64::from(self.average_delay - target);
        let ratio = Reciprocal::of(self.average_delay).quotient(excess, 16);
        let factor = ((ratio * GAMMA_64THS) >> 6).min(MAX_DECREASE);
        let cwnd = u64::from(self.cwnd);
        self.set_cwnd(cwnd - ((cwnd * factor) >> 16));
        self.last_decrease = now;
    }

    /// After `adjust_bytes` or a base RTT: `cwnd += increase / cwnd`, and once per base RTT `cwnd += eta`.
    fn adjust(&mut self, now: Ticks) {
        let &NsccRegisters {
            adjust_bytes, eta, ..
        } = self.registers();
        let base = Ticks(self.base_rtt.into());
        if self.received < adjust_bytes && !now.elapsed(self.last_adjust, base) {
            return;
        }
        let mut cwnd = u64::from(self.cwnd);
        cwnd += Reciprocal::of(self.cwnd).quotient(self.increase, 2 * CWND_FRACTION as u8);
        if now.elapsed(self.last_eta, base) {
            cwnd += u64::from(eta);
            self.last_eta = now;
        }
        self.set_cwnd(cwnd);
        self.increase = 0;
        self.received = 0;
        self.last_adjust = now;
    }

    /// Clamps a 24.8 window to the programmed limits.
    fn set_cwnd(&mut self, cwnd: u64) {
        let &NsccRegisters {
            min_cwnd, max_cwnd, ..
        } = self.registers();
        self.cwnd = cwnd.clamp(
            u64::from(min_cwnd) << CWND_FRACTION,
            u64::from(max_cwnd) << CWND_FRACTION,
        ) as u32;
    }
}

/// Adds to a byte counter that saturates at [`MAX_WINDOW`].
fn count(bytes: u32, more: u32) -> u32 {
    (bytes + more).min(MAX_WINDOW)
}
