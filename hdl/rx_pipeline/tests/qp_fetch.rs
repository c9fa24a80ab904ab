//! `qp_fetch` against the reference, token by token.

use hdl_rx_pipeline::qp_fetch::{QpFetch, LATENCY};
use hdl_testkit::equivalence::{check, Random, TestRng};
use hdl_testkit::library;
use proptest::prelude::*;
use rand::Rng;
use rust_hdl::prelude::*;
use sim_verilated::Model;
use stellar_transport::rx::{self, check_qp, Psn, QpMode, QpState, Tables};
use stellar_wire::hw::core::{BufferSpan, CoreToken, QpToken, TokenKind};
use stellar_wire::hw::frame::{DropReason, PacketHeaders, Position};
use stellar_wire::hw::pack::{to_words, Record};
use stellar_wire::hw::tables::{QpContext, TableSelect, TableWrite};
use stellar_wire::hw::FromBits;
use stellar_wire::mrc::Entropy;

/// log2 of the queue pairs of the block.
const QP_BITS: usize = 10;
/// Width of a packed context; the rest of a table write's entry is beyond it.
const CONTEXT_BITS: usize = QpContext::BITS;

/// Destinations of which some are ours and some only have the low bits of ours.
const NUMBERS: [u32; 9] = [0, 1, 2, 3, 513, 1023, 1024, 1026, 0x80_0002];

/// Table indices (20 bits) of which some are in the table and some only have the low bits of one that is.
const INDICES: [u32; 9] = [0, 1, 2, 3, 513, 1023, 1024, 1026, 0x8_0002];

fn one_of<T: Copy>(rng: &mut TestRng, values: &[T]) -> T {
    values[rng.random_range(0..values.len())]
}

