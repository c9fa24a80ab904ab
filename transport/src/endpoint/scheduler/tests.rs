use std::num::NonZeroU8;

use proptest::prelude::*;

use super::*;
use crate::time::Ticks;
use stellar_wire::config::RateLimit;
use stellar_wire::rows::{wire_cost, BURST_BYTES};

/// Bytes of a burst of 4 KiB packets.
const BURST: u32 = wire_cost(BURST_BYTES, 4);

/// Serves `turns` bursts of `cost` bytes; returns the queue pairs served.
fn serve(schedule: &mut Schedule, turns: usize, cost: u32) -> Vec<u32> {
    let turn = |_| {
        let qp = schedule.front().expect("someone to serve");
        schedule.served(cost, false);
        qp
    };
    (0..turns).map(turn).collect()
}

/// Jain's index of fairness: 1 if all are equal, 1/n if one has everything.
fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    sum * sum / (shares.len() as f64 * squares)
}

/// Serves `total` bytes in bursts of random lengths; returns the bytes of each tenant. Tenant t has the queue pairs `t * 1,000` and following.
fn bytes_of(schedule: &mut Schedule, tenants: usize, total: u64, lengths: &[u32]) -> Vec<f64> {
    let mut bytes = vec![0.0; tenants];
    let mut sent = 0;
    for &cost in lengths.iter().cycle() {
        if sent >= total {
            break;
        }
        let qp = schedule.front().expect("someone to serve");
        bytes[qp as usize / 1_000] += f64::from(cost);
        sent += u64::from(cost);
        schedule.served(cost, false);
    }
    bytes
}

fn set_weight(schedule: &mut Schedule, tenant: u32, weight: u8) {
    let share = TenantShare::of_weight(NonZeroU8::new(weight).unwrap());
    schedule.set_share(tenant, &share.row());
}

#[test]
fn devices_take_turns_whatever_their_number_of_queue_pairs() {
    let mut schedule = Schedule::default();
    for qp in [10, 11, 12] {
        schedule.wake(1, qp);
    }
    schedule.wake(2, 20);
    assert_eq!(serve(&mut schedule, 6, BURST), [10, 20, 11, 20, 12, 20]);
}

#[test]
fn one_with_nothing_to_send_costs_its_device_no_turn() {
    let mut schedule = Schedule::default();
    schedule.wake(1, 10);
    schedule.wake(1, 11);
    schedule.wake(2, 20);
    schedule.park();
    assert_eq!(serve(&mut schedule, 3, BURST), [11, 20, 11]);
    schedule.wake(1, 10);
    schedule.wake(1, 10);
    assert_eq!(serve(&mut schedule, 4, BURST), [20, 11, 20, 10]);
}

#[test]
fn nobody_is_left_when_all_are_parked() {
    let mut schedule = Schedule::default();
    schedule.wake(7, 2);
    schedule.wake(8, 3);
    schedule.park();
    schedule.park();
    assert_eq!(schedule.front(), None);
    schedule.park();
    schedule.served(BURST, false);
    schedule.asked(true);
    assert_eq!(schedule.front(), None);
}

#[test]
fn a_tenant_with_900_of_1000_queue_pairs_gets_a_tenth() {
    let mut schedule = Schedule::default();
    for qp in 0..900 {
        schedule.wake(0, qp);
    }
    for qp in 0..100 {
        schedule.wake(1 + qp % 9, 1_000 * (1 + qp % 9) + qp);
    }
    let bytes = bytes_of(
        &mut schedule,
        10,
        100_000_000,
        &[BURST, 128, 6_000, 20_480, 300],
    );
    let total: f64 = bytes.iter().sum();
    assert!((bytes[0] / total - 0.1).abs() < 0.001, "{bytes:?}");
    assert!(jain(&bytes) > 0.9999, "{bytes:?}");
}

#[test]
fn one_message_per_burst_or_32_gives_the_same_bytes() {
    let mut schedule = Schedule::default();
    schedule.wake(0, 0);
    schedule.wake(1, 1_000);
    let mut bytes = [0u64; 2];
    for _ in 0..20_000 {
        let tenant = schedule.front().unwrap() as usize / 1_000;
        let cost = [192, 6_144][tenant];
        bytes[tenant] += u64::from(cost);
        schedule.served(cost, false);
    }
    let ratio = bytes[0] as f64 / bytes[1] as f64;
    assert!((ratio - 1.0).abs() < 0.005, "{bytes:?}");
}

