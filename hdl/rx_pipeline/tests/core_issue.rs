//! `core_issue`: order, spacing, fairness and patience, against rules checked on what comes out.

use std::collections::VecDeque;
use std::sync::OnceLock;

use hdl_rx_pipeline::core_issue::{CoreIssue, LATENCY, SPACING};
use hdl_verilog::equivalence::{check, Random, TestRng};
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rust_hdl::prelude::*;
use sim_verilated::{Library, Model, PortId};
use stellar_wire::hw::core::{CoreToken, TokenKind};
use stellar_wire::hw::frame::PacketHeaders;
use stellar_wire::hw::pack::{to_words, Record};
use stellar_wire::hw::tables::{TableSelect, TableWrite};

fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let mut block = CoreIssue::default();
        block.connect_all();
        let design = hdl_verilog::emit(&block).expect("core_issue elaborates");
        design.model().build().expect("core_issue verilates")
    })
}

/// A packet; `number` tells tokens apart.
fn packet(qp: u32, number: u32) -> CoreToken {
    CoreToken {
        kind: TokenKind::Packet,
        headers: PacketHeaders {
            dest_qp: u64::from(qp).to_bits(),
            immediate: u64::from(number).to_bits(),
            ..PacketHeaders::default()
        },
        ..CoreToken::default()
    }
}

fn write(select: TableSelect, index: u32, number: u32) -> TableWrite {
    TableWrite {
        select,
        index: u64::from(index).to_bits(),
        entry: u64::from(number).to_bits(),
    }
}

#[test]
fn verilog_agrees_with_rust_hdl() {
    let drive = |block: &mut CoreIssue, rng: &mut TestRng| {
        let mut likely = || rng.random_range(0..4) != 0;
        (block.packet_valid.next, block.table_valid.next) = (likely(), likely());
        (block.place_room.next, block.ack_room.next) = (likely(), likely());
        block.fence_valid.next = likely();
        block.reset.next = rng.random_range(0..30) == 0;
        block.packet_token.next = packet(rng.random_range(2..5), rng.random());
        let select = if bool::random(rng) {
            TableSelect::Qp
        } else {
            TableSelect::Mr
        };
        block.table_write.next = write(select, rng.random_range(2..5), rng.random());
    };
    check(CoreIssue::default, Some(|b| &mut b.clock), drive, 600, 1).unwrap();
}

/// What came out, with its clock. The number tells tokens of one source apart.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Token {
    Packet { qp: u64, number: u64 },
    Write { qp: Option<u64>, number: u64 },
    Fence,
}

impl Token {
    fn of(words: &[u32]) -> Self {
        let record = Record::<CoreToken>::new(words);
        match record.variant("kind").as_str() {
            "TokenKind::Packet" => Token::Packet {
                qp: record.u64("headers.dest_qp"),
                number: record.u64("headers.immediate"),
            },
            "TokenKind::Table" => Token::Write {
                qp: (record.variant("table.select") == "TableSelect::Qp")
                    .then(|| record.u64("table.index")),
                number: record.words("table.entry")[0].into(),
            },
            _ => Token::Fence,
        }
    }

    fn row(self) -> Option<u64> {
        match self {
            Token::Packet { qp, .. } => Some(qp % 1024),
            Token::Write { qp, .. } => qp.map(|qp| qp % 1024),
            Token::Fence => None,
        }
    }
}

struct Ports {
    clock: PortId,
    reset: PortId,
    packet: [PortId; 3],
    table: [PortId; 3],
    fence: [PortId; 2],
    room: [PortId; 2],
    out: [PortId; 2],
}

impl Ports {
    fn of(model: &Model) -> Self {
        let port = |name: &str| model.port(name).expect("port");
        Self {
            clock: port("clock"),
            reset: port("reset"),
            packet: ["packet_valid", "packet_token", "packet_ready"].map(port),
            table: ["table_valid", "table_write", "table_ready"].map(port),
            fence: ["fence_valid", "fence_ready"].map(port),
            room: ["place_room", "ack_room"].map(port),
            out: ["out_valid", "out_token"].map(port),
        }
    }
}

