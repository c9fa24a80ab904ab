//! A window on a path whose numbers are easy to follow: RTT 8 us, 200 Gb/s, MTU 4,096.

use stellar_transport::congestion::{AckSample, Nscc, NsccParams};
use stellar_transport::time::Ticks;

pub const MTU: u32 = 4096;
pub const BASE: u32 = 1_000;
/// Target delay without trimming.
pub const Q: u32 = BASE;
pub const MAX: u32 = 300_000;

pub struct Path {
    pub nscc: Nscc,
    pub now: Ticks,
}

impl Path {
    pub fn at(now: Ticks) -> Self {
        let params = NsccParams::from_path(Ticks(BASE), 200, MTU, false).expect("a usual path");
        assert_eq!(params.registers().max_cwnd, MAX);
        Self {
            nscc: Nscc::new(&params, now),
            now,
        }
    }

    pub fn new() -> Self {
        Self::at(Ticks(0))
    }

    /// A path whose window was brought down to about `cwnd` by losses, a quick-adapt period ago.
    pub fn with_cwnd(cwnd: u32) -> Self {
        let mut path = Self::new();
        // These acknowledged bytes count as achieved throughput, which prevents quick adapt.
        path.ack(MAX / 4, 0, false, 1);
        path.nscc.on_loss(path.nscc.cwnd() - cwnd);
        path.ack(1, BASE, false, BASE + Q);
        path
    }

    /// One SACK with a queueing delay, `after` ticks after the one before.
    pub fn ack(&mut self, acked_bytes: u32, delay: u32, ecn: bool, after: u32) -> u32 {
        self.now = self.now.plus(Ticks(after));
        let sample = AckSample {
            acked_bytes,
            rtt: Some(Ticks(BASE + delay)),
            ecn,
            in_flight: self.nscc.cwnd(),
        };
        self.nscc.on_ack(sample, self.now);
        self.nscc.cwnd()
    }

    /// 24 SACKs for one packet each, which makes three adjustments, within a round trip.
    pub fn three_adjustments(&mut self, delay: u32, ecn: bool) -> u32 {
        for _ in 0..24 {
            self.ack(MTU, delay, ecn, 40);
        }
        self.nscc.cwnd()
    }
}

/// Steady increase on this path: 0.15 * MTU * 4/3.
pub const ETA: u32 = 819;
