//! `psn_track` against the reference, token by token.

mod common;

use std::sync::OnceLock;

use common::{context, fence, flag, get, headers, one_of, packet, psn, run, span, table, Schedule, QPS};
use hdl_reorder_buf::psn_track::{PsnTrack, LATENCY};
use hdl_verilog::equivalence::{check, Random};
use proptest::prelude::*;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rust_hdl::prelude::*;
use sim_verilated::Library;
use stellar_transport::rx::{
    self, AckBody, Psn, PsnTrack as Reference, QpMode, RcClass, RcOutcome, TrackedPacket, WINDOW,
};
use stellar_wire::hw::ack::AckRequest;
use stellar_wire::hw::core::{self, Pieces, TranslatedToken};
use stellar_wire::hw::dma::PlaceCommand;
use stellar_wire::hw::frame::DropReason;
use stellar_wire::hw::pack::{to_words, Record};
use stellar_wire::hw::tables::TableSelect;

fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let mut block = PsnTrack::default();
        block.connect_all();
        let design = hdl_verilog::emit(&block).expect("psn_track elaborates");
        design.model().build().expect("psn_track verilates")
    })
}

#[test]
fn verilog_agrees_with_rust_hdl() {
    let drive = |block: &mut PsnTrack, rng: &mut _| {
        block.in_valid.next = bool::random(rng);
        let classes = [
            core::RcClass::NotRc,
            core::RcClass::Expected,
            core::RcClass::Duplicate,
            core::RcClass::Gap,
            core::RcClass::GapAgain,
        ];
        let reasons = [DropReason::None, DropReason::None, DropReason::BadSequence, DropReason::UnknownQp];
        block.in_token.next = TranslatedToken {
            token: common::random_token(rng),
            qp: common::random_context(rng),
            reason: one_of(rng, &reasons),
            access_reason: one_of(rng, &[DropReason::None, DropReason::None, DropReason::None, DropReason::BadKey]),
            rc_class: one_of(rng, &classes),
            rc_epsn: Bits::random(rng),
            rc_msn: Bits::random(rng),
            ..TranslatedToken::default()
        };
    };
    check(PsnTrack::default, Some(|b| &mut b.clock), drive, 500, 1).unwrap();
}

/// Which PSN a packet has.
#[derive(Clone, Copy, Debug)]
enum Number {
    /// So far ahead of the expected one (behind if negative).
    Ahead(i32),
    /// In the window, by the thousandth.
    Within(u32),
    /// The one before this many packets again.
    Again(usize),
}

#[derive(Clone, Debug)]
enum Step {
    Packet {
        number: Number,
        early: Option<rx::DropReason>,
        /// The parser's own `BadPayloadLength`, which must not be taken for `rc_track`'s.
        bad_frame: bool,
        /// What `rc_track` found: its class, expected PSN and MSN count for RC only.
        rc: (RcClass, u32, u32),
        late: rx::DropReason,
        access: rx::DropReason,
        length: u16,
    },
    WriteQp(u32),
    WriteMr,
    WriteBeyond,
    Fence,
}

/// `None` nearly always.
fn seldom(reasons: &'static [rx::DropReason]) -> impl Strategy<Value = rx::DropReason> {
    prop_oneof![40 => Just(rx::DropReason::None), 1 => prop::sample::select(reasons)]
}

fn number() -> impl Strategy<Value = Number> {
    let edge = prop::sample::select(&[1_i32, 63, 64, 65, 960, 1022, 1023, 1024, 1025, 2047, 2048, 0x7f_ffff, 0x80_0000, 0x80_0001][..]);
    prop_oneof![
        6 => Just(Number::Ahead(0)),
        6 => (-3..=3_i32).prop_map(Number::Ahead),
        6 => (0..1000_u32).prop_map(Number::Within),
        2 => edge.clone().prop_map(Number::Ahead),
        2 => edge.prop_map(|ahead| Number::Ahead(-ahead)),
        1 => (0x7f_ff80..0x80_0080_i32).prop_map(Number::Ahead),
        1 => (0..20_usize).prop_map(Number::Again),
    ]
}