/// One clock as the environment makes it.
#[derive(Clone, Copy, Default)]
struct Clock {
    packet: Option<CoreToken>,
    table: Option<TableWrite>,
    fence: bool,
    place_room: bool,
    ack_room: bool,
    reset: bool,
}

/// What was taken in a clock, and what came out after it.
#[derive(Debug, Default)]
struct Seen {
    packet: bool,
    table: bool,
    fence: bool,
    out: Option<Token>,
}

struct Bench {
    model: Model,
    ports: Ports,
}

impl Bench {
    fn new() -> Self {
        let model = library().instantiate();
        let ports = Ports::of(&model);
        Self { model, ports }
    }

    fn clock(&mut self, clock: &Clock) -> Seen {
        let (model, ports) = (&mut self.model, &self.ports);
        model.set_u64(ports.packet[0], clock.packet.is_some().into());
        model.set(ports.packet[1], &to_words(clock.packet.unwrap_or_default()));
        model.set_u64(ports.table[0], clock.table.is_some().into());
        model.set(ports.table[1], &to_words(clock.table.unwrap_or_default()));
        model.set_u64(ports.fence[0], clock.fence.into());
        model.set_u64(ports.room[0], clock.place_room.into());
        model.set_u64(ports.room[1], clock.ack_room.into());
        model.set_u64(ports.reset, clock.reset.into());
        model.eval();
        let mut seen = Seen {
            packet: clock.packet.is_some() && model.get_u64(ports.packet[2]) != 0,
            table: clock.table.is_some() && model.get_u64(ports.table[2]) != 0,
            fence: clock.fence && model.get_u64(ports.fence[1]) != 0,
            out: None,
        };
        model.clock(ports.clock);
        if model.get_u64(ports.out[0]) != 0 {
            let mut words = vec![0; CoreToken::BITS.div_ceil(32)];
            model.get(ports.out[1], &mut words);
            seen.out = Some(Token::of(&words));
        }
        seen
    }
}

/// Inputs that wait, as FIFOs before the block hold them.
#[derive(Default)]
struct Waiting {
    packets: VecDeque<CoreToken>,
    tables: VecDeque<TableWrite>,
    fences: usize,
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn what_goes_in_comes_out_once_in_order_spaced_and_only_with_room(
        packets in prop::collection::vec(prop_oneof![2..4_u32, 1022..1028_u32], 0..120),
        tables in prop::collection::vec((any::<bool>(), prop_oneof![2..4_u32, 1022..1028_u32]), 0..60),
        fences in 0..20_usize,
        seed in any::<u64>(),
        busy in 1..=4_u32,
    ) {
        let mut rng = TestRng::seed_from_u64(seed);
        let mut bench = Bench::new();
        let mut waiting = Waiting {
            packets: packets.iter().zip(0..).map(|(&qp, n)| packet(qp, n)).collect(),
            tables: tables.iter().zip(0..).map(|(&(qp, index), n)| {
                write(if qp { TableSelect::Qp } else { TableSelect::Emtt }, index, n)
            }).collect(),
            fences,
        };
        let mut expected = VecDeque::new();
        let mut named = [None; SPACING - 1];
        // Valid stays until ready, as with FIFOs; a new input may come late.
        let mut offered = [false; 3];
        let mut patience = 0;
        while waiting.packets.len() + waiting.tables.len() + waiting.fences > 0 {
            for (offered, left) in offered.iter_mut().zip([waiting.packets.len(), waiting.tables.len(), waiting.fences]) {
                *offered |= left > 0 && rng.random_range(0..4) < busy;
            }
            let room = [rng.random_range(0..4) < busy, rng.random_range(0..4) < busy];
            let clock = Clock {
                packet: waiting.packets.front().copied().filter(|_| offered[0]),
                table: waiting.tables.front().copied().filter(|_| offered[1]),
                fence: offered[2],
                place_room: room[0],
                ack_room: room[1],
                reset: false,
            };
            let seen = bench.clock(&clock);
            let taken = [seen.packet, seen.table, seen.fence];
            prop_assert!(taken.iter().filter(|t| **t).count() <= 1, "{:?}", seen);
            prop_assert!(!taken.contains(&true) || room == [true; 2], "issued without room");
            if seen.packet {
                let token = waiting.packets.pop_front().expect("offered");
                expected.push_back(Token::of(&to_words(token)));
            } else if seen.table {
                let table = waiting.tables.pop_front().expect("offered");
                expected.push_back(Token::of(&to_words(CoreToken { kind: TokenKind::Table, table, ..CoreToken::default() })));
            } else if seen.fence {
                prop_assert!(clock.table.is_none(), "a fence passed a table write");
                waiting.fences -= 1;
                expected.push_back(Token::Fence);
            }
            for (offered, taken) in offered.iter_mut().zip(taken) {
                *offered &= !taken;
            }
            // A token appears the clock after it was taken, and nothing else does.
            prop_assert_eq!(LATENCY, 1);
            prop_assert_eq!(seen.out, expected.pop_front());
            let row = seen.out.and_then(Token::row);
            prop_assert!(row.is_none() || !named.contains(&row), "{:?} after {:?}", seen.out, named);
            named.rotate_right(1);
            named[0] = row;
            // No one waits long: with room, something that waits goes within the spacing.
            patience = if taken.contains(&true) || room != [true; 2] || offered == [false; 3] { 0 } else { patience + 1 };
            prop_assert!(patience < SPACING, "nothing goes");
        }
    }
}

