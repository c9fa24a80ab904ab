//! Tokens, and a bench that feeds them to a Verilated block cycle by cycle.
use std::collections::BTreeMap;

use hdl_testkit::equivalence::{Random, TestRng};
use hdl_testkit::Dut;
use proptest::prelude::*;
use rand::Rng;
use rust_hdl::prelude::*;
use stellar_transport::rx::{self, Psn, QpMode, QpState};
use stellar_wire::hw::core::{BufferSpan, CoreToken, TokenKind};
use stellar_wire::hw::frame::{DropReason, PacketHeaders, Position};
use stellar_wire::hw::pack::to_words;
use stellar_wire::hw::tables::{QpContext, TableSelect, TableWrite};
use stellar_wire::mrc::Entropy;

/// Queue pairs of the random streams: neighbours, and the last of the table.
pub const QPS: [u32; 4] = [2, 3, 0x155, 1023];

/// Reasons found before the tracking blocks, of the frame and of the queue pair.
pub const EARLY_REASONS: [rx::DropReason; 5] = [
    rx::DropReason::MacError,
    rx::DropReason::BadIcrc,
    rx::DropReason::UnknownQp,
    rx::DropReason::WrongState,
    rx::DropReason::BadPkey,
];

/// The property of a token that decides how close it may come to others of its queue pair.
#[derive(Clone, Copy)]
pub enum Pace {
    RcPacket,
    /// A data packet.
    MrcPacket(Psn),
    Other,
}

/// A stream of tokens with the cycle each enters in.
pub struct Schedule {
    pub tokens: Vec<(usize, Vec<u32>)>,
    next: usize,
    /// Cycles from a token to another of its queue pair.
    spacing: fn(Pace, Pace) -> usize,
    /// Tokens of each queue pair.
    named: BTreeMap<u32, Vec<(usize, Pace)>>,
}

impl Schedule {
    pub fn new(spacing: fn(Pace, Pace) -> usize) -> Self {
        Self {
            tokens: vec![],
            next: 0,
            spacing,
            named: BTreeMap::new(),
        }
    }

    /// Does what [`Self::push`] does, and adds an empty cycle.
    pub fn push_alone<T: Synth>(&mut self, qp: Option<(u32, Pace)>, gap: usize, token: T) {
        self.push(qp, gap, token);
        self.next += 1;
    }

    /// Adds a token `gap` cycles later than it could be. Tokens that name the same queue pair keep their distance.
    pub fn push<T: Synth>(&mut self, qp: Option<(u32, Pace)>, gap: usize, token: T) {
        let mut clock = self.next;
        if let Some((qp, pace)) = qp {
            let named = self.named.entry(qp).or_default();
            // There is one token per cycle, so the distance in the list is the distance in cycles.
            for &(before, other) in named.iter().rev().take(10) {
                clock = clock.max(before + (self.spacing)(other, pace));
            }
            clock += gap;
            named.push((clock, pace));
        } else {
            clock += gap;
        }
        self.next = clock + 1;
        self.tokens.push((clock, to_words(token)));
    }
}

/// Feeds the schedule to a fresh instance. `sample` is called for each token, in the cycle `latency` after it entered.
/// Fails if `valid` is high in any other cycle than one in which `sample` says so.
pub fn run<B: Block + Default + 'static, O>(
    schedule: &Schedule,
    latency: usize,
    mut sample: impl FnMut(&Dut) -> Option<O>,
) -> Vec<Option<O>> {
    let mut dut = Dut::new::<B>();
    let mut outputs = vec![];
    let end = schedule.tokens.last().map_or(0, |t| t.0) + latency;
    let mut tokens = schedule.tokens.iter().peekable();
    let mut due = schedule.tokens.iter().map(|t| t.0 + latency).peekable();
    for now in 0..end {
        let token = tokens.next_if(|t| t.0 == now);
        dut.offer("in_valid", "in_token", token.map(|(_, words)| &words[..]));
        dut.clock();
        let output = sample(&dut);
        if due.next_if_eq(&(now + 1)).is_some() {
            outputs.push(output);
        } else {
            assert!(output.is_none(), "clock {now}: an output without a token");
        }
    }
    outputs
}

/// Context of a queue pair that takes packets.
pub fn context(mode: QpMode, mtu_log2: u8, initial_psn: Psn) -> rx::QpRow {
    rx::QpRow {
        state: QpState::Ready,
        mode,
        pd: 7,
        pkey: 0xffff,
        mtu_log2,
        initial_psn,
        remote_write: true,
    }
}

/// Headers of a packet without payload, for tests to fill in.
pub fn headers(mode: QpMode, qp: u32, psn: Psn, number: u32) -> rx::PacketHeaders {
    rx::PacketHeaders {
        mode,
        refused: false,
        position: stellar_wire::Position::Only,
        reth: None,
        immediate: None,
        meth: None,
        timestamp: number.is_multiple_of(3).then_some(number as u16),
        ack_req: number.is_multiple_of(2),
        solicited: false,
        retransmission: false,
        pkey: 0xffff,
        dest_qp: qp,
        psn,
        ecn_ce: number.is_multiple_of(5),
        entropy: Entropy(number.wrapping_mul(0x9E37_79B9)),
        payload_offset: 58,
        payload_length: 0,
    }
}