fn packet_step() -> impl Strategy<Value = Step> {
    let class = prop_oneof![
        8 => Just(RcClass::Expected),
        1 => Just(RcClass::Duplicate),
        1 => Just(RcClass::Gap),
        1 => Just(RcClass::GapAgain),
    ];
    let late: &'static [rx::DropReason] = &[rx::DropReason::BadPayloadLength, rx::DropReason::BadSequence];
    let access: &'static [rx::DropReason] = &[
        rx::DropReason::BadKey,
        rx::DropReason::WrongPd,
        rx::DropReason::NoWriteRight,
        rx::DropReason::OutOfBounds,
        rx::DropReason::InvalidPage,
    ];
    let early = prop::option::weighted(0.05, prop::sample::select(&common::EARLY_REASONS[..]));
    let rc = (class, psn(), psn());
    let length = prop_oneof![Just(0), Just(4096), 1..4096_u16];
    (number(), early, prop::bool::weighted(0.02), rc, seldom(late), seldom(access), length).prop_map(
        |(number, early, bad_frame, rc, late, access, length)| Step::Packet {
            number,
            early,
            bad_frame,
            rc,
            late,
            access,
            length,
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        60 => packet_step(),
        1 => psn().prop_map(Step::WriteQp),
        1 => Just(Step::WriteMr),
        1 => Just(Step::WriteBeyond),
        1 => Just(Step::Fence),
    ]
}

/// What is compared of one token.
#[derive(Debug, PartialEq, Default)]
struct Output {
    command: Option<Command>,
    /// Kind, reason and the fields that kind has.
    ack: Option<Vec<String>>,
}

#[derive(Debug, PartialEq)]
enum Command {
    Fence,
    Frame {
        reason: String,
        bytes: u64,
        span: Vec<u32>,
        /// Offset, length and pieces, if placed.
        place: Option<(u64, u64, Vec<u32>)>,
    },
}

fn ack_fields(words: &[u32]) -> Vec<String> {
    let ack = Record::<AckRequest>::new(words);
    let kind = ack.variant("kind");
    let mut names = vec!["reason", "qp", "psn", "syndrome", "ecn_ce", "entropy", "has_timestamp"];
    names.extend(match kind.as_str() {
        "AckKind::Sack" => &["cack_psn", "bitmap_base", "bitmap"][..],
        "AckKind::Nack" => &[],
        _ => &["msn"],
    });
    if ack.bool("has_timestamp") {
        names.push("timestamp");
    }
    let field = |name| format!("{name}={:#x}", ack.u64(name));
    std::iter::once(kind.clone()).chain(names.into_iter().map(field)).collect()
}

fn command(words: &[u32], counted: bool, reason: String, bytes: u64) -> Command {
    let command = Record::<PlaceCommand>::new(words);
    assert_eq!(command.bool("fence"), !counted, "frames are counted, fences are not");
    if !counted {
        return Command::Fence;
    }
    let place = command
        .bool("place")
        .then(|| (command.u64("offset"), command.u64("length"), command.words("pieces")));
    Command::Frame {
        reason,
        bytes,
        span: command.words("span"),
        place,
    }
}

struct Pair {
    number: u32,
    context: rx::QpContext,
    track: Reference,
    past: Vec<Psn>,
}

impl Pair {
    fn new(number: u32, mode: QpMode, initial_psn: Psn) -> Self {
        Self {
            number,
            context: context(mode, 12, initial_psn),
            track: Reference::new(initial_psn),
            past: vec![],
        }
    }

    fn psn(&self, number: Number) -> Psn {
        let epsn = self.track.epsn();
        match number {
            Number::Ahead(by) => epsn.plus(by.rem_euclid(1 << 24) as u32),
            Number::Within(thousandth) => epsn.plus(thousandth * WINDOW / 1000),
            Number::Again(before) => self.past.iter().rev().nth(before).copied().unwrap_or(epsn),
        }
    }
}

/// A stream for four queue pairs, its expected outputs, and the reference after it.
struct Play {
    schedule: Schedule,
    expected: Vec<Output>,
    pairs: Vec<Pair>,
}

