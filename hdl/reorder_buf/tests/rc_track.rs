//! `rc_track` against the reference, token by token.

mod common;

use std::sync::OnceLock;

use common::{context, fence, flag, get, headers, one_of, packet, psn, run, table, Schedule, QPS};
use hdl_reorder_buf::rc_track::{RcTrack, LATENCY};
use hdl_verilog::equivalence::{check, Random};
use proptest::prelude::*;
use rust_hdl::prelude::*;
use sim_verilated::Library;
use stellar_transport::rx::{self, Psn, QpMode, RcOutcome};
use stellar_wire::hw::core::{AddressedToken, QpToken};
use stellar_wire::hw::frame::DropReason;
use stellar_wire::hw::pack::{to_words, Record};
use stellar_wire::hw::tables::TableSelect;
use stellar_wire::{Position, Reth};

fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let mut block = RcTrack::default();
        block.connect_all();
        let design = hdl_verilog::emit(&block).expect("rc_track elaborates");
        design.model().build().expect("rc_track verilates")
    })
}

#[test]
fn verilog_agrees_with_rust_hdl() {
    let drive = |block: &mut RcTrack, rng: &mut _| {
        block.in_valid.next = bool::random(rng);
        block.in_token.next = QpToken {
            token: common::random_token(rng),
            qp: common::random_context(rng),
            reason: one_of(rng, &[DropReason::None, DropReason::None, DropReason::BadPkey]),
        };
    };
    check(RcTrack::default, Some(|b| &mut b.clock), drive, 600, 1).unwrap();
}

/// How a packet's payload and DMALen relate to what they should be.
#[derive(Clone, Copy, Debug)]
enum Length {
    Right,
    PayloadOff(i32),
    DmaOff(i32),
    Zero,
    Any(u16, u32),
}

#[derive(Clone, Debug)]
enum Step {
    /// A packet `ahead` of the expected one; without `position`, with the one that continues or begins a message.
    Packet {
        ahead: i32,
        position: Option<Position>,
        length: Length,
        /// Payload of the last packet, and MTUs before it when a message begins.
        tail: u16,
        full_packets: u32,
        early: Option<rx::DropReason>,
    },
    WriteQp { initial_psn: u32, mtu_log2: u8 },
    WriteMr,
    /// Index beyond the table whose low bits are those of the queue pair.
    WriteBeyond,
    Fence,
}