/// Token of a frame; the span tells tokens apart.
pub fn packet(headers: &rx::PacketHeaders, number: u32) -> CoreToken {
    CoreToken {
        kind: TokenKind::Packet,
        lane: number % 2 == 1,
        span: span(number),
        headers: headers.to_hw(),
        ..CoreToken::default()
    }
}

pub fn span(number: u32) -> BufferSpan {
    BufferSpan {
        start: u64::from(number % 4096).to_bits(),
        beats: u64::from(number % 33).to_bits(),
    }
}

/// Token of a table write. The tracking blocks take the context from `qp_fetch`, not from the entry.
pub fn table(select: TableSelect, index: u32) -> CoreToken {
    CoreToken {
        kind: TokenKind::Table,
        table: TableWrite {
            select,
            index: u64::from(index).to_bits(),
            ..TableWrite::default()
        },
        ..CoreToken::default()
    }
}

/// Token of a probe with identifier and time stamp.
pub fn probe(headers: &rx::PacketHeaders, number: u32) -> CoreToken {
    let mut token = packet(headers, number);
    token.headers.probe = true;
    token.headers.has_timestamp = true;
    token.headers.timestamp = u64::from(number as u16).to_bits();
    token.headers.msn = u64::from(!number as u16).to_bits();
    token
}

/// Token that moves a queue pair to state Error. Only `qp_fetch` processes it.
pub fn error(qp: u32) -> CoreToken {
    CoreToken {
        kind: TokenKind::Error,
        ..table(TableSelect::Qp, qp)
    }
}

pub fn fence() -> CoreToken {
    CoreToken {
        kind: TokenKind::Fence,
        ..CoreToken::default()
    }
}

/// PSNs, often close to a value at which something wraps.
pub fn psn() -> impl Strategy<Value = u32> {
    prop_oneof![
        Just(0),
        0xff_f800..=0xff_ffff_u32,
        0..=0xff_ffff_u32,
        (0..=0x3_ffff_u32).prop_map(|word| word << 6),
        Just(0x7f_ffff),
    ]
}

/// Returns one of `values` at random.
pub fn one_of<T: Copy>(rng: &mut TestRng, values: &[T]) -> T {
    values[rng.random_range(0..values.len())]
}

/// Returns any token, valid or not. There are few queue pairs, so that tokens of one queue pair come close together.
pub fn random_token(rng: &mut TestRng) -> CoreToken {
    let near: Bits<4> = Bits::random(rng);
    let length = one_of(rng, &[0_u64, 1, 255, 256, 257, 512, 1024]);
    let mut token = CoreToken {
        kind: one_of(
            rng,
            &[
                TokenKind::Packet,
                TokenKind::Packet,
                TokenKind::Table,
                TokenKind::Fence,
                TokenKind::Error,
            ],
        ),
        lane: bool::random(rng),
        span: BufferSpan {
            start: Bits::random(rng),
            beats: Bits::random(rng),
        },
        headers: random_headers(rng),
        table: TableWrite {
            select: one_of(rng, &[TableSelect::Qp, TableSelect::Mr]),
            index: one_of(rng, &[2_u64, 2, 3, 1026]).to_bits(),
            ..TableWrite::default()
        },
    };
    token.headers.psn = bit_cast(near);
    token.headers.payload_length = length.to_bits();
    token
}

fn random_headers(rng: &mut TestRng) -> PacketHeaders {
    PacketHeaders {
        reason: one_of(
            rng,
            &[
                DropReason::None,
                DropReason::None,
                DropReason::None,
                DropReason::BadPayloadLength,
            ],
        ),
        mrc: bool::random(rng),
        refused: one_of(rng, &[false, false, true]),
        probe: one_of(rng, &[false, false, false, true]),
        position: one_of(
            rng,
            &[
                Position::First,
                Position::Middle,
                Position::Last,
                Position::Only,
            ],
        ),
        has_timestamp: bool::random(rng),
        ack_req: bool::random(rng),
        dest_qp: one_of(rng, &[2_u64, 3, 1026]).to_bits(),
        va: Bits::random(rng),
        rkey: Bits::random(rng),
        dma_length: one_of(rng, &[0_u64, 1, 256, 257, 1024]).to_bits(),
        timestamp: Bits::random(rng),
        ecn_ce: bool::random(rng),
        entropy: Bits::random(rng),
        payload_offset: Bits::random(rng),
        ..PacketHeaders::default()
    }
}

/// A context with any MTU and an initial PSN close to those of [`random_token`].
pub fn random_context(rng: &mut TestRng) -> QpContext {
    let initial: Bits<3> = Bits::random(rng);
    QpContext {
        mtu_log2: one_of(rng, &[8_u64, 9, 10, 13, 15]).to_bits(),
        initial_psn: bit_cast(initial),
        ..QpContext::default()
    }
}
