//! Every frame's token and control packet equal the reference, whatever the gaps.

use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stellar_transport::rx::{
    parse_control, Addressing, ControlFrame, DropReason, QpMode, RxConfig,
};
use stellar_wire::hw::core::CoreToken;
use stellar_wire::hw::pack::{to_words, Record};
use stellar_wire::hw::requester::ControlPacket;
use stellar_wire::Opcode;

use crate::control::bench::{Bench, WIDTHS};
use crate::control::packets::{control, data, peer, OWN, QPS};
use crate::front::frames::{any_frame, any_of, TestFrame};

/// Returns the reference's result for a frame: its reason, and the control packet if it is one.
pub fn judge(frame: &TestFrame) -> (DropReason, Option<ControlFrame>) {
    let addressing = Addressing {
        own: OWN,
        peer: &|qp| QPS.contains(&qp).then(|| peer(qp)),
    };
    let reason = addressing.check(&frame.bytes, frame.expected()).reason;
    let found = (reason == DropReason::UnsupportedOpcode)
        .then(|| parse_control(&frame.bytes, &RxConfig::default()))
        .flatten();
    let Some(found) = found else {
        return (reason, None);
    };
    let number = found.roce.bth.dest_qp;
    let known = QPS.contains(&number).then(|| peer(number));
    (found.reason(known.as_ref()), Some(found))
}

/// The fields that a kind defines.
pub fn meaningful(words: &[u32]) -> Vec<(&'static str, Vec<u32>)> {
    let record = Record::<ControlPacket>::new(words);
    let mut names = vec!["kind", "qp", "port", "psn", "ecn_ce", "entropy"];
    names.extend(match record.variant("kind").as_str() {
        "ControlKind::Sack" => &["reflected", "seth", "cc_state"][..],
        "ControlKind::Nack" => &["reflected", "neth"],
        _ => &["aeth"],
    });
    names
        .into_iter()
        .map(|name| (name, record.words(name)))
        .collect()
}

fn check_token(words: &[u32], frame: &TestFrame, reason: DropReason, found: Option<&ControlFrame>) {
    let token = Record::<CoreToken>::new(words);
    let probe = found
        .filter(|_| reason == DropReason::Control)
        .filter(|found| found.roce.bth.opcode == Opcode::MrcProbe);
    assert_eq!(token.bool("headers.probe"), probe.is_some());
    let Some(probe) = probe else {
        assert_eq!(
            token.variant("headers.reason"),
            format!("DropReason::{reason}"),
            "{frame:02x?}"
        );
        return;
    };
    assert_eq!(token.variant("headers.reason"), "DropReason::None");
    let peth = probe.roce.ext.peth.expect("a probe");
    let qp = probe.roce.bth.dest_qp;
    let expected = [
        ("headers.mrc", (peer(qp).mode == QpMode::Mrc).into()),
        ("headers.has_timestamp", 1),
        ("headers.timestamp", peth.timestamp.tx_timestamp.into()),
        ("headers.msn", peth.probe_id.into()),
        ("headers.dest_qp", probe.roce.bth.dest_qp.into()),
        ("headers.pkey", probe.roce.bth.pkey.into()),
        ("headers.payload_length", 0),
        ("headers.ecn_ce", probe.ecn_ce.into()),
        (
            "headers.entropy",
            stellar_wire::mrc::Entropy::of(&probe.roce.ip, &probe.roce.udp)
                .0
                .into(),
        ),
    ];
    for (name, value) in expected {
        let found = if token.words(name).len() == 1 {
            token.words(name)[0].into()
        } else {
            token.u64(name)
        };
        assert_eq!(found, value, "{name}");
    }
}

fn run(width: usize, port: bool, frames: &[TestFrame], seed: u64) {
    let peers = QPS.map(|qp| (qp, peer(qp)));
    let mut bench = Bench::new(width, port, &peers);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (idle, token, control) = (
        rng.random_range(0.0..0.9),
        rng.random_range(0.2..1.0),
        rng.random_range(0.1..1.0),
    );
    for frame in frames {
        bench.send(frame.clone());
    }
    while !bench.all_sent() {
        bench.step(
            rng.random_bool(idle),
            rng.random_bool(token),
            rng.random_bool(control),
        );
    }
    for _ in 0..2 * frames.len() + 60 {
        bench.step(true, true, true);
    }
    assert_eq!(bench.tokens.len(), frames.len());
    let mut expected = vec![];
    for (frame, token) in frames.iter().zip(&bench.tokens) {
        let (reason, found) = judge(frame);
        check_token(token, frame, reason, found.as_ref());
        if let Some(found) = found {
            if reason == DropReason::Control && found.roce.bth.opcode != Opcode::MrcProbe {
                expected.push(to_words(found.to_hw(port).expect("a control packet")));
            }
        }
    }
    assert_eq!(bench.controls.len(), expected.len());
    for (found, wanted) in bench.controls.iter().zip(&expected) {
        assert_eq!(meaningful(found), meaningful(wanted));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn control_packets_among_data_are_told_apart(
        frames in prop::collection::vec(
            prop_oneof![
                4 => control().prop_map(|frame| TestFrame::good(frame.emit().expect("a frame"))),
                2 => any_of(control()),
                2 => data().prop_map(|frame| TestFrame::good(frame.emit().expect("a frame"))),
                1 => any_of(data()),
                1 => any_frame(),
            ],
            1..60,
        ),
        port in any::<bool>(),
        seed in any::<u64>(),
    ) {
        for width in WIDTHS {
            run(width, port, &frames, seed);
        }
    }
}

/// The random test is worth something only if all fates come up.
#[test]
fn random_packets_have_every_fate() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut counts = std::collections::BTreeMap::new();
    let packets = prop_oneof![control(), data()];
    for _ in 0..3000 {
        let frame = packets.new_tree(&mut runner).expect("a value").current();
        let frame = TestFrame::good(frame.emit().expect("a frame"));
        *counts.entry(judge(&frame).0.index()).or_insert(0) += 1;
    }
    for reason in [
        DropReason::Control,
        DropReason::ControlForeign,
        DropReason::ControlUnknownQp,
        DropReason::UnsupportedOpcode,
        DropReason::None,
        DropReason::ForeignDestination,
        DropReason::ForeignSource,
    ] {
        assert!(
            counts.get(&reason.index()).is_some_and(|&n| n > 30),
            "{reason}: {counts:?}"
        );
    }
}