fn packet_step() -> impl Strategy<Value = Step> {
    let ahead = prop_oneof![
        12 => Just(0),
        2 => -2..=2_i32,
        1 => prop_oneof![Just(0x7f_ffff), Just(0x80_0000), Just(-0x80_0000), Just(-0x7f_ffff), any::<i32>()],
    ];
    let position = prop_oneof![
        8 => Just(None),
        1 => Just(Some(Position::First)),
        1 => Just(Some(Position::Middle)),
        1 => Just(Some(Position::Last)),
        1 => Just(Some(Position::Only)),
    ];
    let length = prop_oneof![
        12 => Just(Length::Right),
        1 => (-1..=1_i32).prop_map(Length::PayloadOff),
        1 => (-1..=1_i32).prop_map(Length::DmaOff),
        1 => Just(Length::Zero),
        1 => (0..=4096_u16, any::<u32>()).prop_map(|(p, d)| Length::Any(p, d)),
    ];
    let early = prop::option::weighted(0.05, prop::sample::select(&common::EARLY_REASONS[..]));
    (ahead, position, length, 0..=256_u16, 0..4_u32, early).prop_map(
        |(ahead, position, length, tail, full_packets, early)| Step::Packet {
            ahead,
            position,
            length,
            tail,
            full_packets,
            early,
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        30 => packet_step(),
        1 => (psn(), 8..=12_u8).prop_map(|(initial_psn, mtu_log2)| Step::WriteQp { initial_psn, mtu_log2 }),
        1 => Just(Step::WriteMr),
        1 => Just(Step::WriteBeyond),
        1 => Just(Step::Fence),
    ]
}

/// A queue pair of the reference, and what the stream needs to know to go on sensibly.
struct Pair {
    number: u32,
    mode: QpMode,
    context: rx::QpContext,
    track: rx::RcTrack,
    epsn: Psn,
    msn: u32,
    /// Bytes left of the message in progress.
    left: Option<u32>,
}

impl Pair {
    fn new(number: u32, mode: QpMode, initial_psn: Psn, mtu_log2: u8) -> Self {
        Self {
            number,
            mode,
            context: context(mode, mtu_log2, initial_psn),
            track: rx::RcTrack::new(initial_psn),
            epsn: initial_psn,
            msn: 0,
            left: None,
        }
    }

    fn headers(&self, step: &Step, number: u32) -> rx::PacketHeaders {
        let Step::Packet { ahead, position, length, tail, full_packets, .. } = *step else {
            unreachable!("only packets have headers")
        };
        let mtu = self.context.mtu();
        let position = position.unwrap_or(match self.left {
            Some(left) if left > mtu => Position::Middle,
            Some(_) => Position::Last,
            None if full_packets > 0 => Position::First,
            None => Position::Only,
        });
        let tail = u32::from(tail);
        let (payload, dma_length) = match position {
            Position::First => (mtu, full_packets * mtu + tail),
            Position::Middle => (mtu, 3 * mtu),
            Position::Last => (self.left.unwrap_or(tail).min(4096), 2 * mtu),
            Position::Only => (tail, tail),
        };
        let (payload, dma_length) = match length {
            Length::Right => (payload, dma_length),
            Length::PayloadOff(by) => (payload.saturating_add_signed(by), dma_length),
            Length::DmaOff(by) => (payload, dma_length.wrapping_add_signed(by)),
            Length::Zero => (0, 0),
            Length::Any(payload, dma_length) => (payload.into(), dma_length),
        };
        let reth = Reth {
            va: 0xffff_ffff_ffff_f000_u64.wrapping_add(u64::from(number) << 9),
            rkey: number.wrapping_mul(0x0101_0101),
            dma_len: dma_length,
        };
        let has_reth = self.mode == QpMode::Mrc || position.starts();
        rx::PacketHeaders {
            position,
            reth: has_reth.then_some(reth),
            payload_length: payload as u16,
            ..headers(self.mode, self.number, self.epsn.plus(ahead.rem_euclid(1 << 24) as u32), number)
        }
    }

    fn receive(&mut self, headers: &rx::PacketHeaders) -> RcOutcome {
        let outcome = self.track.receive(&self.context, headers);
        if outcome.epsn != self.epsn {
            let left = self.left.unwrap_or(headers.dma_length());
            self.left = (!headers.position.ends()).then(|| left - u32::from(headers.payload_length));
        }
        (self.epsn, self.msn) = (outcome.epsn, outcome.msn);
        outcome
    }
}

/// What is compared of an output: of a token that is no packet, that it passes unchanged.
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
            numbers: with_numbers.then(|| ["va", "rkey", "rc_epsn", "rc_msn"].map(|f| record.u64(f))),
        }
    }
}