#[test]
fn a_debt_stays_while_its_tenant_is_away_and_credit_does_not() {
    let mut schedule = Schedule::default();
    schedule.wake(1, 10);
    schedule.wake(2, 20);
    // Tenant 1 sends, and has nothing for a moment.
    schedule.served(20_000, false);
    schedule.served(10_000, false);
    schedule.served(10_000, false);
    let parked = schedule.front();
    schedule.park();
    schedule.wake(1, 10);
    assert_eq!(parked, Some(10));
    assert_eq!(serve(&mut schedule, 3, 10_000), [20, 10, 20]);
    // It has nothing for long, which gives it no right to more than its share.
    schedule.park();
    serve(&mut schedule, 100, 10_000);
    schedule.wake(1, 10);
    let next = serve(&mut schedule, 8, 10_000);
    assert_eq!(next.iter().filter(|&&qp| qp == 10).count(), 4, "{next:?}");
}

#[test]
fn a_tenant_without_tokens_holds_up_nobody() {
    let mut schedule = Schedule::default();
    let mut limits = BTreeMap::new();
    let mut bytes = [0u64; 3];
    // Tenant 0 is held to 10 Gb/s; the port sends 25 bytes per ns.
    let share = TenantShare {
        limit: Some(RateLimit {
            bits_per_second: 10_000_000_000,
            bucket: 64 << 10,
        }),
        ..TenantShare::default()
    };
    schedule.set_share(0, &share.row());
    limits.insert(0, TokenBucket::new(share.row(), Ticks(0)));
    for tenant in 0..3 {
        schedule.wake(tenant, tenant * 1_000);
    }
    let mut bytes_sent = 0u64;
    let end = Ticks(1_250_000);
    loop {
        let now = Ticks((bytes_sent / 200) as u32);
        if now.reached(end) {
            break;
        }
        if let Some(tenant) = schedule.resting() {
            let may_send = limits.get_mut(&tenant).unwrap().pay(0, now);
            schedule.asked(may_send);
        }
        let tenant = schedule.tenant_in_front().expect("others always have work");
        let bucket = limits.get_mut(&tenant);
        let rests = bucket.is_some_and(|bucket| !bucket.pay(BURST, now));
        bytes[tenant as usize] += u64::from(BURST);
        bytes_sent += u64::from(BURST);
        schedule.served(BURST, rests);
    }
    // 10 ms at 10 Gb/s, and the bucket that was full.
    let limited = bytes[0] as f64 - f64::from(64 << 10);
    assert!((limited / 12.5e6 - 1.0).abs() < 0.005, "{bytes:?}");
    assert!((bytes[1] as f64 / bytes[2] as f64 - 1.0).abs() < 0.002);
}

proptest! {
    /// Any weights, any numbers of queue pairs, any lengths: each tenant has its share but for two bursts.
    #[test]
    fn shares_are_those_of_the_weights(
        tenants in prop::collection::vec((1u8.., 1u32..40), 1..12),
        lengths in prop::collection::vec(128u32..20_480, 1..50),
    ) {
        let mut schedule = Schedule::default();
        for (tenant, &(weight, qps)) in (0..).zip(&tenants) {
            set_weight(&mut schedule, tenant, weight);
            for qp in 0..qps {
                schedule.wake(tenant, tenant * 1_000 + qp);
            }
        }
        let total = 30_000_000;
        let bytes = bytes_of(&mut schedule, tenants.len(), total, &lengths);
        let step = |weight: u8| f64::from(TenantShare::of_weight(NonZeroU8::new(weight).unwrap()).row().step);
        let times: Vec<f64> = bytes.iter().zip(&tenants).map(|(bytes, &(weight, _))| bytes * step(weight) / 65_535.0).collect();
        let (least, most) = times.iter().fold((f64::MAX, 0.0_f64), |(least, most), &time| (least.min(time), most.max(time)));
        // One burst of weight 1, a bucket, and the rounding of virtual time by 1/256 byte for each burst.
        prop_assert!(most - least <= 20_480.0 + 1_024.0 + 1_000.0, "{times:?}");
    }
}
