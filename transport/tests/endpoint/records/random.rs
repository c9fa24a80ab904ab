//! Random work over random networks, in both skins.

use proptest::prelude::*;
use stellar_transport::endpoint::{PayloadPolicy, QpConfig, TransportConfig};
use stellar_transport::requester::{RcConfig, NO_COALESCING};
use stellar_transport::rx::Psn;
use stellar_transport::spray::Policy;
use stellar_wire::host::Wqe;

use super::channel::{run, Plan, Weather};
use super::skin::{Bytes, Records};
use crate::endpoint::cards::{mrc, qp, spray, write, write_imm, REGION};

/// The first two are MRC, the last one is RC.
const QPS: [u32; 3] = [5, 700, 1023];

/// How the queue pairs are set.
#[derive(Clone, Copy, Debug)]
struct Choice {
    policy: Policy,
    psn: u32,
    sack_every: u8,
    coalesce_from: u32,
    early_loss: u16,
}

fn qps(choice: &Choice, card: u8) -> Vec<QpConfig> {
    let pair = |number: u32| {
        let transport = if number == QPS[2] {
            TransportConfig::Rc(RcConfig {
                retry_count: 50,
                paths: (choice.policy.traits().serves_rc())
                    .then(|| spray(choice.policy, 32, number)),
                ..RcConfig::default()
            })
        } else {
            let mut config = mrc(10);
            config.spray = spray(choice.policy, 32, number);
            config.early_loss = choice.early_loss;
            config.coalesce_from = choice.coalesce_from;
            config.retry_budget = 20;
            TransportConfig::Mrc(config)
        };
        QpConfig {
            sq_psn: Psn::new(choice.psn),
            rq_psn: Psn::new(choice.psn),
            sack_every: choice.sack_every,
            ..qp(card, number, 10, transport)
        }
    };
    QPS.map(pair).to_vec()
}

fn choice() -> impl Strategy<Value = Choice> {
    let policy = prop::sample::select(&Policy::ALL[..]);
    let psn = prop_oneof![0..1u32 << 24, (1 << 24) - 40..1u32 << 24];
    let coalesce_from = prop_oneof![Just(0), Just(64 << 10), Just(NO_COALESCING)];
    let early_loss = prop_oneof![Just(0u16), 8..100u16];
    let sack_every = prop_oneof![Just(4u8), Just(16)];
    (policy, psn, sack_every, coalesce_from, early_loss).prop_map(
        |(policy, psn, sack_every, coalesce_from, early_loss)| Choice {
            policy,
            psn,
            sack_every,
            coalesce_from,
            early_loss,
        },
    )
}

fn weather() -> impl Strategy<Value = Weather> {
    let down = prop::option::of((0..20_000u64, 0..80_000u64));
    let chances = (
        0..60u32,
        0..60u32,
        prop_oneof![Just(0), 0..300u32],
        0..60u32,
        0..800u32,
    );
    let jitter = prop_oneof![Just(0), 0..600u64];
    (chances, jitter, down, any::<u64>()).prop_map(
        |((loss, duplication, marks, trims, nacks), jitter, down, seed)| Weather {
            loss,
            duplication,
            marks,
            trims,
            nacks,
            jitter,
            down: down.map(|(from, span)| (from, from + span)),
            seed,
        },
    )
}

fn posts() -> impl Strategy<Value = Vec<(u64, usize, u32, Wqe)>> {
    let length = prop_oneof![1 => 0..20u32, 3 => 900..1100u32, 3 => 0..6000u32, 2 => 0..60_000u32];
    let post = (
        0..30_000u64,
        0..2usize,
        0..QPS.len(),
        any::<bool>(),
        length,
        0..REGION,
    );
    prop::collection::vec(post, 1..20).prop_map(|posts| {
        let wqe = |(id, (at, card, qp, immediate, length, offset))| {
            let (id, length): (u64, u32) = (id, length);
            let offset = offset % (REGION - u64::from(length));
            let wqe = if immediate {
                write_imm(offset, offset, length, id, id as u32)
            } else {
                write(offset, offset, length, id)
            };
            (at, card, QPS[qp], wqe)
        };
        (0..).zip(posts).map(wqe).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn records_send_what_bytes_send(choice in choice(), weather in weather(), posts in posts()) {
        let qps = [qps(&choice, 0), qps(&choice, 1)];
        let plan = Plan { weather, qps, posts };
        let bytes = run::<Bytes>(&plan, PayloadPolicy::Bytes);
        prop_assert_eq!(&run::<Records>(&plan, PayloadPolicy::Bytes), &bytes);
        prop_assert_eq!(&run::<Records>(&plan, PayloadPolicy::Unchecked), &bytes);
    }
}