/// Schedule and expected outputs of a stream.
fn play(initial: [(u32, u8); 4], steps: &[(usize, usize, Step)]) -> (Schedule, Vec<AddressedToken>) {
    let mut schedule = Schedule::default();
    let mut expected = vec![];
    let mut pairs: Vec<Pair> = QPS
        .iter()
        .zip(initial)
        .enumerate()
        .map(|(i, (&qp, (psn, mtu)))| {
            let mode = if i == 3 { QpMode::Mrc } else { QpMode::Rc };
            Pair::new(qp, mode, Psn::new(psn), mtu)
        })
        .collect();
    let first = pairs.iter().enumerate().map(|(i, pair)| {
        let write = Step::WriteQp {
            initial_psn: pair.context.initial_psn.value(),
            mtu_log2: pair.context.mtu_log2,
        };
        (i, 0, write)
    });
    let all: Vec<_> = first.chain(steps.iter().cloned()).collect();
    for (number, (at, gap, step)) in all.iter().enumerate() {
        let pair = &mut pairs[*at];
        let number = number as u32;
        let mut out = AddressedToken::default();
        let mut named = Some(pair.number);
        match step {
            Step::Packet { early, .. } => {
                let headers = pair.headers(step, number);
                out.token = packet(&headers, number);
                out.qp = pair.context.to_hw();
                let reth = headers.reth.unwrap_or_default();
                let (mut va, mut rkey) = (reth.va, reth.rkey);
                match early {
                    Some(reason) => out.reason = (*reason).into(),
                    None => {
                        let outcome = pair.receive(&headers);
                        out.reason = outcome.reason.into();
                        out.rc_class = outcome.class.into();
                        (va, rkey) = (outcome.address.va, outcome.address.rkey);
                    }
                }
                out.va = va.to_bits();
                out.rkey = u64::from(rkey).to_bits();
                out.rc_epsn = u64::from(pair.epsn.value()).to_bits();
                out.rc_msn = u64::from(pair.msn).to_bits();
            }
            Step::WriteQp { initial_psn, mtu_log2 } => {
                *pair = Pair::new(pair.number, pair.mode, Psn::new(*initial_psn), *mtu_log2);
                out.token = table(TableSelect::Qp, pair.number);
                out.qp = pair.context.to_hw();
            }
            Step::WriteMr => {
                out.token = table(TableSelect::Mr, pair.number);
                named = None;
            }
            Step::WriteBeyond => out.token = table(TableSelect::Qp, pair.number + 1024),
            Step::Fence => {
                out.token = fence();
                named = None;
            }
        }
        let token = QpToken {
            token: out.token,
            qp: out.qp,
            reason: match step {
                Step::Packet { early: Some(_), .. } => out.reason,
                _ => DropReason::None,
            },
        };
        schedule.push(named, *gap, token);
        expected.push(out);
    }
    (schedule, expected)
}

fn compare(schedule: &Schedule, expected: &[AddressedToken]) {
    let outputs = run(library(), schedule, LATENCY, |model| {
        flag(model, "out_valid").then(|| get(model, "out_token"))
    });
    assert_eq!(outputs.len(), expected.len());
    for (number, (output, expected)) in outputs.iter().zip(expected).enumerate() {
        let words = output.as_ref().unwrap_or_else(|| panic!("token {number} got lost"));
        let is_packet = expected.token.kind == stellar_wire::hw::core::TokenKind::Packet;
        let wanted = Output::of(&to_words(*expected), is_packet);
        assert_eq!(Output::of(words, is_packet), wanted, "token {number}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_streams_agree_with_the_reference(
        initial in prop::array::uniform4((psn(), 8..=12_u8)),
        steps in prop::collection::vec((0..4_usize, prop_oneof![6 => Just(0_usize), 1 => 1..4_usize], step()), 1..250),
    ) {
        let (schedule, expected) = play(initial, &steps);
        compare(&schedule, &expected);
    }
}

/// A packet that continues or begins a message as it should.
fn good(full_packets: u32) -> (usize, usize, Step) {
    let step = Step::Packet {
        ahead: 0,
        position: None,
        length: Length::Right,
        tail: 100,
        full_packets,
        early: None,
    };
    (0, 0, step)
}

#[test]
fn a_message_of_four_packets_runs_through_the_psn_wrap_at_closest_spacing() {
    let steps: Vec<_> = (0..20).map(|_| good(3)).collect();
    let (schedule, expected) = play([(0xff_fffe, 8); 4], &steps);
    assert!(schedule.tokens.windows(2).skip(4).all(|pair| pair[1].0 - pair[0].0 == common::SPACING));
    let last = expected.last().expect("20 packets");
    assert_eq!(u64::from(last.rc_msn.to_u32()), 5);
    assert!(expected.iter().all(|out| out.reason == DropReason::None));
    compare(&schedule, &expected);
}
