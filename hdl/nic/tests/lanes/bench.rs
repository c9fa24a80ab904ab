//! Drives a Verilated `RxDualLane` and records its outputs.

use std::collections::{BTreeMap, VecDeque};

use hdl_nic::{RxDualLane1024, RxDualLane512};
use hdl_rx_pipeline::own_address::address_of;
use hdl_testkit::Dut;
use rust_hdl::prelude::*;
use stellar_transport::rx::{ControlPeer, TableWrite};
use stellar_wire::hw::dma::WriteTlpHeader;
use stellar_wire::hw::pack::{to_words, Record};
use stellar_wire::hw::tables::{self, TableSelect};
use stellar_wire::rows::{PeerAddressRow, PortRow};

use crate::lanes::endpoint::Endpoint;
use crate::lanes::traffic::own;

fn dut(width: usize) -> Dut {
    match width {
        512 => Dut::new::<RxDualLane512>(),
        1024 => Dut::new::<RxDualLane1024>(),
        other => panic!("no lane of {other} bits"),
    }
}

/// Inputs that wait at the ports other than the MACs, in order.
pub enum Request {
    Table(TableWrite),
    Error(u32),
    Fence,
}

/// A write TLP that has left.
#[derive(Debug, PartialEq)]
pub struct Tlp {
    pub header: Vec<u32>,
    pub data: Vec<u8>,
}

/// An output, with the number of TLPs that each lane had sent before, and of those up to the last that was flushed.
pub struct Event {
    pub words: Vec<u32>,
    pub tlps: [usize; 2],
    pub flushed: [usize; 2],
}

/// Behaviour of the neighbours in one cycle.
#[derive(Clone, Copy)]
pub struct Io {
    pub idle: [bool; 2],
    pub tlp_ready: [bool; 2],
    pub outcome_ready: bool,
    pub control_ready: bool,
}

impl Io {
    /// No neighbour stalls.
    pub const OPEN: Self = Self {
        idle: [false; 2],
        tlp_ready: [true; 2],
        outcome_ready: true,
        control_ready: true,
    };
}

pub struct Bench {
    dut: Dut,
    beat_bytes: usize,
    waiting: [VecDeque<Vec<u8>>; 2],
    sent: [usize; 2],
    pub requests: VecDeque<Request>,
    pub endpoints: [Endpoint; 2],
    pub tlps: [Vec<Tlp>; 2],
    partial: [Vec<u8>; 2],
    pub outcomes: Vec<Event>,
    pub controls: Vec<Vec<u32>>,
    pub fences: Vec<Event>,
    pub verdicts: BTreeMap<u64, u64>,
    pub clock: u64,
}

const MAC: [[&str; 5]; 2] = [
    [
        "mac0_valid",
        "mac0_data",
        "mac0_bytes",
        "mac0_last",
        "mac0_error",
    ],
    [
        "mac1_valid",
        "mac1_data",
        "mac1_bytes",
        "mac1_last",
        "mac1_error",
    ],
];
const TLP: [[&str; 5]; 2] = [
    [
        "tlp0_valid",
        "tlp0_ready",
        "tlp0_data",
        "tlp0_header",
        "tlp0_last",
    ],
    [
        "tlp1_valid",
        "tlp1_ready",
        "tlp1_data",
        "tlp1_header",
        "tlp1_last",
    ],
];

impl Bench {
    /// The lanes after reset, with UDP port 4791 and maximum payload size 256.
    pub fn new(width: usize) -> Self {
        let mut bench = Self {
            dut: dut(width),
            beat_bytes: width / 8,
            waiting: Default::default(),
            sent: [0; 2],
            requests: VecDeque::new(),
            endpoints: [0, 1].map(Endpoint::new),
            tlps: Default::default(),
            partial: Default::default(),
            outcomes: vec![],
            controls: vec![],
            fences: vec![],
            verdicts: BTreeMap::new(),
            clock: 0,
        };
        bench.dut.set("udp_port", 4791);
        bench.dut.set("mps_code", 1);
        for (lane, port) in ["own0", "own1"].into_iter().enumerate() {
            let row = PortRow {
                ip: PeerAddressRow::from(own(lane).ip).address,
                ..PortRow::default()
            };
            bench.dut.set_record(port, address_of(row.to_hw(), true));
        }
        bench.dut.set("reset", 1);
        for _ in 0..30 {
            bench.edge();
        }
        bench.dut.set("reset", 0);
        bench.edge();
        bench
    }

    fn edge(&mut self) {
        self.dut.clock();
        self.clock += 1;
    }

    pub fn write_peer(&mut self, qp: u32, peer: &ControlPeer) {
        let vector = 3 * qp as u16 + 1;
        self.dut.set("peer_valid", 1);
        self.dut.set("peer_qp", qp.into());
        self.dut.set_record("peer", peer.to_hw(vector));
        self.edge();
        self.dut.set("peer_valid", 0);
        for (port, address) in ["address0", "address1"]
            .into_iter()
            .zip(peer.addresses_to_hw())
        {
            self.dut.set(&format!("{port}_valid"), 1);
            self.dut.set(&format!("{port}_vector"), vector.into());
            self.dut.set_record(port, address);
            self.edge();
            self.dut.set(&format!("{port}_valid"), 0);
        }
    }

    pub fn send(&mut self, lane: usize, frame: Vec<u8>) {
        self.waiting[lane].push_back(frame);
    }

    pub fn all_sent(&self) -> bool {
        self.waiting.iter().all(VecDeque::is_empty) && self.requests.is_empty()
    }

    pub fn tlp_counts(&self) -> [usize; 2] {
        [self.tlps[0].len(), self.tlps[1].len()]
    }

