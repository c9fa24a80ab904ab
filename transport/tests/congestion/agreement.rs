//! Long random runs: the fixed-point window stays with the real-valued one.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stellar_transport::congestion::{AckSample, Nscc, NsccParams};
use stellar_transport::time::Ticks;

use crate::congestion::real::{RealNscc, RealParams};

/// Kinds of traffic a queue pair may meet.
#[derive(Clone, Copy, Debug)]
enum Mix {
    /// Delays below 1 us, no marks; now and then the whole window is lost, so that there is one to grow.
    Idle,
    /// Delay wanders between 0 and 2 Q, marked with a probability that grows with it.
    Permutation,
    /// Delay wanders between Q and 6 Q, nine of ten samples marked, one of 500 packets lost.
    Incast,
    /// Delay and mark of every sample are drawn independently: 0 to 5 Q, one of two marked, one of 200 lost.
    Noise,
    /// Delay follows from the window itself: a queue in front of a link shared with traffic that comes and goes.
    ClosedLoop,
}

const MIXES: [Mix; 5] = [
    Mix::Idle,
    Mix::Permutation,
    Mix::Incast,
    Mix::Noise,
    Mix::ClosedLoop,
];

/// (base RTT in ticks, Gb/s, MTU): a rack, a pod at 400G, a long path at 100G with a small MTU.
const PATHS: [(u32, u32, u32); 4] = [
    (375, 200, 4096),
    (1_000, 400, 4096),
    (1_000, 400, 8192),
    (3_000, 100, 1024),
];

struct Signals {
    rng: ChaCha8Rng,
    mix: Mix,
    target: f64,
    wander: f64,
    background: f64,
}

impl Signals {
    fn new(mix: Mix, base_rtt: u32, seed: u64) -> Self {
        Self {
            rng: ChaCha8Rng::seed_from_u64(seed),
            mix,
            target: base_rtt.into(),
            wander: 0.5,
            background: 0.0,
        }
    }

    /// Returns the queueing delay in ticks, the mark, and the number of lost packets, for a window of `fill` bandwidth-delay products. The number of
    /// random draws does not depend on the window.
    fn next(&mut self, fill: f64) -> (u32, bool, u32) {
        let q = self.target;
        let [step, level, mark, loss]: [f64; 4] = std::array::from_fn(|_| self.rng.random());
        self.wander = (self.wander + 0.1 * (step - 0.5)).clamp(0.0, 1.0);
        if step < 0.001 {
            self.background = 1.2 * self.rng.random::<f64>();
        }
        let (delay, mark_rate, loss_rate, lost) = match self.mix {
            Mix::Idle => (60.0 * level, 0.0, 0.000_5, 1_000),
            Mix::Permutation => (2.0 * q * self.wander, self.wander, 0.0, 0),
            Mix::Incast => (q + 5.0 * q * self.wander, 0.9, 0.002, 1),
            Mix::Noise => (5.0 * q * level, 0.5, 0.005, 1),
            Mix::ClosedLoop => {
                let queue = (fill + self.background - 1.0).max(0.0) * q * (0.8 + 0.4 * level);
                (queue, (queue / q - 0.2) / 0.6, 0.000_1, 1)
            }
        };
        (
            delay as u32,
            mark < mark_rate,
            if loss < loss_rate { lost } else { 0 },
        )
    }
}

/// Ticks wrap early in a run.
const START: Ticks = Ticks(u32::MAX - 50_000);
const SAMPLES: u32 = 40_000;

