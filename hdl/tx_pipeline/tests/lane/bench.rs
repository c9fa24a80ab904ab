//! Drives a Verilated lane: packets in, a DMA beside it, frames out. It compares everything at once.

use std::collections::VecDeque;

use hdl_testkit::equivalence::TestRng;
use hdl_testkit::Dut;
use hdl_tx_pipeline::TxLane;
use rand::{Rng, SeedableRng};
use stellar_wire::hw::control::QpPeer;
use stellar_wire::hw::fence::EpochEnd;
use stellar_wire::hw::pack::{to_words, Record};
use stellar_wire::hw::window::Departure;
use stellar_wire::Opcode;

use crate::lane::items::{Item, Packet};
use crate::lane::memory::Memory;
use crate::lane::routes::{vector_of, Tables, QP_BITS};

pub const WIDTHS: [usize; 2] = [512, 1024];
/// Cycles for which payload from memory may be delayed by inline payload in front of it.
const TIMEOUT_CYCLES: u32 = 40;

fn dut(width: usize) -> Dut {
    match width {
        512 => Dut::new::<TxLane<QP_BITS, 512, 64, 6, 9, 10>>(),
        1024 => Dut::new::<TxLane<QP_BITS, 1024, 128, 7, 9, 10>>(),
        other => panic!("no lane of {other} bits"),
    }
}

/// Activity of each side, in percent.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    pub answers: u8,
    pub requests: u8,
    pub read: u8,
    pub payload: u8,
    pub fault: u8,
    pub mac: u8,
    /// Maximum number of cycles from a read to its first beat.
    pub memory: u64,
}

impl Pace {
    /// No neighbour stalls.
    pub const FULL: Self = Self {
        answers: 100,
        requests: 100,
        read: 100,
        payload: 100,
        fault: 100,
        mac: 100,
        memory: 1,
    };
}

/// A frame that has left, and the cycles of its first and last beat.
pub struct Sent {
    pub first: u64,
    pub last: u64,
}

pub struct Bench {
    dut: Dut,
    rng: TestRng,
    bytes: usize,
    pub clock: u64,
    pub answers: VecDeque<Item>,
    pub requests: VecDeque<Item>,
    /// Inputs that stay valid until they are accepted: acknowledgement, request, payload.
    offered: [bool; 3],
    /// Cycle in which each packet was accepted.
    pub taken: Vec<u64>,
    memory: Memory,
    stalled: u32,
    /// Frames that are due: acknowledgements, requests.
    frames: [VecDeque<Vec<u8>>; 2],
    part: Vec<u8>,
    begun: Option<u64>,
    pub sent: Vec<Sent>,
    /// Queue pair, slot, and address of each packet whose payload could not be read.
    faults: VecDeque<(u64, u64, u64)>,
    /// Epochs of accepted requests without payload in memory, which pass in order.
    passing: VecDeque<bool>,
    /// MRC data packets that have not departed.
    departing: VecDeque<Departure>,
    /// Cycles in which packets have departed.
    pub departed: Vec<u64>,
    pub faults_taken: usize,
    pub faults_lost: u64,
    pub left_out: u64,
    /// Bytes requested from the DMA, in whole beats.
    pub beats_asked: usize,
}

impl Bench {
    pub fn new(width: usize, tables: &Tables, seed: u64) -> Self {
        let mut bench = Self {
            dut: dut(width),
            rng: TestRng::seed_from_u64(seed),
            bytes: width / 8,
            clock: 0,
            answers: VecDeque::new(),
            requests: VecDeque::new(),
            offered: [false; 3],
            taken: vec![],
            memory: Memory::new(width / 8),
            stalled: 0,
            frames: Default::default(),
            part: vec![],
            begun: None,
            sent: vec![],
            faults: VecDeque::new(),
            passing: VecDeque::new(),
            departing: VecDeque::new(),
            departed: vec![],
            faults_taken: 0,
            faults_lost: 0,
            left_out: 0,
            beats_asked: 0,
        };
        bench
            .dut
            .set_words("port_config", &to_words(tables.config()));
        for (qp, route) in tables.routes.iter().enumerate() {
            let vector = vector_of(qp);
            bench.dut.set("address_valid", 1);
            bench.dut.set("address_vector", vector.into());
            let address = route.address(tables.port);
            bench.dut.set_words("address", &to_words(address));
            bench.dut.set("peer_valid", 1);
            bench.dut.set("peer_qp", qp as u64);
            bench.dut.set_words("peer", &to_words(route.peer(vector)));
            bench.dut.clock();
            // Frames keep the peer when the queue pair accepts none any more.
            bench.dut.set_words("peer", &to_words(QpPeer::default()));
            bench.dut.clock();
        }
        bench.dut.set("address_valid", 0);
        bench.dut.set("peer_valid", 0);
        bench.reset();
        bench
    }

