//! What a card checks and copies under each payload policy, and that what the random runs are to cover does happen.

use stellar_transport::endpoint::{PayloadPolicy, QpConfig, TransportConfig};
use stellar_transport::requester::{RcConfig, RequesterCounters};
use stellar_transport::spray::Policy;
use stellar_wire::host::{WcStatus, Wqe};
use stellar_wire::Opcode;

use super::channel::{run, Plan, Run, Weather};
use super::skin::{Bytes, Records};
use crate::endpoint::cards::{mrc, qp, spray, write};

/// A counter of a requester.
type Count = fn(&RequesterCounters) -> u64;

const QP: u32 = 5;

const CALM: Weather = Weather {
    loss: 0,
    duplication: 0,
    marks: 0,
    trims: 0,
    nacks: 0,
    jitter: 0,
    down: None,
    seed: 1,
};

fn mrc_qp(card: u8) -> QpConfig {
    let mut config = mrc(10);
    config.spray = spray(Policy::EvState, 32, 9);
    config.retry_budget = 20;
    qp(card, QP, 10, TransportConfig::Mrc(config))
}

fn rc_qp(card: u8) -> QpConfig {
    qp(card, QP, 10, TransportConfig::Rc(RcConfig::default()))
}

fn plan(weather: Weather, qp: fn(u8) -> QpConfig, posts: &[Wqe]) -> Plan {
    let post = |&wqe| (0, 0, QP, wqe);
    Plan {
        weather,
        qps: [vec![qp(0)], vec![qp(1)]],
        posts: posts.iter().map(post).collect(),
    }
}

/// The run, which is the same in both skins.
#[track_caller]
fn same(plan: &Plan) -> Run {
    let bytes = run::<Bytes>(plan, PayloadPolicy::Bytes);
    assert_eq!(run::<Records>(plan, PayloadPolicy::Checked), bytes);
    bytes
}

fn statuses(run: &Run) -> Vec<WcStatus> {
    run.completions.iter().map(|cqe| cqe.status).collect()
}

#[test]
fn losses_marks_trims_nacks_and_a_port_that_is_down_are_the_same() {
    let posts: Vec<Wqe> = (0..12)
        .map(|i| write(i * 8192, i * 8192, 8192, i))
        .collect();
    let runs: Vec<Run> = (0..8)
        .map(|seed| {
            let weather = Weather {
                loss: 60,
                marks: 200,
                trims: 60,
                nacks: 500,
                jitter: 400,
                // While the first packets arrive.
                down: Some((400, 60_000)),
                seed,
                ..CALM
            };
            same(&plan(weather, mrc_qp, &posts))
        })
        .collect();
    for run in &runs {
        assert_eq!(statuses(run), [WcStatus::Success; 12]);
    }
    let of_sender: [(&str, Count); 7] = [
        ("timeouts", |counters| counters.timeouts),
        ("retransmissions", |counters| counters.retransmissions),
        ("marks", |counters| counters.ecn_marks),
        ("trims", |counters| counters.nacks_trimmed),
        ("NACKs", |counters| counters.nacks_recoverable),
        ("probes", |counters| counters.probes),
        ("probe answers", |counters| counters.probe_answers),
    ];
    for (what, count) in of_sender {
        let most = runs.iter().map(|run| count(&run.requesters[0])).max();
        assert!(most > Some(0), "no {what} in any run");
    }
    let while_down = runs.iter().map(|run| run.cards[1].frames_while_down).max();
    assert!(while_down > Some(0), "no frame reaches a port that is down");
}

#[test]
fn rc_that_goes_back_is_the_same() {
    let weather = Weather { loss: 30, ..CALM };
    let posts: Vec<Wqe> = (0..6)
        .map(|i| write(i * 20_000, i * 20_000, 20_000, i))
        .collect();
    let run = same(&plan(weather, rc_qp, &posts));
    let counters = &run.requesters[0];
    assert!(
        counters.naks > 0 && counters.retransmissions > 0,
        "{counters:?}"
    );
    assert_eq!(statuses(&run), [WcStatus::Success; 6]);
}

#[test]
fn a_key_of_the_target_that_is_wrong_is_found_unless_nothing_is_checked() {
    let wrong = Wqe {
        rkey: 0xbad00,
        ..write(0, 0, 5000, 1)
    };
    for qp in [mrc_qp, rc_qp] {
        let plan = plan(CALM, qp, &[wrong]);
        let refused = same(&plan);
        assert_ne!(statuses(&refused), [WcStatus::Success]);
        for run in [
            run::<Bytes>(&plan, PayloadPolicy::Unchecked),
            run::<Records>(&plan, PayloadPolicy::Unchecked),
        ] {
            assert_eq!(statuses(&run), [WcStatus::Success]);
        }
    }
}

#[test]
fn a_key_of_the_source_that_is_wrong_is_found_unless_nothing_is_checked() {
    let wrong = Wqe {
        lkey: 0xbad00,
        ..write(0, 0, 5000, 1)
    };
    let plan = plan(CALM, mrc_qp, &[wrong]);
    let refused = same(&plan);
    assert_eq!(statuses(&refused), [WcStatus::LocProtErr]);
    assert_eq!(refused.sent, []);
    let unchecked = run::<Bytes>(&plan, PayloadPolicy::Unchecked);
    let writes = |opcode: Opcode| {
        unchecked
            .sent
            .iter()
            .filter(|sent| sent.3.opcode == opcode)
            .count()
    };
    assert_eq!(writes(Opcode::MrcWriteMiddle), 3);
}