#[test]
fn verilog_agrees_with_rust_hdl() {
    let drive = |block: &mut QpFetch, rng: &mut TestRng| {
        block.reset.next = rng.random_ratio(1, 3000);
        block.in_.valid.next = bool::random(rng);
        block.in_.token.next = CoreToken {
            kind: one_of(
                rng,
                &[
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
            headers: PacketHeaders {
                reason: one_of(
                    rng,
                    &[DropReason::None, DropReason::None, DropReason::BadIcrc],
                ),
                mrc: bool::random(rng),
                position: one_of(rng, &[Position::First, Position::Only]),
                pkey: one_of(rng, &[0_u64, 0x8000, 0x7fff, 0xffff]).to_bits(),
                dest_qp: u64::from(one_of(rng, &NUMBERS)).to_bits(),
                ..PacketHeaders::default()
            },
            table: TableWrite {
                select: one_of(rng, &[TableSelect::Qp, TableSelect::Qp, TableSelect::Emtt]),
                index: u64::from(one_of(rng, &INDICES)).to_bits(),
                entry: Bits::random(rng),
            },
        };
    };
    check(QpFetch::default, Some(|b| &mut b.clock), drive, 2500, 1).unwrap();
}

/// The block with all contexts cleared.
fn swept() -> Model {
    let mut model = library::<QpFetch>().instantiate();
    let (clock, reset) = (model.port("clock").unwrap(), model.port("reset").unwrap());
    model.set_u64(reset, 1);
    model.clock(clock);
    model.set_u64(reset, 0);
    for _ in 0..1 << QP_BITS {
        model.clock(clock);
    }
    model
}

#[derive(Clone, Debug)]
enum Step {
    Packet {
        number: u32,
        mode: QpMode,
        pkey: u16,
        parser: rx::DropReason,
    },
    WriteQp(u32, rx::QpRow),
    WriteMr(u32),
    /// The queue pair moves to state Error.
    Fail(u32),
    Fence,
}

fn mode() -> impl Strategy<Value = QpMode> {
    prop_oneof![Just(QpMode::Rc), Just(QpMode::Mrc)]
}

fn pkey() -> impl Strategy<Value = u16> {
    prop::sample::select(&[0xffff_u16, 0x7fff, 0x8001, 0x0001, 0xfffe][..])
}

fn context() -> impl Strategy<Value = rx::QpRow> {
    let state = prop_oneof![
        4 => Just(QpState::Ready),
        1 => Just(QpState::Invalid),
        1 => Just(QpState::Init),
        1 => Just(QpState::Error),
    ];
    (
        state,
        mode(),
        pkey(),
        0..1_u32 << 20,
        0..16_u8,
        0..1_u32 << 24,
        any::<bool>(),
    )
        .prop_map(
            |(state, mode, pkey, pd, mtu_log2, initial_psn, remote_write)| rx::QpRow {
                state,
                mode,
                pd,
                pkey,
                mtu_log2,
                initial_psn: Psn::new(initial_psn),
                remote_write,
            },
        )
}

fn step() -> impl Strategy<Value = Step> {
    let number = || prop::sample::select(&NUMBERS[..]);
    let index = || prop::sample::select(&INDICES[..]);
    let parser =
        prop_oneof![9 => Just(rx::DropReason::None), 1 => Just(rx::DropReason::BadPayloadLength)];
    prop_oneof![
        6 => (number(), mode(), pkey(), parser).prop_map(|(number, mode, pkey, parser)| Step::Packet { number, mode, pkey, parser }),
        2 => (index(), context()).prop_map(|(number, context)| Step::WriteQp(number, context)),
        1 => index().prop_map(Step::WriteMr),
        1 => prop::sample::select(&NUMBERS[..6]).prop_map(Step::Fail),
        1 => Just(Step::Fence),
    ]
}

fn table(select: TableSelect, index: u32, context: rx::QpRow) -> CoreToken {
    let packed: Bits<CONTEXT_BITS> = context.to_hw().into();
    // Bits beyond the context are ignored.
    let beyond = Bits::<176>::mask() << (CONTEXT_BITS as u64);
    CoreToken {
        kind: TokenKind::Table,
        table: TableWrite {
            select,
            index: u64::from(index).to_bits(),
            entry: bit_cast::<176, CONTEXT_BITS>(packed) | beyond,
        },
        ..CoreToken::default()
    }
}

fn packet(number: u32, mode: QpMode, pkey: u16) -> rx::PacketHeaders {
    rx::PacketHeaders {
        mode,
        refused: false,
        position: stellar_wire::Position::Only,
        reth: None,
        immediate: Some(number),
        meth: None,
        timestamp: None,
        ack_req: true,
        solicited: false,
        retransmission: false,
        pkey,
        dest_qp: number,
        psn: Psn::new(number),
        ecn_ce: false,
        entropy: Entropy(1),
        payload_offset: 40,
        payload_length: 0,
    }
}

/// Token, reason and, for packets and context writes to ours, the context that must come with it.
fn play(tables: &mut Tables, step: &Step) -> (CoreToken, DropReason, Option<QpContext>) {
    match *step {
        Step::Packet {
            number,
            mode,
            pkey,
            parser,
        } => {
            let headers = packet(number, mode, pkey);
            let context = tables.qp(number);
            let mut token = CoreToken {
                kind: TokenKind::Packet,
                headers: headers.to_hw(),
                ..CoreToken::default()
            };
            token.headers.reason = parser;
            let reason = if parser == rx::DropReason::None {
                check_qp(&headers, &context)
            } else {
                parser
            };
            let known = context.state != QpState::Invalid;
            (token, reason, known.then(|| context.to_hw()))
        }
        Step::WriteQp(index, context) => {
            let written = tables.write(&rx::TableWrite::Qp { index, context });
            let token = table(TableSelect::Qp, index, context);
            (
                token,
                DropReason::None,
                written.ok().map(|()| context.to_hw()),
            )
        }
        Step::WriteMr(index) => {
            let token = table(TableSelect::Mr, index, rx::QpRow::default());
            (token, DropReason::None, None)
        }
        Step::Fail(index) => {
            tables.fail_qp(index);
            let token = CoreToken {
                kind: TokenKind::Error,
                ..table(TableSelect::Mr, index, rx::QpRow::default())
            };
            (token, DropReason::None, None)
        }
        Step::Fence => {
            let token = CoreToken {
                kind: TokenKind::Fence,
                ..CoreToken::default()
            };
            (token, DropReason::None, None)
        }
    }
}

/// Row of the context memory a token concerns: tokens of one row keep their distance.
fn row(step: &Step) -> Option<u32> {
    match step {
        Step::Packet { number, .. } | Step::WriteQp(number, _) | Step::Fail(number) => {
            Some(number % 1024)
        }
        _ => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_streams_agree_with_the_reference(
        steps in prop::collection::vec((prop_oneof![6 => Just(0_usize), 1 => 1..4_usize], step()), 1..300),
    ) {
        let mut model = swept();
        let port = |name: &str| model.port(name).expect("port");
        let (clock, in_valid, in_token) = (port("clock"), port("in_valid"), port("in_token"));
        let (out_valid, out_token) = (port("out_valid"), port("out_token"));
        let mut tables = Tables::default();
        let mut free = std::collections::BTreeMap::new();
        let mut now = 0;
        let mut due = std::collections::VecDeque::new();
        let mut out = vec![0; QpToken::BITS.div_ceil(32)];
        let idle_end = [(LATENCY, Step::Fence)];
        for (gap, step) in steps.iter().chain(&idle_end) {
            let issue = now.max(row(step).and_then(|r| free.get(&r)).copied().unwrap_or(0)) + gap;
            while now <= issue {
                let is_issue = now == issue;
                model.set_u64(in_valid, is_issue.into());
                if is_issue {
                    let expected = play(&mut tables, step);
                    model.set(in_token, &to_words(expected.0));
                    due.push_back((now + LATENCY, expected));
                    if let Some(row) = row(step) {
                        free.insert(row, now + 3);
                    }
                }
                model.clock(clock);
                now += 1;
                let expected = due.front().is_some_and(|d: &(usize, _)| d.0 == now).then(|| due.pop_front()).flatten();
                prop_assert_eq!(model.get_u64(out_valid) != 0, expected.is_some(), "clock {}", now);
                if let Some((_, (token, reason, context))) = expected {
                    model.get(out_token, &mut out);
                    let record = Record::<QpToken>::new(&out);
                    prop_assert_eq!(record.words("token"), to_words(token));
                    prop_assert_eq!(record.variant("reason"), format!("DropReason::{reason:?}"));
                    if let Some(context) = context {
                        prop_assert_eq!(record.words("qp"), to_words(context), "clock {}", now);
                    }
                }
            }
        }
    }

    #[test]
    fn a_context_comes_back_out_of_its_bits(context in context()) {
        let token = table(TableSelect::Qp, 2, context);
        prop_assert_eq!(QpContext::from_bits(token.table.entry), context.to_hw());
    }
}

#[test]
fn a_reset_clears_every_context_and_packets_meanwhile_have_no_queue_pair() {
    let mut model = swept();
    let port = |name: &str| model.port(name).expect("port");
    let (clock, reset, clearing) = (port("clock"), port("reset"), port("clearing"));
    let (in_valid, in_token) = (port("in_valid"), port("in_token"));
    let (out_valid, out_token) = (port("out_valid"), port("out_token"));
    let context = rx::QpRow {
        state: QpState::Ready,
        mode: QpMode::Mrc,
        pkey: 0xffff,
        ..rx::QpRow::default()
    };
    let last = (1 << QP_BITS) - 1;
    let reason = |model: &mut Model| {
        let packet = Step::Packet {
            number: last,
            mode: QpMode::Mrc,
            pkey: 0xffff,
            parser: rx::DropReason::None,
        };
        model.set(in_token, &to_words(play(&mut Tables::default(), &packet).0));
        model.set_u64(in_valid, 1);
        model.clock(clock);
        model.set_u64(in_valid, 0);
        model.clock(clock);
        assert_eq!(model.get_u64(out_valid), 1);
        let words = model.get_words(out_token).to_vec();
        Record::<QpToken>::new(&words).variant("reason")
    };
    model.set(in_token, &to_words(table(TableSelect::Qp, last, context)));
    model.set_u64(in_valid, 1);
    model.clock(clock);
    model.set_u64(in_valid, 0);
    model.clock(clock);
    assert_eq!(reason(&mut model), "DropReason::None");
    model.set_u64(reset, 1);
    model.clock(clock);
    model.set_u64(reset, 0);
    let mut cycles = 0;
    while model.get_u64(clearing) == 1 {
        // The last context has not been cleared yet.
        assert_eq!(reason(&mut model), "DropReason::UnknownQp");
        cycles += 2;
    }
    assert_eq!(cycles, 1 << QP_BITS);
    assert_eq!(reason(&mut model), "DropReason::UnknownQp");
}