    /// Discards everything in progress, as the lane does.
    pub fn reset(&mut self) {
        self.dut.set("reset", 1);
        for name in ["answer_valid", "request_valid", "payload_valid"] {
            self.dut.set(name, 0);
        }
        self.dut.clock();
        self.dut.set("reset", 0);
        self.offered = [false; 3];
        self.answers.clear();
        self.requests.clear();
        self.memory.forget();
        self.frames = Default::default();
        self.part.clear();
        self.begun = None;
        self.faults.clear();
        self.passing.clear();
        self.departing.clear();
    }

    pub fn queue(&mut self, items: impl IntoIterator<Item = Item>) {
        for item in items {
            match item.packet {
                Packet::Answer(_) => self.answers.push_back(item),
                Packet::Request { .. } => self.requests.push_back(item),
            }
        }
    }

    fn moves(&mut self, percent: u8) -> bool {
        self.rng.random_range(0..100) < percent
    }

    /// Runs one cycle.
    pub fn step(&mut self, pace: Pace) {
        let due = self.memory.beat(self.clock).is_some();
        let offers = [
            self.offered[0] || self.moves(pace.answers) && !self.answers.is_empty(),
            self.offered[1] || self.moves(pace.requests) && !self.requests.is_empty(),
            self.offered[2] || due && self.moves(pace.payload),
        ];
        self.dut.set("answer_valid", offers[0].into());
        if offers[0] {
            let Packet::Answer(answer) = &self.answers[0].packet else {
                unreachable!("a queue of answers")
            };
            let words = to_words(**answer);
            self.dut.set_words("answer", &words);
        }
        self.dut.set("request_valid", offers[1].into());
        if offers[1] {
            let Packet::Request { request, .. } = &self.requests[0].packet else {
                unreachable!("a queue of requests")
            };
            let words = to_words(**request);
            self.dut.set_words("request", &words);
        }
        self.dut.set("payload_valid", offers[2].into());
        if offers[2] {
            let (data, beat) = self.memory.beat(self.clock).expect("a beat").clone();
            self.dut.set_words("payload_data", &data);
            self.dut.set_words("payload_beat", &to_words(beat));
        }
        let (read, fault, mac) = (
            self.moves(pace.read),
            self.moves(pace.fault),
            self.moves(pace.mac),
        );
        self.dut.set("read_ready", read.into());
        self.dut.set("fault_ready", fault.into());
        self.dut.set("mac_ready", mac.into());
        self.dut.eval();

        let taken = [
            offers[0] && self.dut.get("answer_ready") == 1,
            offers[1] && self.dut.get("request_ready") == 1,
            offers[2] && self.dut.get("payload_ready") == 1,
        ];
        assert!(
            !(taken[0] && taken[1]),
            "an answer and a request in one clock"
        );
        if read && self.dut.get("read_valid") == 1 {
            let due = self.clock + self.rng.random_range(1..=pace.memory);
            let words = self.dut.words("read");
            self.memory.asked(&words, due);
        }
        if fault && self.dut.get("fault_valid") == 1 {
            let fault = (
                self.dut.get("fault_qp"),
                self.dut.get("fault_slot"),
                self.dut.get("fault_address"),
            );
            assert_eq!(Some(fault), self.faults.pop_front());
            self.faults_taken += 1;
        }
        let passed = self.dut.words("passed");
        let passed = Record::<EpochEnd>::new(&passed);
        if passed.bool("valid") {
            assert_eq!(self.passing.pop_front(), Some(passed.bool("epoch")));
        }
        if self.dut.get("departs_valid") == 1 {
            let due = self.departing.pop_front().map(to_words);
            assert_eq!(Some(self.dut.words("departs")), due, "departure");
            self.departed.push(self.clock);
        }
        self.faults_lost += self.dut.get("fault_lost");
        self.left_out += self.dut.get("left_out");
        let mac_valid = self.dut.get("mac_valid") == 1;
        assert!(mac_valid || self.begun.is_none(), "a gap inside a frame");
        if mac && mac_valid {
            self.mac_beat();
        }
        assert_eq!(self.dut.get("payload_mismatch"), 0, "clock {}", self.clock);
        self.stalled = if offers[2] && !taken[2] {
            self.stalled + 1
        } else {
            0
        };
        assert!(
            self.stalled < TIMEOUT_CYCLES,
            "payload waits for something else"
        );
        self.dut.clock();

        self.offered = std::array::from_fn(|i| offers[i] && !taken[i]);
        if taken[0] {
            let item = self.answers.pop_front().expect("an answer");
            self.taken.push(self.clock);
            self.frames[0].push_back(item.frame);
        }
        if taken[1] {
            let item = self.requests.pop_front().expect("a request");
            self.taken.push(self.clock);
            self.request_taken(item);
        }
        if taken[2] {
            self.memory.taken();
        }
        self.clock += 1;
    }