#[test]
fn different_queue_pairs_go_every_clock_and_one_queue_pair_every_third() {
    for (queue_pairs, clocks_each) in [(3, 1), (1, 3)] {
        let mut bench = Bench::new();
        let mut went = 0;
        for _ in 0..90 {
            let clock = Clock {
                packet: Some(packet(2 + went % queue_pairs, went)),
                place_room: true,
                ack_room: true,
                ..Clock::default()
            };
            went += u32::from(bench.clock(&clock).packet);
        }
        assert_eq!(went, 90 / clocks_each);
    }
}

#[test]
fn packets_and_control_take_turns_when_both_always_wait() {
    let mut bench = Bench::new();
    let mut went = [0, 0];
    for n in 0..200 {
        let clock = Clock {
            packet: Some(packet(2 + went[0] % 7, n)),
            table: Some(write(TableSelect::Emtt, n, n)),
            fence: true,
            place_room: true,
            ack_room: true,
            reset: false,
        };
        let seen = bench.clock(&clock);
        went[0] += u32::from(seen.packet);
        went[1] += u32::from(seen.table);
        assert!(!seen.fence);
    }
    assert_eq!(went, [100, 100]);
}

#[test]
fn fences_take_turns_with_packets() {
    let mut bench = Bench::new();
    let mut fences = 0;
    for n in 0..100 {
        let clock = Clock {
            packet: Some(packet(2 + n, n)),
            fence: true,
            place_room: true,
            ack_room: true,
            ..Clock::default()
        };
        fences += u32::from(bench.clock(&clock).fence);
    }
    assert_eq!(fences, 50);
}

#[test]
fn reset_drops_the_token_in_the_register_and_takes_nothing() {
    let mut bench = Bench::new();
    let clock = Clock {
        packet: Some(packet(2, 1)),
        place_room: true,
        ack_room: true,
        ..Clock::default()
    };
    assert!(bench.clock(&clock).packet);
    let seen = bench.clock(&Clock {
        reset: true,
        ..clock
    });
    assert!(!seen.packet && seen.out.is_none());
    // The spacing is forgotten as well: nothing is in flight.
    assert!(bench.clock(&clock).packet);
}
