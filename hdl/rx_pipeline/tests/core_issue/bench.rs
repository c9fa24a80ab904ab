//! Drives a Verilated `core_issue`, and says what came out.

use std::sync::OnceLock;

use hdl_rx_pipeline::core_issue::CoreIssue;
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
        design
            .model()
            .for_short_run()
            .build()
            .expect("core_issue verilates")
    })
}

/// Every seventh packet is a probe.
pub const PROBES: u32 = 7;
/// Bit of the numbers of MRC packets.
pub const MRC: u32 = 1 << 20;

/// A packet; `number` tells tokens apart. PSNs of numbers that lie close are near each other, those of others are not.
pub fn packet(qp: u32, number: u32) -> CoreToken {
    let position = number & (MRC - 1);
    let psn = position / PROBES * 170 + position % PROBES * 150;
    packet_of_psn(qp, number, psn.wrapping_sub(1000) & 0xff_ffff)
}

pub fn packet_of_psn(qp: u32, number: u32, psn: u32) -> CoreToken {
    CoreToken {
        kind: TokenKind::Packet,
        headers: PacketHeaders {
            mrc: number & MRC != 0,
            probe: number % PROBES == PROBES - 1,
            dest_qp: u64::from(qp).to_bits(),
            immediate: u64::from(number).to_bits(),
            psn: u64::from(psn).to_bits(),
            ..PacketHeaders::default()
        },
        ..CoreToken::default()
    }
}

pub fn write(select: TableSelect, index: u32, number: u32) -> TableWrite {
    TableWrite {
        select,
        index: u64::from(index).to_bits(),
        entry: u64::from(number).to_bits(),
    }
}

/// What decides how close a token may come to others of its queue pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    RcPacket,
    /// A data packet of that PSN.
    MrcPacket(u64),
    Other,
}

/// What came out, with its cycle. The number tells tokens of one source apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Token {
    Packet {
        lane: bool,
        qp: u64,
        number: u64,
        pace: Pace,
    },
    Write {
        qp: Option<u64>,
        number: u64,
    },
    Error {
        qp: u64,
    },
    Fence,
}

impl Token {
    pub fn of(words: &[u32]) -> Self {
        let record = Record::<CoreToken>::new(words);
        match record.variant("kind").as_str() {
            "TokenKind::Packet" => Token::Packet {
                lane: record.bool("lane"),
                qp: record.u64("headers.dest_qp"),
                number: record.u64("headers.immediate"),
                pace: match (record.bool("headers.probe"), record.bool("headers.mrc")) {
                    (true, _) => Pace::Other,
                    (false, true) => Pace::MrcPacket(record.u64("headers.psn")),
                    (false, false) => Pace::RcPacket,
                },
            },
            "TokenKind::Table" => Token::Write {
                qp: (record.variant("table.select") == "TableSelect::Qp")
                    .then(|| record.u64("table.index")),
                number: record.words("table.entry")[0].into(),
            },
            "TokenKind::Error" => Token::Error {
                qp: record.u64("table.index"),
            },
            _ => Token::Fence,
        }
    }

    /// A packet as its lane offers it.
    pub fn packet(lane: usize, token: CoreToken) -> Self {
        Self::of(&to_words(CoreToken {
            lane: lane == 1,
            ..token
        }))
    }

    /// Queue pair and pace.
    pub fn named(self) -> Option<(u64, Pace)> {
        let pace = match self {
            Token::Packet { pace, .. } => pace,
            _ => Pace::Other,
        };
        self.row().map(|row| (row, pace))
    }

    fn row(self) -> Option<u64> {
        match self {
            Token::Packet { qp, .. } | Token::Error { qp } => Some(qp % 1024),
            Token::Write { qp, .. } => qp.map(|qp| qp % 1024),
            Token::Fence => None,
        }
    }
}

struct Ports {
    clock: PortId,
    reset: PortId,
    packets: [[PortId; 3]; 2],
    error: [PortId; 3],
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
            packets: [
                ["packet0_valid", "packet0_token", "packet0_ready"].map(port),
                ["packet1_valid", "packet1_token", "packet1_ready"].map(port),
            ],
            error: ["error_valid", "error_qp", "error_ready"].map(port),
            table: ["table_valid", "table_write", "table_ready"].map(port),
            fence: ["fence_valid", "fence_ready"].map(port),
            room: ["room0", "room1"].map(port),
            out: ["out_valid", "out_token"].map(port),
        }
    }
}

/// One cycle as the environment makes it.
#[derive(Clone, Copy, Default)]
pub struct Clock {
    pub packets: [Option<CoreToken>; 2],
    pub table: Option<TableWrite>,
    pub error: Option<u32>,
    pub fence: bool,
    pub room: [bool; 2],
    pub reset: bool,
}

/// What was taken in a cycle, and what came out after it.
#[derive(Debug, Default)]
pub struct Seen {
    pub packets: [bool; 2],
    pub table: bool,
    pub error: bool,
    pub fence: bool,
    pub out: Option<Token>,
}

pub struct Bench {
    model: Model,
    ports: Ports,
}

impl Bench {
    pub fn new() -> Self {
        let model = library().instantiate();
        let ports = Ports::of(&model);
        Self { model, ports }
    }

    pub fn clock(&mut self, clock: &Clock) -> Seen {
        let (model, ports) = (&mut self.model, &self.ports);
        for (packet, port) in clock.packets.iter().zip(ports.packets) {
            model.set_u64(port[0], packet.is_some().into());
            model.set(port[1], &to_words(packet.unwrap_or_default()));
        }
        model.set_u64(ports.error[0], clock.error.is_some().into());
        model.set_u64(ports.error[1], clock.error.unwrap_or_default().into());
        model.set_u64(ports.table[0], clock.table.is_some().into());
        model.set(ports.table[1], &to_words(clock.table.unwrap_or_default()));
        model.set_u64(ports.fence[0], clock.fence.into());
        model.set_u64(ports.room[0], clock.room[0].into());
        model.set_u64(ports.room[1], clock.room[1].into());
        model.set_u64(ports.reset, clock.reset.into());
        model.eval();
        let mut seen = Seen {
            packets: [0, 1].map(|lane| {
                clock.packets[lane].is_some() && model.get_u64(ports.packets[lane][2]) != 0
            }),
            error: clock.error.is_some() && model.get_u64(ports.error[2]) != 0,
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
