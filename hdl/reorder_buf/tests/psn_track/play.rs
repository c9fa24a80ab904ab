//! A stream as tokens for the block, and what the reference says of each.

use rust_hdl::prelude::*;
use stellar_transport::rx::{
    self, AckBody, Psn, PsnTrack as Reference, QpMode, RcClass, RcOutcome, TrackedPacket, WINDOW,
};
use stellar_wire::hw::ack::AckRequest;
use stellar_wire::hw::core::{Pieces, TranslatedToken};
use stellar_wire::hw::dma::PlaceCommand;
use stellar_wire::hw::frame::DropReason;
use stellar_wire::hw::pack::{to_words, Record};
use stellar_wire::hw::tables::TableSelect;

use hdl_reorder_buf::psn_track::LATENCY;

use crate::common::{context, fence, flag, get, headers, packet, run, span, table, Schedule, QPS};
use crate::library;
use crate::steps::{Number, Step};

/// What is compared of one token.
#[derive(Debug, PartialEq, Default)]
pub struct Output {
    command: Option<Command>,
    /// Kind, reason and the fields that kind has.
    ack: Option<Vec<String>>,
}

#[derive(Debug, PartialEq)]
pub enum Command {
    Fence,
    Frame {
        reason: String,
        bytes: u64,
        span: Vec<u32>,
        /// Offset, length and pieces, if placed.
        place: Option<(u64, u64, Vec<u32>)>,
    },
}

pub fn ack_fields(words: &[u32]) -> Vec<String> {
    let ack = Record::<AckRequest>::new(words);
    let kind = ack.variant("kind");
    let mut names = vec![
        "reason",
        "qp",
        "psn",
        "syndrome",
        "ecn_ce",
        "entropy",
        "has_timestamp",
    ];
    names.extend(match kind.as_str() {
        "AckKind::Sack" => &["cack_psn", "bitmap_base", "bitmap"][..],
        "AckKind::Nack" => &[],
        _ => &["msn"],
    });
    if ack.bool("has_timestamp") {
        names.push("timestamp");
    }
    let field = |name| format!("{name}={:#x}", ack.u64(name));
    std::iter::once(kind.clone())
        .chain(names.into_iter().map(field))
        .collect()
}

pub fn command(words: &[u32], counted: bool, reason: String, bytes: u64) -> Command {
    let command = Record::<PlaceCommand>::new(words);
    assert_eq!(
        command.bool("fence"),
        !counted,
        "frames are counted, fences are not"
    );
    if !counted {
        return Command::Fence;
    }
    let place = command.bool("place").then(|| {
        (
            command.u64("offset"),
            command.u64("length"),
            command.words("pieces"),
        )
    });
    Command::Frame {
        reason,
        bytes,
        span: command.words("span"),
        place,
    }
}

pub struct Pair {
    number: u32,
    context: rx::QpContext,
    pub track: Reference,
    past: Vec<Psn>,
}

impl Pair {
    pub fn new(number: u32, mode: QpMode, initial_psn: Psn) -> Self {
        Self {
            number,
            context: context(mode, 12, initial_psn),
            track: Reference::new(initial_psn),
            past: vec![],
        }
    }

    pub fn psn(&self, number: Number) -> Psn {
        let epsn = self.track.epsn();
        match number {
            Number::Ahead(by) => epsn.plus(by.rem_euclid(1 << 24) as u32),
            Number::Within(thousandth) => epsn.plus(thousandth * WINDOW / 1000),
            Number::Again(before) => self.past.iter().rev().nth(before).copied().unwrap_or(epsn),
        }
    }
}

/// A stream for four queue pairs, its expected outputs, and the reference after it.
pub struct Play {
    pub schedule: Schedule,
    pub expected: Vec<Output>,
    pub pairs: Vec<Pair>,
}

impl Play {
    pub fn new(initial: [u32; 4]) -> Self {
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

    pub fn step(&mut self, at: usize, gap: usize, step: &Step) {
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
    pub fn good(&mut self, at: usize, number: Number) {
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

    pub fn epsn(&self, at: usize) -> u32 {
        self.pairs[at].track.epsn().value()
    }

    pub fn compare(&self) {
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
pub fn receive(pair: &mut Pair, step: &Step, count: u32, token: &mut TranslatedToken) -> Output {
    let Step::Packet {
        number,
        early,
        bad_frame,
        rc,
        late,
        access,
        length,
    } = *step
    else {
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
    let access = if length == 0 {
        rx::DropReason::None
    } else {
        access
    };
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
    token.reason = if early == rx::DropReason::None {
        late
    } else {
        early
    }
    .into();
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
