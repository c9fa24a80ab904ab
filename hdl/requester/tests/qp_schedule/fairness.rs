//! Shares of tenants over many bursts: the schedule of the card's size, with the limits of tenants beside it.

use std::num::NonZeroU8;

use hdl_requester::{QpSchedule, TenantLimits};
use hdl_testkit::Dut;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stellar_wire::config::{RateLimit, TenantShare};
use stellar_wire::rows::{wire_cost, BURST_BYTES};

/// Bytes of a port per cycle of 4 ns: 200 Gb/s.
const PORT_BYTES: u64 = 100;
/// Cycles that an operation of the requester takes at least.
const LEAST_CYCLES: u64 = 17;

/// A port with a schedule, whose queue pairs always have something to send.
struct Port {
    schedule: Dut,
    limits: Dut,
    cycles: u64,
    /// Bytes that the port could have sent by the time at which it has sent the last burst.
    sent: u64,
    /// Bytes by tenant.
    bytes: Vec<u64>,
    /// Tenant of each queue pair.
    tenant_of: Vec<usize>,
}

impl Port {
    fn new(tenants: usize) -> Self {
        let mut port = Self {
            schedule: Dut::new::<QpSchedule<10, 12>>(),
            limits: Dut::new::<TenantLimits<12>>(),
            cycles: 0,
            sent: 0,
            bytes: vec![0; tenants],
            tenant_of: Vec::new(),
        };
        port.schedule.reset(2);
        port.limits.reset(2);
        while !(port.schedule.is("share_ready") && port.limits.is("share_ready")) {
            port.clock(None);
        }
        port
    }

    /// Runs a cycle of both blocks. `turn` is the cost of the burst of the head.
    fn clock(&mut self, turn: Option<u32>) {
        let (schedule, limits) = (&mut self.schedule, &mut self.limits);
        limits.set("now", self.cycles / 2);
        limits.set("charge0_valid", schedule.get("charge_valid"));
        limits.set_words("charge0", &schedule.words("charge"));
        limits.eval();
        schedule.set("charge_ready", limits.get("charge0_ready"));
        schedule.set("charge_may_send", limits.get("charge0_may_send"));
        schedule.set("rotate", turn.is_some().into());
        schedule.clock();
        limits.clock();
        if let Some(cost) = turn {
            schedule.set("cost", cost.into());
        }
        schedule.eval();
        self.cycles += 1;
    }

    fn set_share(&mut self, tenant: u64, share: TenantShare) {
        for dut in [&mut self.schedule, &mut self.limits] {
            dut.set("share_tenant", tenant);
            dut.set_record("share", share.row().to_hw());
            dut.set("share_valid", 1);
        }
        self.clock(None);
        for dut in [&mut self.schedule, &mut self.limits] {
            dut.set("share_valid", 0);
        }
    }

    /// Wakes the next `count` queue pairs, of one tenant.
    fn wake(&mut self, tenant: usize, count: usize) {
        for _ in 0..count {
            self.schedule.set("wake_valid", 1);
            self.schedule.set("wake_page", tenant as u64);
            self.schedule.set("wake_qp", self.tenant_of.len() as u64);
            self.schedule.eval();
            while !self.schedule.is("wake_ready") {
                self.clock(None);
            }
            self.clock(None);
            self.schedule.set("wake_valid", 0);
            self.tenant_of.push(tenant);
        }
    }

    /// Sends bursts, whose lengths `cost` gives by tenant, for a number of cycles.
    fn send(&mut self, cycles: u64, mut cost: impl FnMut(usize) -> u32) {
        let end = self.cycles + cycles;
        while self.cycles < end {
            let now = self.cycles * PORT_BYTES;
            if now < self.sent || !self.schedule.is("head_valid") {
                self.clock(None);
                continue;
            }
            let tenant = self.tenant_of[self.schedule.get("head_qp") as usize];
            let cost = cost(tenant);
            self.bytes[tenant] += u64::from(cost);
            let cycle_begun = now - self.sent.min(now);
            let began = if cycle_begun < PORT_BYTES {
                self.sent
            } else {
                now
            };
            self.sent = (began + u64::from(cost)).max(now + LEAST_CYCLES * PORT_BYTES);
            self.clock(Some(cost));
        }
    }

    fn shares(&self) -> Vec<f64> {
        let total: u64 = self.bytes.iter().sum();
        self.bytes
            .iter()
            .map(|&bytes| bytes as f64 / total as f64)
            .collect()
    }
}

/// Jain's index of fairness: 1 if all are equal, 1/n if one has everything.
fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    sum * sum / (shares.len() as f64 * squares)
}

/// Full packets of 4 KiB.
const BURST: u32 = wire_cost(BURST_BYTES, 4);
/// One of them.
const PACKET: u32 = BURST / 4;