/// Largest relative difference of the windows over a run in which both see the same samples.
fn worst_difference(mix: Mix, (base_rtt, gbps, mtu): (u32, u32, u32), seed: u64) -> f64 {
    let params = NsccParams::from_path(Ticks(base_rtt), gbps, mtu, false).expect("a usual path");
    let real = RealParams::published(base_rtt.into(), gbps.into(), mtu.into());
    let mut fixed = Nscc::new(&params, START);
    let mut real = RealNscc::new(real.with_hardware_gains(), 0.0);
    let mut signals = Signals::new(mix, base_rtt, seed);
    let bdp = f64::from(gbps) * f64::from(base_rtt);
    let (mut now, mut worst) = (0_u64, 0.0_f64);
    for _ in 0..SAMPLES {
        let (delay, ecn, lost) = signals.next(real.cwnd / bdp);
        if lost > 0 {
            fixed.on_loss(lost * mtu);
            real.on_loss(f64::from(lost * mtu));
        }
        let sample = sample(&mut signals, real.cwnd, base_rtt + delay, ecn, mtu);
        now += pace(&sample, real.cwnd);
        fixed.on_ack(sample, START.plus(Ticks(now as u32)));
        real.on_ack(sample, now as f64);
        worst = worst.max((f64::from(fixed.cwnd()) / real.cwnd - 1.0).abs());
    }
    worst
}

fn sample(signals: &mut Signals, cwnd: f64, rtt: u32, ecn: bool, mtu: u32) -> AckSample {
    AckSample {
        acked_bytes: signals.rng.random_range(1..=4) * mtu,
        rtt: Some(Ticks(rtt)),
        ecn,
        in_flight: cwnd as u32,
    }
}

/// Ticks until a SACK of this size: a window takes a round trip.
fn pace(sample: &AckSample, cwnd: f64) -> u64 {
    let rtt = sample.rtt.map_or(0.0, |rtt| f64::from(rtt.0));
    (f64::from(sample.acked_bytes) / cwnd * rtt).ceil() as u64
}

/// Mean of a window that sees the consequences of its own doing.
fn mean_window(
    mix: Mix,
    (base_rtt, gbps, mtu): (u32, u32, u32),
    seed: u64,
    mut step: impl FnMut(u32, AckSample, u64) -> f64,
) -> f64 {
    let mut signals = Signals::new(mix, base_rtt, seed);
    let bdp = f64::from(gbps) * f64::from(base_rtt);
    let (mut now, mut cwnd, mut sum) = (0, 1.5 * bdp, 0.0);
    for _ in 0..SAMPLES {
        let (delay, ecn, lost) = signals.next(cwnd / bdp);
        let sample = sample(&mut signals, cwnd, base_rtt + delay, ecn, mtu);
        now += pace(&sample, cwnd);
        cwnd = step(lost * mtu, sample, now);
        sum += cwnd;
    }
    sum / f64::from(SAMPLES)
}

#[test]
fn every_window_is_within_one_percent_of_real_arithmetic() {
    for (number, mix) in (0..).zip(MIXES) {
        for path in PATHS {
            for seed in 0..4 {
                let worst = 100.0 * worst_difference(mix, path, 100 * number + seed);
                println!("{mix:?} {path:?} seed {seed}: {worst:.3} %");
                assert!(
                    worst < 1.0,
                    "{mix:?}, path {path:?}, seed {seed}: {worst:.2} % apart"
                );
            }
        }
    }
}

#[test]
fn hardware_gains_keep_the_mean_window_of_the_published_ones() {
    for (seed, mix) in (7..).zip(MIXES) {
        for path in PATHS {
            let (base_rtt, gbps, mtu) = path;
            let params =
                NsccParams::from_path(Ticks(base_rtt), gbps, mtu, false).expect("a usual path");
            let mut fixed = Nscc::new(&params, START);
            let fixed = mean_window(mix, path, seed, |lost, sample, now| {
                if lost > 0 {
                    fixed.on_loss(lost);
                }
                fixed.on_ack(sample, START.plus(Ticks(now as u32)));
                fixed.cwnd().into()
            });
            let mut real = RealNscc::new(
                RealParams::published(base_rtt.into(), gbps.into(), mtu.into()),
                0.0,
            );
            let real = mean_window(mix, path, seed, |lost, sample, now| {
                if lost > 0 {
                    real.on_loss(lost.into());
                }
                real.on_ack(sample, now as f64);
                real.cwnd
            });
            let difference = 100.0 * (fixed / real - 1.0);
            println!("{mix:?} {path:?}: mean {fixed:.0} for {real:.0}, {difference:.2} %");
            assert!(
                difference.abs() < 5.0,
                "{mix:?}, path {path:?}: means {fixed:.0} and {real:.0}"
            );
        }
    }
}