    pub fn step(&mut self, io: Io) {
        for (lane, (idle, [_, ready, ..])) in io.idle.into_iter().zip(TLP).enumerate() {
            self.drive_mac(lane, idle);
            self.dut.set(ready, io.tlp_ready[lane].into());
        }
        self.drive_requests();
        for endpoint in &self.endpoints {
            endpoint.drive(&mut self.dut, self.clock);
        }
        self.dut.set("outcome_ready", io.outcome_ready.into());
        self.dut.set("control_ready", io.control_ready.into());
        self.dut.eval();
        self.take_requests();
        // This is before the TLP beats of this cycle. The assertions about an outcome must hold without these beats, because they are in the same
        // cycle only by chance.
        let tlps = self.tlp_counts();
        let flushed = [0, 1].map(|lane| self.endpoints[lane].flushed);
        for lane in 0..2 {
            self.endpoints[lane].take(&self.dut, self.clock);
            self.take_tlp(lane, io.tlp_ready[lane]);
        }
        if io.outcome_ready && self.dut.get("outcome_valid") == 1 {
            let words = self.dut.words("outcome");
            self.outcomes.push(Event {
                words,
                tlps,
                flushed,
            });
        }
        if io.control_ready && self.dut.get("control_valid") == 1 {
            self.controls.push(self.dut.words("control"));
        }
        if self.dut.get("fence_done") == 1 {
            self.fences.push(Event {
                words: vec![],
                tlps,
                flushed,
            });
        }
        if self.dut.get("verdict_valid") == 1 {
            *self
                .verdicts
                .entry(self.dut.get("verdict_reason"))
                .or_insert(0) += 1;
        }
        self.edge();
    }

    fn take_tlp(&mut self, lane: usize, ready: bool) {
        let [valid, _, data, header, last] = TLP[lane];
        if !ready || self.dut.get(valid) == 0 {
            return;
        }
        let beat = self.dut.words(data);
        self.partial[lane].extend(beat.iter().flat_map(|word| word.to_le_bytes()));
        if self.dut.get(last) == 1 {
            let header = self.dut.words(header);
            let dwords = Record::<WriteTlpHeader>::new(&header).u64("length_dw") as usize;
            let mut data = std::mem::take(&mut self.partial[lane]);
            assert_eq!(data.len(), (4 * dwords).next_multiple_of(self.beat_bytes));
            data.truncate(4 * dwords);
            let tlps = self.tlps[lane].len() + 1;
            self.endpoints[lane].sent(&mut self.dut, &header, tlps, self.clock);
            self.tlps[lane].push(Tlp { header, data });
        }
    }

    fn drive_requests(&mut self) {
        let (mut table, mut error, mut fence) = (None, None, false);
        match self.requests.front() {
            Some(Request::Table(write)) => table = Some(pack(write)),
            Some(Request::Error(qp)) => error = Some(*qp),
            Some(Request::Fence) => fence = true,
            None => {}
        }
        self.dut.set("table_valid", table.is_some().into());
        if let Some(words) = table {
            self.dut.set_words("table_write", &words);
        }
        self.dut.set("error_valid", error.is_some().into());
        self.dut.set("error_qp", error.unwrap_or_default().into());
        self.dut.set("fence_valid", fence.into());
    }

    fn take_requests(&mut self) {
        let taken = match self.requests.front() {
            Some(Request::Table(_)) => self.dut.get("table_ready") == 1,
            Some(Request::Error(_)) => self.dut.get("error_ready") == 1,
            Some(Request::Fence) => self.dut.get("fence_ready") == 1,
            None => false,
        };
        if taken {
            self.requests.pop_front();
        }
    }

    fn drive_mac(&mut self, lane: usize, idle: bool) {
        let [valid, data, bytes_port, last_port, error] = MAC[lane];
        let Some(frame) = self.waiting[lane].front().filter(|_| !idle) else {
            self.dut.set(valid, 0);
            return;
        };
        let rest = &frame[self.sent[lane]..];
        let bytes = rest.len().min(self.beat_bytes);
        let mut beat = vec![0xb6; self.beat_bytes];
        beat[..bytes].copy_from_slice(&rest[..bytes]);
        let last = bytes == rest.len();
        let words: Vec<u32> = beat
            .chunks_exact(4)
            .map(|b| u32::from_le_bytes(b.try_into().expect("four bytes")))
            .collect();
        self.sent[lane] += bytes;
        if last {
            self.waiting[lane].pop_front();
            self.sent[lane] = 0;
        }
        self.dut.set_words(data, &words);
        self.dut.set(valid, 1);
        self.dut.set(bytes_port, bytes as u64);
        self.dut.set(last_port, last.into());
        self.dut.set(error, 0);
    }

    /// Counter of a drop reason.
    pub fn counter(&mut self, index: u8) -> u64 {
        self.dut.set("counter_select", index.into());
        self.edge();
        self.edge();
        self.dut.get("counter_value")
    }
}

/// The packed hardware record of a table write.
fn pack(write: &TableWrite) -> Vec<u32> {
    let (select, index, entry) = match write {
        TableWrite::Qp { index, context } => (TableSelect::Qp, index, to_words(context.to_hw())),
        TableWrite::Mr { index, entry } => (TableSelect::Mr, index, to_words(entry.to_hw())),
        TableWrite::Emtt { index, entry } => (TableSelect::Emtt, index, to_words(entry.to_hw())),
    };
    let entry = entry
        .iter()
        .rev()
        .fold(Bits::<176>::default(), |bits, &word| {
            (bits << 32) | u64::from(word).to_bits::<176>()
        });
    to_words(tables::TableWrite {
        select,
        index: u64::from(*index).to_bits(),
        entry,
    })
}
