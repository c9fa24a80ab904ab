//! Random mixes of messages over random networks.

use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stellar_transport::endpoint::{CardModel, TransportConfig};
use stellar_transport::requester::{Backoff, RcConfig, NO_COALESCING};
use stellar_transport::responder::MAX_SACK_EVERY;
use stellar_transport::rx::Psn;
use stellar_transport::spray::Policy;
use stellar_wire::host::{Wqe, WqeOpcode};

use crate::endpoint::network::{Fate, Seen};
use crate::endpoint::pair::{mrc, qp, spray, write, write_imm, Pair, REGION};

const QPS: [u32; 2] = [5, 1023];

/// Chances in 1,000.
#[derive(Clone, Copy, Debug)]
struct Weather {
    loss: u32,
    duplication: u32,
    marks: u32,
    /// Largest extra delay in ticks.
    jitter: u64,
    seed: u64,
}

impl Weather {
    fn rule(self) -> impl FnMut(&Seen<'_>) -> Fate + 'static {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        move |_| Fate {
            lost: rng.random_range(0..1000) < self.loss,
            again_after: (rng.random_range(0..1000) < self.duplication)
                .then(|| rng.random_range(0..2000)),
            marked: rng.random_range(0..1000) < self.marks,
            delay: rng.random_range(0..=self.jitter),
            ..Fate::default()
        }
    }
}

fn weather(loss: u32, duplication: u32) -> impl Strategy<Value = Weather> {
    let marks = prop_oneof![Just(0), 0..300u32];
    (0..=loss, 0..=duplication, marks, 0..600u64, any::<u64>()).prop_map(
        |(loss, duplication, marks, jitter, seed)| Weather {
            loss,
            duplication,
            marks,
            jitter,
            seed,
        },
    )
}

/// A message to post: queue pair, kind, length, gap before it in the target.
type Order = (usize, u8, u32, u64);

fn orders() -> impl Strategy<Value = Vec<Order>> {
    let length = prop_oneof![3 => 0..20u32, 3 => 900..1100u32, 4 => 0..6000u32, 1 => 0..30_000u32];
    prop::collection::vec((0..2usize, 0..8u8, length, 0..70u64), 1..25)
}

/// Posts what fits the region; returns the identifiers that must complete, and the immediates, by queue pair.
fn post(pair: &mut Pair, orders: &[Order]) -> [(Vec<u64>, Vec<u32>); 2] {
    let mut expected: [(Vec<u64>, Vec<u32>); 2] = Default::default();
    let mut at = 0;
    for (id, &(qp, kind, length, gap)) in (0..).zip(orders) {
        at += gap;
        if at + u64::from(length) > REGION {
            break;
        }
        let from = (at * 7 + 13) % (REGION - u64::from(length) + 1);
        let wqe = match kind {
            0 => Wqe {
                opcode: WqeOpcode::Nop,
                wr_id: id,
                ..Wqe::default()
            },
            1 | 2 => write_imm(from, at, length, id, id as u32 ^ 0xa5a5),
            3 => Wqe {
                fence: true,
                ..write(from, at, length, id)
            },
            4 => Wqe {
                ..write(from, at, 0, id)
            }
            .with_inline(&[id as u8; Wqe::INLINE][..length.min(64) as usize])
            .expect("inline data"),
            5 => Wqe {
                signaled: false,
                ..write(from, at, length, id)
            },
            _ => write(from, at, length, id),
        };
        if kind != 0 {
            at += u64::from(length);
        }
        if wqe.signaled {
            expected[qp].0.push(id);
        }
        if wqe.opcode == WqeOpcode::WriteImm {
            expected[qp].1.push(wqe.immediate);
        }
        pair.post(QPS[qp], wqe);
    }
    expected
}

/// Runs to the end and checks everything.
fn check(mut pair: Pair, orders: &[Order]) -> Result<Pair, TestCaseError> {
    let expected = post(&mut pair, orders);
    pair.run();
    pair.check_memory();
    for (qp, (ids, immediates)) in QPS.into_iter().zip(expected) {
        let sent = pair.completions(0, qp);
        prop_assert!(
            sent.iter().all(|c| c.status.name() == "Success"),
            "{sent:?}"
        );
        prop_assert_eq!(sent.iter().map(|c| c.wr_id).collect::<Vec<_>>(), ids);
        let received = pair.completions(1, qp);
        prop_assert_eq!(
            received.iter().map(|c| c.immediate).collect::<Vec<_>>(),
            &immediates[..]
        );
        prop_assert_eq!(pair.cards[1].imm_count(qp), Some(immediates.len() as u32));
    }
    for card in &mut pair.cards {
        prop_assert_eq!(card.poll_event(), None);
        prop_assert_eq!(card.next_deadline(), None);
    }
    Ok(pair)
}

/// `sack_every`, and the congestion window from which on packets do not request a SACK.
type Coalescing = (u8, u32);

fn coalescing(from: impl Strategy<Value = u32>) -> impl Strategy<Value = Coalescing> {
    (1..=MAX_SACK_EVERY, from)
}

fn mrc_pair(
    weather: Weather,
    psn: u32,
    early_loss: u16,
    mpr: u16,
    policy: Policy,
    (sack_every, coalesce_from): Coalescing,
    window_blocks: u32,
) -> Pair {
    let model = CardModel {
        window_blocks,
        ..CardModel::default()
    };
    let mut pair = Pair::of(model, weather.rule());
    for number in QPS {
        pair.connect(|card| {
            let mut config = mrc(10);
            config.early_loss = early_loss;
            config.mpr = mpr;
            config.coalesce_from = coalesce_from;
            config.retry_budget = 20;
            config.backoff = if psn.is_multiple_of(2) {
                Backoff::Fixed
            } else {
                Backoff::Exponential
            };
            config.spray = spray(policy, 32, number);
            let mut qp = qp(card, number, 10, TransportConfig::Mrc(config));
            (qp.sq_psn, qp.rq_psn) = (Psn::new(psn), Psn::new(psn));
            qp.imm.max_wimm = if psn.is_multiple_of(3) { 256 } else { 3 };
            qp.sack_every = sack_every;
            qp
        });
    }
    pair
}

fn psn() -> impl Strategy<Value = u32> {
    prop_oneof![0..1u32 << 24, (1 << 24) - 40..1u32 << 24]
}

fn policy() -> impl Strategy<Value = Policy> {
    prop_oneof![
        Just(Policy::Obs),
        Just(Policy::EvState),
        Just(Policy::RoundRobin),
        Just(Policy::SinglePath)
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn mrc_delivers_everything_once_and_in_order(
        weather in weather(80, 80), orders in orders(), psn in psn(), policy in policy(),
        early_loss in prop_oneof![Just(0u16), 8..200u16], mpr in prop_oneof![Just(1024u16), 1..64u16],
        coalescing in coalescing(prop_oneof![Just(0), Just(64 << 10), Just(NO_COALESCING)]),
        // Both queue pairs have odd numbers and share a pool. With one block only one of them can send.
        blocks in prop_oneof![Just(512u32), 1..5u32],
    ) {
        let pair = mrc_pair(weather, psn, early_loss, mpr, policy, coalescing, blocks);
        check(pair, &orders)?;
    }

    #[test]
    fn without_loss_no_packet_is_sent_twice(
        weather in weather(0, 80), orders in orders(), psn in psn(), policy in policy(),
        coalescing in coalescing(prop_oneof![Just(64 << 10), Just(NO_COALESCING)]),
    ) {
        let pair = check(mrc_pair(weather, psn, 0, 1024, policy, coalescing, 512), &orders)?;
        for qp in QPS {
            let counters = pair.cards[0].qp_counters(qp).expect("queue pair");
            prop_assert_eq!((counters.retransmissions, counters.timeouts), (0, 0));
            prop_assert_eq!((counters.sacks_inconsistent, counters.sacks_out_of_window), (0, 0));
        }
    }

    #[test]
    fn rc_delivers_everything_once_and_in_order(
        mut weather in weather(40, 40), orders in orders(), psn in psn(),
        window in prop_oneof![Just(128u16), 1..20u16], ack_every in 1..40u16,
    ) {
        // One path: packets keep their order but for duplicates.
        weather.jitter = 0;
        let mut pair = Pair::new(weather.rule());
        for number in QPS {
            pair.connect(|card| {
                let config = RcConfig { window, ack_every, retry_count: 50, ..RcConfig::default() };
                let mut qp = qp(card, number, 10, TransportConfig::Rc(config));
                (qp.sq_psn, qp.rq_psn) = (Psn::new(psn), Psn::new(psn));
                qp
            });
        }
        check(pair, &orders)?;
    }

    #[test]
    fn two_runs_are_the_same_to_the_byte(weather in weather(50, 50), orders in orders()) {
        let run = || {
            let mut pair = mrc_pair(weather, 7, 32, 1024, Policy::Obs, (8, 64 << 10), 512);
            pair.network.log = Some(Vec::new());
            post(&mut pair, &orders);
            pair.run();
            pair.network.log.take().expect("log")
        };
        prop_assert!(run() == run());
    }
}