impl Play {
    fn new(initial: [u32; 4]) -> Self {
        let mode = |i| if i == 3 { QpMode::Rc } else { QpMode::Mrc };
        let pair = |i: usize| Pair::new(QPS[i], mode(i), Psn::new(initial[i]));
        let mut play = Self {
            schedule: Schedule::default(),
            expected: vec![],
            pairs: (0..4).map(pair).collect(),
        };
        for (at, psn) in initial.into_iter().enumerate() {
            play.step(at, 0, &Step::WriteQp(psn));
        }
        play
    }

    fn step(&mut self, at: usize, gap: usize, step: &Step) {
        let count = self.expected.len() as u32;
        let pair = &mut self.pairs[at];
        let mut token = TranslatedToken::default();
        let mut named = Some(pair.number);
        let mut output = Output::default();
        match step {
            Step::Packet { .. } => output = receive(pair, step, count, &mut token),
            Step::WriteQp(initial_psn) => {
                *pair = Pair::new(pair.number, pair.context.mode, Psn::new(*initial_psn));
                token.token = table(TableSelect::Qp, pair.number);
                token.qp = pair.context.to_hw();
            }
            Step::WriteMr => {
                token.token = table(TableSelect::Mr, pair.number);
                named = None;
            }
            Step::WriteBeyond => token.token = table(TableSelect::Qp, pair.number + 1024),
            Step::Fence => {
                token.token = fence();
                output.command = Some(Command::Fence);
                named = None;
            }
        }
        self.schedule.push(named, gap, token);
        self.expected.push(output);
    }

    /// A good packet.
    fn good(&mut self, at: usize, number: Number) {
        let step = Step::Packet {
            number,
            early: None,
            bad_frame: false,
            rc: (RcClass::Expected, 0, 0),
            late: rx::DropReason::None,
            access: rx::DropReason::None,
            length: 64,
        };
        self.step(at, 0, &step);
    }

    fn epsn(&self, at: usize) -> u32 {
        self.pairs[at].track.epsn().value()
    }

    fn compare(&self) {
        let outputs = run(library(), &self.schedule, LATENCY, |model| {
            let ack = flag(model, "ack_valid");
            if !flag(model, "out_valid") {
                assert!(!ack, "an acknowledgement without a command");
                return None;
            }
            let number = |port| model.get_u64(model.port(port).expect("port"));
            let reason = rx::DropReason::ALL[number("out_reason") as usize];
            Some(Output {
                command: Some(command(
                    &get(model, "out_command"),
                    flag(model, "out_counted"),
                    format!("{reason:?}"),
                    number("out_payload_bytes"),
                )),
                ack: ack.then(|| ack_fields(&get(model, "ack"))),
            })
        });
        assert_eq!(outputs.len(), self.expected.len());
        for (count, (output, expected)) in outputs.into_iter().zip(&self.expected).enumerate() {
            assert_eq!(&output.unwrap_or_default(), expected, "token {count}");
        }
    }
}

