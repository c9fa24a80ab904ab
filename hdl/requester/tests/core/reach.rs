//! Histories from fixed seeds, as in the lockstep test, reach every RC behaviour.

use std::collections::BTreeSet;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stellar_transport::requester::{Requester, RequesterCounters};
use stellar_wire::host::WcStatus;

use crate::core::lockstep::Bench;

const HISTORIES: u64 = 128;
const EVENTS: usize = 300;

#[test]
fn histories_reach_everything_over_rc() {
    let mut all = Vec::<RequesterCounters>::new();
    let mut errors = BTreeSet::new();
    let mut dropped = 0;
    for seed in 0..HISTORIES {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut bench = Bench::new(rng.random());
        for _ in 0..EVENTS {
            bench.act(rng.random_range(0..64), rng.random());
        }
        bench.compare_counters();
        dropped += bench.rig.dropped;
        for pair in &bench.pairs {
            if let Requester::Rc(rc) = &pair.reference {
                all.push(*rc.counters());
                errors.extend(rc.error().map(WcStatus::code));
            }
        }
    }
    let sum = |of: fn(&RequesterCounters) -> u64| all.iter().map(of).sum::<u64>();
    for (what, count) in [
        ("packets", sum(|c| c.packets)),
        ("packets sent again", sum(|c| c.retransmissions)),
        ("acknowledgements", sum(|c| c.acks)),
        ("NAKs", sum(|c| c.naks)),
        ("acknowledgements ignored", sum(|c| c.acks_ignored)),
        ("timeouts", sum(|c| c.timeouts)),
    ] {
        assert!(count >= HISTORIES, "{count} {what}");
    }
    // `unreadable` has many of them.
    assert!(dropped > 0, "no location of a packet that was not sent");
    for status in [
        WcStatus::RetryExcErr,
        WcStatus::RnrRetryExcErr,
        WcStatus::RemInvReqErr,
        WcStatus::RemAccessErr,
        WcStatus::RemOpErr,
        WcStatus::LocProtErr,
        WcStatus::LocQpOpErr,
        WcStatus::LocLenErr,
        WcStatus::WrFlushErr,
    ] {
        assert!(
            errors.contains(&status.code()),
            "no queue pair failed with {status:?}"
        );
    }
}
