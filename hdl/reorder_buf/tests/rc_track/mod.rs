//! `rc_track` against the reference, token by token.

mod scenario;
mod steps;

use hdl_reorder_buf::rc_track::{RcTrack, LATENCY, SPACING};
use hdl_testkit::equivalence::{check, Random};
use proptest::prelude::*;
use scenario::scenario;
use stellar_wire::hw::core::{AddressedToken, QpToken};
use stellar_wire::hw::frame::DropReason;
use stellar_wire::hw::pack::{to_words, Record};
use steps::{Length, Step};

use crate::common::{self, one_of, run, Schedule};

#[test]
fn verilog_agrees_with_rust_hdl() {
    let drive = |block: &mut RcTrack, rng: &mut _| {
        block.in_.valid.next = bool::random(rng);
        block.in_.token.next = QpToken {
            token: common::random_token(rng),
            qp: common::random_context(rng),
            reason: one_of(
                rng,
                &[DropReason::None, DropReason::None, DropReason::BadPkey],
            ),
        };
    };
    check(RcTrack::default, Some(|b| &mut b.clock), drive, 600, 1).unwrap();
}

/// The compared values of an output. A token that is not a packet must pass unchanged.
#[derive(Debug, PartialEq)]
struct Output {
    token: Vec<u32>,
    qp: Vec<u32>,
    reason: String,
    class: String,
    /// va, rkey, expected PSN, MSN.
    numbers: Option<[u64; 4]>,
}

impl Output {
    fn of(words: &[u32], with_numbers: bool) -> Self {
        let record = Record::<AddressedToken>::new(words);
        Self {
            token: record.words("token"),
            qp: record.words("qp"),
            reason: record.variant("reason"),
            class: record.variant("rc_class"),
            numbers: with_numbers
                .then(|| ["va", "rkey", "rc_epsn", "rc_msn"].map(|f| record.u64(f))),
        }
    }
}

fn compare(schedule: &Schedule, expected: &[AddressedToken]) {
    let outputs = run::<RcTrack, _>(schedule, LATENCY, |dut| {
        dut.is("out_valid").then(|| dut.words("out_token"))
    });
    assert_eq!(outputs.len(), expected.len());
    for (number, (output, expected)) in outputs.iter().zip(expected).enumerate() {
        let words = output
            .as_ref()
            .unwrap_or_else(|| panic!("token {number} got lost"));
        let is_packet = expected.token.kind == stellar_wire::hw::core::TokenKind::Packet
            && !expected.token.headers.probe;
        let wanted = Output::of(&to_words(*expected), is_packet);
        assert_eq!(Output::of(words, is_packet), wanted, "token {number}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_streams_agree_with_the_reference(
        initial in prop::array::uniform4((common::psn(), 8..=12_u8)),
        steps in prop::collection::vec((0..4_usize, prop_oneof![6 => Just(0_usize), 1 => 1..4_usize], steps::step()), 1..250),
    ) {
        let (schedule, expected) = scenario(initial, &steps);
        compare(&schedule, &expected);
    }
}

/// Returns a valid packet that continues or begins a message.
fn good(full_packets: u32) -> (usize, usize, Step) {
    let step = Step::Packet {
        ahead: 0,
        position: None,
        length: Length::Right,
        tail: 100,
        full_packets,
        early: None,
        refused: false,
    };
    (0, 0, step)
}

#[test]
fn a_message_of_four_packets_runs_through_the_psn_wrap_at_closest_spacing() {
    let steps: Vec<_> = (0..20).map(|_| good(3)).collect();
    let (schedule, expected) = scenario([(0xff_fffe, 8); 4], &steps);
    assert!(schedule
        .tokens
        .windows(2)
        .skip(4)
        .all(|pair| pair[1].0 - pair[0].0 == SPACING));
    let last = expected.last().expect("20 packets");
    assert_eq!(u64::from(last.rc_msn.to_u32()), 5);
    assert!(expected.iter().all(|out| out.reason == DropReason::None));
    compare(&schedule, &expected);
}