    fn request_taken(&mut self, item: Item) {
        let Packet::Request {
            request,
            payload,
            readable,
        } = item.packet
        else {
            unreachable!("a queue of requests")
        };
        let from_memory = !payload.is_empty() && !request.inline;
        let opcode = Opcode::from_code(request.opcode.index() as u8);
        if opcode.is_some_and(Opcode::is_mrc_data) {
            self.departing.push_back(Departure {
                odd: request.qp.get_bit(0),
                block: request.block,
                slot: request.psn.get_bits::<5>(0),
            });
        }
        self.beats_asked += payload.len().div_ceil(self.bytes);
        if !from_memory {
            self.passing.push_back(request.epoch);
        }
        if from_memory {
            self.memory.expect(&request, payload, readable);
        }
        if !from_memory || readable {
            self.frames[1].push_back(item.frame);
        } else {
            self.faults.push_back((
                request.qp.index() as u64,
                request.slot.index() as u64,
                request.segments.first_address.to_u64(),
            ));
        }
    }

    /// Keeps only the first `kept` expected fault reports: the block stores no more.
    pub fn forget_faults_after(&mut self, kept: usize) {
        self.faults.truncate(kept);
    }

    fn mac_beat(&mut self) {
        let count = self.dut.get("mac_bytes") as usize;
        let words = self.dut.words("mac_data");
        let bytes = words.iter().flat_map(|word| word.to_le_bytes());
        self.part.extend(bytes.take(count));
        let first = *self.begun.get_or_insert(self.clock);
        if self.dut.get("mac_last") == 1 {
            let frame = std::mem::take(&mut self.part);
            let due = self.frames.iter_mut();
            let mut due = due.filter(|due| due.front() == Some(&frame));
            let from = due.next().unwrap_or_else(|| {
                panic!(
                    "frame {} is the next of neither kind: {frame:02x?}",
                    self.sent.len()
                )
            });
            from.pop_front();
            self.begun = None;
            self.sent.push(Sent {
                first,
                last: self.clock,
            });
        }
    }

    /// Whether everything is finished.
    pub fn is_done(&self) -> bool {
        self.answers.is_empty()
            && self.requests.is_empty()
            && self.memory.is_done()
            && self.frames.iter().all(VecDeque::is_empty)
            && self.faults.is_empty()
            && self.passing.is_empty()
            && self.departing.is_empty()
    }

    /// Steps until everything is finished; panics if that takes more than `limit` cycles.
    pub fn run(&mut self, pace: Pace, limit: u64) {
        let end = self.clock + limit;
        while !self.is_done() {
            assert!(
                self.clock < end,
                "after {limit} clocks {} answers, {} requests, {} frames and {} faults are left",
                self.answers.len(),
                self.requests.len(),
                self.frames.iter().map(VecDeque::len).sum::<usize>(),
                self.faults.len()
            );
            self.step(pace);
        }
        for _ in 0..60 {
            self.step(Pace::FULL);
        }
    }
}
