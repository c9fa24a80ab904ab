//! RC with a path policy: nothing arrives out of order, and the path does change.

use std::collections::BTreeMap;

use proptest::prelude::*;
use stellar_transport::endpoint::{ConfigError, TransportConfig};
use stellar_transport::requester::{RcConfig, RequesterConfigError, RequesterCounters};
use stellar_transport::spray::Policy;
use stellar_wire::Opcode;

use crate::endpoint::network::{Fate, Seen};
use crate::endpoint::pair::{qp, spray, write, Pair, REGION};

const QP: u32 = 5;
/// Base round trip of [`spray`] in ticks.
const BASE: u64 = 750;
/// WRITEs, each of nearly a whole region.
const WRITES: u64 = 4;
const PACKETS: u64 = 250;

/// How a path behaves for a while: ticks on top of the link's delay, and whether it marks.
type Weather = (u64, bool);

fn transport(policy: Policy, ack_every: u16, seed: u32) -> TransportConfig {
    TransportConfig::Rc(RcConfig {
        ack_every,
        // Many rounds.
        window: 40,
        paths: Some(spray(policy, 16, seed)),
        ..RcConfig::default()
    })
}

/// A network whose paths keep the order of their packets, and change every `period` ticks.
fn paths(weather: Vec<Weather>, period: u64) -> impl FnMut(&Seen<'_>) -> Fate {
    let mut last = BTreeMap::new();
    move |seen: &Seen<'_>| {
        if seen.is(Opcode::RcAck) || seen.is(Opcode::MrcSack) {
            return Fate::default();
        }
        let sport = seen.frame.udp.sport;
        let place = usize::from(sport) * 7 + (seen.now / period) as usize;
        let (delay, marked) = weather[place % weather.len()];
        // Behind the packet before on the same path, whatever their lengths are.
        let last: &mut u64 = last.entry((seen.port, sport)).or_default();
        *last = (*last + 8).max(seen.now + delay);
        Fate {
            delay: *last - seen.now,
            marked,
            ..Fate::default()
        }
    }
}

/// What the sender counted, how often its data changed path, and how often a probe was answered.
struct Outcome {
    counters: RequesterCounters,
    moves: usize,
}

fn run(
    transport: &TransportConfig,
    psn: u32,
    rule: impl FnMut(&Seen<'_>) -> Fate + 'static,
) -> Outcome {
    let mut pair = Pair::new(rule);
    pair.connect(|card| {
        let mut qp = qp(card, QP, 10, transport.clone());
        qp.sq_psn = stellar_transport::rx::Psn::new(psn);
        qp.rq_psn = qp.sq_psn;
        qp
    });
    pair.network.log = Some(Vec::new());
    let length = (PACKETS * 1024).min(REGION - 1) as u32;
    for id in 0..WRITES {
        pair.post(QP, write(0, 0, length, id));
    }
    pair.finish(QP, 0..WRITES);
    let log = pair.network.log.take().expect("log");
    let data = log.iter().filter(|(.., frame)| frame.bth.opcode.is_write());
    let sports: Vec<u16> = data.map(|(.., frame)| frame.udp.sport).collect();
    Outcome {
        counters: *pair.cards[0].qp_counters(QP).expect("queue pair"),
        moves: sports.windows(2).filter(|pair| pair[0] != pair[1]).count(),
    }
}

/// Nothing was taken for a loss.
fn in_order(outcome: &Outcome) -> bool {
    let RequesterCounters {
        naks,
        retransmissions,
        timeouts,
        ..
    } = outcome.counters;
    (naks, retransmissions, timeouts) == (0, 0, 0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn with_hp3_nothing_arrives_out_of_order_whatever_the_delays_are(
        seed in 1..u32::MAX,
        psn in 0..1u32 << 24,
        weather in prop::collection::vec((0..4 * BASE, prop::bool::weighted(0.2)), 3..20),
        period in 2_000..20_000u64,
        ack_every in 1..64u16,
    ) {
        let outcome = run(&transport(Policy::Hp3, ack_every, seed), psn, paths(weather, period));
        prop_assert!(in_order(&outcome), "{:?}", outcome.counters);
    }

    #[test]
    fn with_hopper_nothing_arrives_out_of_order_if_the_delays_of_paths_stay(
        seed in 1..u32::MAX,
        psn in 0..1u32 << 24,
        weather in prop::collection::vec((BASE..3 * BASE, Just(false)), 3..20),
        ack_every in 1..64u16,
    ) {
        let outcome = run(&transport(Policy::Hopper, ack_every, seed), psn, paths(weather, u64::MAX));
        prop_assert!(in_order(&outcome), "{:?}", outcome.counters);
    }

    #[test]
    fn with_losses_and_changing_delays_all_is_delivered(
        hops in any::<bool>(),
        seed in 1..u32::MAX,
        weather in prop::collection::vec((0..4 * BASE, any::<bool>()), 3..20),
        one_in in 60..500u64,
    ) {
        let policy = if hops { Policy::Hopper } else { Policy::Hp3 };
        let mut rule = paths(weather, 9_000);
        let mut frames = u64::from(seed);
        let mut config = RcConfig { retry_count: 255, ..RcConfig::default() };
        config.paths = Some(spray(policy, 16, seed));
        run(&TransportConfig::Rc(config), 0, move |seen| {
            frames += 1;
            let lost = frames.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
            Fate { lost: lost.is_multiple_of(one_in), ..rule(seen) }
        });
    }
}

#[test]
fn the_path_changes_in_such_runs_and_probes_are_answered() {
    for policy in [Policy::Hopper, Policy::Hp3] {
        let mut moves = 0;
        for seed in 1..6 {
            let weather = (0..11).map(|i| (BASE + i * 150, false)).collect();
            let outcome = run(
                &transport(policy, 16, seed * 0x1234_5678),
                0,
                paths(weather, u64::MAX),
            );
            let counters = outcome.counters;
            assert_eq!(counters.probe_answers, counters.probes, "{policy:?}");
            moves += outcome.moves;
        }
        assert!(moves >= 3, "{moves} changes of the path with {policy:?}");
    }
}

#[test]
fn other_policies_are_refused() {
    for policy in Policy::ALL {
        let transport = transport(policy, 16, 1);
        let refused = qp(0, QP, 10, transport).check([10, 0, 0, 1].into()).err();
        let expected = (!policy.traits().serves_rc())
            .then(|| ConfigError::Requester(RequesterConfigError::RcPolicy(policy.name())));
        assert_eq!(refused, expected);
    }
}