/// Fills in the token of a packet; what the reference says of it.
fn receive(pair: &mut Pair, step: &Step, count: u32, token: &mut TranslatedToken) -> Output {
    let Step::Packet { number, early, bad_frame, rc, late, access, length } = *step else {
        unreachable!("only packets are received")
    };
    let psn = pair.psn(number);
    pair.past.push(psn);
    let headers = rx::PacketHeaders {
        payload_length: length,
        ..headers(pair.context.mode, pair.number, psn, count)
    };
    let is_rc = pair.context.mode == QpMode::Rc;
    let (class, epsn, msn) = if is_rc { rc } else { (RcClass::NotRc, 0, 0) };
    let late = match (is_rc, class, late) {
        // MRC has no sequence of opcodes, and `rc_track` judges only packets it expects.
        (false, _, rx::DropReason::BadSequence) => rx::DropReason::None,
        (true, RcClass::Duplicate | RcClass::Gap | RcClass::GapAgain, _) => rx::DropReason::None,
        _ => late,
    };
    let early = match bad_frame {
        true => rx::DropReason::BadPayloadLength,
        false => early.unwrap_or(rx::DropReason::None),
    };
    let access = if length == 0 { rx::DropReason::None } else { access };
    let outcome = RcOutcome {
        reason: late,
        class,
        epsn: Psn::new(epsn),
        msn,
        address: rx::RcAddress::default(),
    };
    let verdict = pair.track.receive(&TrackedPacket {
        headers: &headers,
        qp_reason: early,
        rc: outcome,
        access_reason: access,
    });
    token.token = packet(&headers, count);
    if bad_frame {
        token.token.headers.reason = DropReason::BadPayloadLength;
    }
    token.qp = pair.context.to_hw();
    token.reason = if early == rx::DropReason::None { late } else { early }.into();
    token.access_reason = access.into();
    token.rc_class = class.into();
    token.rc_epsn = u64::from(epsn).to_bits();
    token.rc_msn = u64::from(msn).to_bits();
    token.pieces = Pieces {
        first_length: u64::from(length).to_bits(),
        first_address: u64::from(count).to_bits(),
        first_translated: true,
        second_address: u64::from(!count).to_bits(),
        second_translated: false,
    };
    let accepted = verdict.reason == rx::DropReason::None;
    let bytes = if accepted { length.into() } else { 0 };
    let place = (bytes > 0).then(|| (58, bytes, to_words(token.pieces)));
    Output {
        command: Some(Command::Frame {
            reason: format!("{:?}", verdict.reason),
            bytes,
            span: to_words(span(count)),
            place,
        }),
        ack: verdict.answer.map(|body: AckBody| {
            let request = rx::AckRequest {
                body,
                reason: verdict.reason,
                qp: pair.number,
                ecn_ce: headers.ecn_ce,
                entropy: headers.entropy,
                timestamp: headers.timestamp,
            };
            ack_fields(&to_words(request.to_hw()))
        }),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_streams_agree_with_the_reference(
        initial in prop::array::uniform4(psn()),
        steps in prop::collection::vec((0..4_usize, prop_oneof![6 => Just(0_usize), 1 => 1..4_usize], step()), 1..400),
    ) {
        let mut play = Play::new(initial);
        for (at, gap, step) in &steps {
            play.step(*at, *gap, step);
        }
        play.compare();
    }
}

#[test]
fn a_window_whose_first_packet_comes_last_moves_at_once() {
    for initial in [0, 1, 63, 64, 0x1_0007c0, 0xff_fc01, 0xff_ffff] {
        let initial = initial & 0xff_ffff;
        let mut play = Play::new([initial; 4]);
        for ahead in (1..WINDOW as i32).rev() {
            play.good(0, Number::Ahead(ahead));
        }
        assert_eq!(play.epsn(0), initial);
        play.good(0, Number::Ahead(0));
        assert_eq!(play.epsn(0), (initial + WINDOW) & 0xff_ffff);
        // The ring is clean again: the next window lies on the same words.
        play.good(0, Number::Ahead(0));
        play.good(0, Number::Ahead(WINDOW as i32 - 1));
        play.compare();
    }
}

#[test]
fn three_interleaved_queue_pairs_at_one_token_per_clock_take_permuted_arrivals_over_many_windows() {
    const PACKETS: u32 = 4096;
    let initial = [0xff_f700, 5, 0x7f_fc3f, 0];
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(7);
    // Each packet is late by less than the window: sort by sending time plus a random delay.
    let mut order = || {
        let mut psns: Vec<(u32, u32)> = (0..PACKETS).map(|n| (n + rng.random_range(0..WINDOW - 1), n)).collect();
        psns.shuffle(&mut rng);
        psns.sort_by_key(|p| p.0);
        psns
    };
    let orders = [order(), order(), order()];
    let mut play = Play::new(initial);
    for n in 0..PACKETS as usize {
        for (at, order) in orders.iter().enumerate() {
            let psn = Psn::new(initial[at] + order[n].1);
            let ahead = psn.distance_from(play.pairs[at].track.epsn());
            play.good(at, Number::Ahead(ahead as i32));
        }
    }
    for (at, first) in initial[..3].iter().enumerate() {
        assert_eq!(play.epsn(at), (first + PACKETS) & 0xff_ffff);
    }
    // Full rate: no clock between the first and the last token is empty.
    let clocks = |i: usize| play.schedule.tokens[i].0;
    assert_eq!(clocks(play.expected.len() - 1) - clocks(4), play.expected.len() - 5);
    play.compare();
}