#[test]
fn of_1000_queue_pairs_a_tenant_with_900_gets_a_tenth() {
    let mut port = Port::new(10);
    port.wake(0, 900);
    for tenant in 1..10 {
        port.wake(tenant, if tenant == 9 { 12 } else { 11 });
    }
    // One tenant has large messages only, the others bursts of any length.
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    port.send(300_000, |tenant| match tenant {
        1 => BURST,
        2 => wire_cost(64, 1),
        _ => rng.random_range(192..BURST),
    });
    let shares = port.shares();
    println!(
        "shares of ten tenants: {shares:.4?}, Jain's index {:.5}",
        jain(&shares)
    );
    assert!(jain(&shares) > 0.999, "{shares:?}");
    assert!((shares[0] - 0.1).abs() < 0.002, "{shares:?}");
}

#[test]
fn shares_are_those_of_the_weights_within_one_percent() {
    let mut port = Port::new(3);
    for (tenant, weight) in [(0, 1), (1, 2), (2, 4)] {
        port.set_share(
            tenant,
            TenantShare::of_weight(NonZeroU8::new(weight).unwrap()),
        );
        port.wake(tenant as usize, 5 - tenant as usize);
    }
    port.send(200_000, |_| BURST);
    let shares = port.shares();
    println!("shares of the weights 1, 2, 4: {shares:.4?}");
    for (share, weight) in shares.iter().zip([1.0, 2.0, 4.0]) {
        assert!((share * 7.0 / weight - 1.0).abs() < 0.01, "{shares:?}");
    }
}

#[test]
fn a_limited_tenant_has_its_rate_within_one_percent_and_the_others_the_rest() {
    let mut port = Port::new(4);
    let rates: [u64; 2] = [10_000_000_000, 35_000_000_000];
    let bucket = 32 << 10;
    for (tenant, bits_per_second) in (0..).zip(rates) {
        let limit = Some(RateLimit {
            bits_per_second,
            bucket,
        });
        port.set_share(
            tenant,
            TenantShare {
                limit,
                ..TenantShare::default()
            },
        );
    }
    for tenant in 0..4 {
        port.wake(tenant, 20);
    }
    // What the full buckets hold is sent first.
    port.send(20_000, |_| PACKET);
    port.bytes.fill(0);
    let cycles = 300_000;
    port.send(cycles, |_| PACKET);
    let seconds = cycles as f64 * 4e-9;
    let found: Vec<f64> = port
        .bytes
        .iter()
        .map(|&bytes| bytes as f64 * 8.0 / seconds)
        .collect();
    println!(
        "rates of the limits 10, 35, none, none: {:.2?} Gb/s",
        found.iter().map(|rate| rate / 1e9).collect::<Vec<_>>()
    );
    for (found, limit) in found.iter().zip(rates) {
        assert!(
            (found / limit as f64 - 1.0).abs() < 0.01,
            "{found} of {limit}"
        );
    }
    let rest = (200e9 - 45e9) / 2.0;
    for found in &found[2..] {
        assert!((found / rest - 1.0).abs() < 0.01, "{found} of {rest}");
    }
}

/// Every tenant has a limit that lets it send next to nothing, but one. It has the port for itself.
#[test]
fn tenants_without_tokens_hold_up_nobody() {
    let mut port = Port::new(500);
    for tenant in 0..499 {
        let limit = Some(RateLimit {
            bits_per_second: 1_000_000,
            bucket: 32 << 10,
        });
        port.set_share(
            tenant,
            TenantShare {
                limit,
                ..TenantShare::default()
            },
        );
    }
    for tenant in 0..500 {
        port.wake(tenant, 2);
    }
    // All buckets are emptied first: two bursts each.
    port.send(499 * 3 * u64::from(BURST) / PORT_BYTES, |_| BURST);
    port.bytes.fill(0);
    let cycles = 50_000;
    port.send(cycles, |_| BURST);
    let own = port.bytes[499] as f64 / (cycles * PORT_BYTES) as f64;
    println!("share of the tenant without a limit among 499 that rest: {own:.4}");
    assert!(own > 0.97, "{own}");
}

/// Queue pairs are scheduled long before the rows of all shares are cleared.
#[test]
fn no_share_outlives_a_reset() {
    let mut port = Port::new(2);
    port.set_share(0, TenantShare::of_weight(NonZeroU8::MAX));
    port.schedule.reset(2);
    while !port.schedule.is("wake_ready") {
        port.clock(None);
    }
    port.wake(0, 2);
    port.wake(1, 2);
    port.send(2_400, |_| PACKET);
    assert!(!port.schedule.is("share_ready"), "rows are still cleared");
    let [first, second] = port.bytes[..] else {
        unreachable!()
    };
    assert!(
        first.abs_diff(second) <= u64::from(PACKET),
        "{first} {second}"
    );
}
