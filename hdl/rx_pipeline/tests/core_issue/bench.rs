//! Drives a Verilated `core_issue` and returns its outputs.

use hdl_rx_pipeline::core_issue::CoreIssue;
use hdl_testkit::Dut;
use rust_hdl::prelude::*;
use stellar_wire::hw::core::{CoreToken, TokenKind};
use stellar_wire::hw::frame::PacketHeaders;
use stellar_wire::hw::pack::{to_words, Record};
use stellar_wire::hw::tables::{TableSelect, TableWrite};

/// Every seventh packet is a probe.
pub const PROBES: u32 = 7;
/// Bit of the numbers of MRC packets.
pub const MRC: u32 = 1 << 20;

/// Makes a packet. `number` identifies the token. The PSNs of close numbers are near each other, and those of distant numbers are not.
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

/// The property of a token that decides how close it may come to others of its queue pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    RcPacket,
    /// A data packet of that PSN.
    MrcPacket(u64),
    Other,
}

/// An output token with its cycle. The number identifies the tokens of one source.
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

/// What was accepted in a cycle, and the output after it: the token that was chosen in this cycle.
#[derive(Debug, Default)]
pub struct Seen {
    pub packets: [bool; 2],
    pub table: bool,
    pub error: bool,
    pub fence: bool,
    pub out: Option<Token>,
}

impl Seen {
    /// A packet of this lane was chosen.
    pub fn issued(&self, of: usize) -> bool {
        matches!(self.out, Some(Token::Packet { lane, .. }) if usize::from(lane) == of)
    }
}

pub struct Bench(Dut);

impl Bench {
    pub fn new() -> Self {
        Self(Dut::new::<CoreIssue>())
    }

    pub fn clock(&mut self, clock: &Clock) -> Seen {
        let dut = &mut self.0;
        for (lane, packet) in clock.packets.iter().enumerate() {
            dut.set(&format!("packet{lane}_valid"), packet.is_some().into());
            dut.set_record(&format!("packet{lane}_token"), packet.unwrap_or_default());
        }
        dut.set("error_valid", clock.error.is_some().into());
        dut.set("error_qp", clock.error.unwrap_or_default().into());
        dut.set("table_valid", clock.table.is_some().into());
        dut.set_record("table_write", clock.table.unwrap_or_default());
        dut.set("fence_valid", clock.fence.into());
        dut.set("room0", clock.room[0].into());
        dut.set("room1", clock.room[1].into());
        dut.set("reset", clock.reset.into());
        dut.eval();
        let mut seen = Seen {
            packets: [0, 1].map(|lane| {
                clock.packets[lane].is_some() && dut.is(&format!("packet{lane}_ready"))
            }),
            error: clock.error.is_some() && dut.is("error_ready"),
            table: clock.table.is_some() && dut.is("table_ready"),
            fence: clock.fence && dut.is("fence_ready"),
            out: None,
        };
        dut.clock();
        if dut.is("out_valid") {
            seen.out = Some(Token::of(&dut.words("out_token")));
        }
        seen
    }
}
