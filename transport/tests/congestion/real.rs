//! NSCC in real numbers, written directly from the published update. The fixed-point window is compared with it.

use stellar_transport::congestion::AckSample;

/// Constants of the update, in bytes and ticks.
#[derive(Clone, Copy, Debug)]
pub struct RealParams {
    pub base_rtt: f64,
    pub target: f64,
    pub min_cwnd: f64,
    pub max_cwnd: f64,
    pub alpha: f64,
    pub fi: f64,
    pub eta: f64,
    pub fi_scale: f64,
    pub adjust_bytes: f64,
    pub gamma: f64,
    pub gain: f64,
}

impl RealParams {
    /// The defaults for a path, with the gains of the publication (0.8 and 1/80).
    pub fn published(base_rtt: f64, gbps: f64, mss: f64) -> Self {
        let bdp = gbps * base_rtt;
        let a = bdp / 150_000.0;
        let target = base_rtt;
        let b = target / 1_500.0;
        Self {
            base_rtt,
            target,
            min_cwnd: mss,
            max_cwnd: 1.5 * bdp,
            alpha: 4.0 * mss * a * b / target,
            fi: 5.0 * mss * a,
            eta: 0.15 * mss * a,
            fi_scale: 0.25 * a,
            adjust_bytes: 8.0 * mss,
            gamma: 0.8,
            gain: 0.0125,
        }
    }

    /// Returns these parameters with the gains of the hardware (51/64 and 1/64).
    pub fn with_hardware_gains(self) -> Self {
        Self {
            gamma: 51.0 / 64.0,
            gain: 1.0 / 64.0,
            ..self
        }
    }
}

/// The window in real numbers.
#[derive(Clone, Debug)]
pub struct RealNscc {
    p: RealParams,
    pub cwnd: f64,
    base: f64,
    pub average: f64,
    increase: f64,
    received: f64,
    achieved: f64,
    idle_bytes: f64,
    ignore_left: f64,
    loss_seen: bool,
    period_start: f64,
    last_adjust: f64,
    last_eta: f64,
    last_decrease: f64,
}

impl RealNscc {
    pub fn new(p: RealParams, now: f64) -> Self {
        Self {
            p,
            cwnd: p.max_cwnd,
            base: p.base_rtt,
            average: 0.0,
            increase: 0.0,
            received: 0.0,
            achieved: 0.0,
            idle_bytes: 0.0,
            ignore_left: 0.0,
            loss_seen: false,
            period_start: now,
            last_adjust: now,
            last_eta: now,
            last_decrease: now - p.base_rtt,
        }
    }

    pub fn on_loss(&mut self, bytes: f64) {
        self.cwnd = (self.cwnd - bytes).max(self.p.min_cwnd);
        self.loss_seen = true;
    }

    /// `now` in ticks since the start, never wrapping.
    pub fn on_ack(&mut self, sample: AckSample, now: f64) {
        let p = self.p;
        let acked = f64::from(sample.acked_bytes);
        let rtt = f64::from(sample.rtt.expect("every sample has a round trip").0);
        self.base = self.base.min(rtt);
        let delay = rtt - self.base;
        let old_mark = sample.ecn && self.ignore_left > 0.0;
        self.ignore_left = (self.ignore_left - acked).max(0.0);
        self.received += acked;
        self.achieved += acked;

        let pull = if !sample.ecn && delay > p.target {
            self.base / 4.0
        } else {
            delay
        };
        self.average += p.gain * (pull - self.average);

        let mut adapted = false;
        if now - self.period_start >= self.base + p.target {
            let congested = self.loss_seen || delay > 4.0 * p.target;
            if congested && self.achieved < p.max_cwnd / 8.0 {
                self.cwnd = self.achieved;
                self.ignore_left = f64::from(sample.in_flight);
                self.increase = 0.0;
                self.idle_bytes = 0.0;
                adapted = true;
            }
            self.achieved = 0.0;
            self.loss_seen = false;
            self.period_start = now;
        }
        if !adapted && !old_mark {
            self.respond(delay, sample.ecn, acked, now);
        }
        self.clamp();
        if self.received >= p.adjust_bytes || now - self.last_adjust >= self.base {
            self.cwnd += self.increase / self.cwnd;
            if now - self.last_eta >= self.base {
                self.cwnd += p.eta;
                self.last_eta = now;
            }
            self.increase = 0.0;
            self.received = 0.0;
            self.last_adjust = now;
        }
        self.clamp();
    }

    fn respond(&mut self, delay: f64, ecn: bool, acked: f64, now: f64) {
        let p = self.p;
        if !ecn && delay < 125.0 {
            self.idle_bytes += acked;
        } else {
            self.idle_bytes = 0.0;
        }
        match (ecn, delay >= p.target) {
            (false, true) => self.increase += p.fi * acked,
            (false, false) if self.idle_bytes > self.cwnd => self.cwnd += p.fi_scale * acked,
            (false, false) => self.increase += p.alpha * acked * (p.target - delay),
            (true, true) => {
                if self.average > p.target && now - self.last_decrease >= self.base {
                    let factor = 1.0 - p.gamma * (self.average - p.target) / self.average;
                    self.cwnd *= factor.max(0.5);
                    self.last_decrease = now;
                }
            }
            (true, false) => {}
        }
    }

    fn clamp(&mut self) {
        self.cwnd = self.cwnd.clamp(self.p.min_cwnd, self.p.max_cwnd);
    }
}
