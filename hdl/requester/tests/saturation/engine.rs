//! A Verilated requester engine between two ports, and receivers that acknowledge after a round trip.

use std::collections::VecDeque;

use hdl_requester::{ConfigureKind, RequesterEngine, RequesterEngine16};
use hdl_testkit::Dut;
use rust_hdl::prelude::*;
use stellar_transport::responder::default_sack_every;
use stellar_wire::host::{Wqe, WqeOpcode};
use stellar_wire::hw::core::DmaSegments;
use stellar_wire::hw::messages::{WqeFetch, WqeFetched};
use stellar_wire::hw::pack::{to_words, Record};
use stellar_wire::hw::requester::{TranslateRequest, TranslateResponse, TxRequest};

use crate::core::departures::Departing;
use crate::saturation::port::Port;
use crate::saturation::receiver::Receiver;
use crate::saturation::setup::{ring, Registers};

/// Cycles from the departure of a packet to its acknowledgement: 4.4 us.
const ROUND_TRIP: u64 = 1100;
/// Cycles of a read of send queue entries, 600 ns, and of a translation.
const READ: u64 = 150;
const LOCATE: u64 = 12;
/// Cycles between doorbells.
const DOORBELL: u64 = 10;
/// Number of cycles without progress after which the engine counts as stuck.
const TIMEOUT_CYCLES: u64 = 100_000;

/// Events and their times.
type Due<T> = VecDeque<(u64, T)>;

fn comes<T>(queue: &mut Due<T>, now: u64) -> Option<T> {
    let due = queue.front().is_some_and(|(at, _)| *at <= now);
    due.then(|| queue.pop_front())
        .flatten()
        .map(|(_, item)| item)
}

/// The engine and its surroundings.
pub struct Bench {
    dut: Dut,
    cycles: u64,
    receivers: Vec<Receiver>,
    /// Length of every queue pair's messages.
    length: u32,
    fetched: Due<WqeFetched>,
    located: Due<TranslateResponse>,
    sacks: Due<Vec<u32>>,
    /// Doorbells to ring: queue pair and producer index, one per message; time of the next one.
    doorbells: VecDeque<(u32, u32)>,
    rings_at: u64,
    /// Queue pair that rings whenever no other does. Its doorbells move nothing.
    flood: Option<u32>,
    /// The doorbell on offer.
    rings: Option<(u32, u32)>,
    ports: [Port; 2],
    /// Packets whose transmission began in the last cycle, one at each port at most.
    departing: Vec<Departing>,
}

impl Bench {
    /// Makes an engine whose ports send a packet in `port_cycles` / 100 cycles.
    pub fn new(queue_pairs: u32, mtu: u32, port_cycles: u32) -> Self {
        Self::of(
            Dut::new::<RequesterEngine16>(),
            queue_pairs,
            mtu,
            port_cycles,
        )
    }

    /// Does what [`Self::new`] does, with four blocks for all transmit windows.
    pub fn with_four_blocks(queue_pairs: u32, mtu: u32, port_cycles: u32) -> Self {
        type Small = RequesterEngine<4, 5, 16, 2, 5, 5, 8, 4>;
        Self::of(Dut::new::<Small>(), queue_pairs, mtu, port_cycles)
    }

    fn of(dut: Dut, queue_pairs: u32, mtu: u32, port_cycles: u32) -> Self {
        let mut bench = Self {
            dut,
            cycles: 0,
            receivers: (0..queue_pairs)
                .map(|_| Receiver::new(default_sack_every(mtu)))
                .collect(),
            length: 0,
            fetched: Due::new(),
            located: Due::new(),
            sacks: Due::new(),
            doorbells: VecDeque::new(),
            rings_at: 0,
            flood: None,
            rings: None,
            ports: [Port::new(port_cycles), Port::new(port_cycles)],
            departing: vec![],
        };
        bench.dut.set("plane_up", 3);
        bench.dut.set("reset", 1);
        bench.clock();
        bench.dut.set("reset", 0);
        for _ in 0..100 {
            bench.clock();
        }
        for qp in 0..queue_pairs {
            bench.connect(qp, mtu);
        }
        bench
    }

    pub const fn cycles(&self) -> u64 {
        self.cycles
    }

    /// Offers a packed record in this cycle, or none.
    fn offer(&mut self, valid: &str, data: &str, words: Option<Vec<u32>>) {
        self.dut.set(valid, words.is_some().into());
        if let Some(words) = words {
            self.dut.set_words(data, &words);
        }
    }

    fn clock(&mut self) {
        let now = self.cycles;
        self.dut.set("now", now / 2);
        Departing::drive_all(&mut self.departing, &mut self.dut);
        let fetched = self.fetched.front().filter(|(at, _)| *at <= now);
        let fetched = fetched.map(|&(_, entry)| to_words(entry));
        self.offer("fetched_valid", "fetched", fetched);
        let located = comes(&mut self.located, now).map(to_words);
        self.offer("xlate_rsp_valid", "xlate_rsp", located);
        let sack = self.sacks.front().filter(|(at, _)| *at <= now);
        let sack = sack.map(|(_, words)| words.clone());
        self.offer("control_valid", "control", sack);
        let due = self.doorbells.front().filter(|_| self.rings_at <= now);
        let flood = self.flood.map(|qp| (qp, 0));
        self.rings = self.rings.or(due.copied()).or(flood);
        self.dut.set("doorbell_valid", self.rings.is_some().into());
        if let Some((qp, producer)) = self.rings {
            self.dut.set("doorbell_qp", qp.into());
            self.dut.set("doorbell_producer", producer.into());
        }
        for name in [
            "fetch_ready",
            "xlate_req_ready",
            "cqe_ready",
            "failure_ready",
        ] {
            self.dut.set(name, 1);
        }
        for (port, name) in ["tx0_ready", "tx1_ready"].into_iter().enumerate() {
            self.dut.set(name, self.ports[port].is_ready(now).into());
        }
        self.dut.eval();
        if self.dut.get("fetched_valid") & self.dut.get("fetched_ready") != 0 {
            self.fetched.pop_front();
        }
        if self.dut.get("control_valid") & self.dut.get("control_ready") != 0 {
            self.sacks.pop_front();
        }
        if self.dut.get("doorbell_valid") & self.dut.get("doorbell_ready") != 0 {
            let rang = self.rings.take().map(|(qp, _)| qp);
            if rang != self.flood {
                self.doorbells.pop_front();
                self.rings_at = now + DOORBELL;
            }
        }
        if self.dut.get("fetch_valid") != 0 {
            self.read(&self.dut.words("fetch"));
        }
        if self.dut.get("xlate_req_valid") != 0 {
            self.locate(&self.dut.words("xlate_req"));
        }
        for (port, (valid, data)) in [("tx0_valid", "tx0"), ("tx1_valid", "tx1")]
            .into_iter()
            .enumerate()
        {
            if self.dut.get(valid) != 0 && self.ports[port].is_ready(now) {
                let packet = self.dut.words(data);
                self.ports[port].take(now, packet);
            }
            if let Some(packet) = self.ports[port].leave(now) {
                self.departing
                    .extend(Departing::of(&Record::<TxRequest>::new(&packet)));
                self.arrive(&packet);
            }
        }
        assert_eq!(self.dut.get("failure_valid"), 0, "a queue pair failed");
        self.dut.clock();
        self.cycles += 1;
    }

    fn read(&mut self, words: &[u32]) {
        let fetch = Record::<WqeFetch>::new(words);
        let qp = fetch.u64("qp");
        let lines = fetch.u64("lines");
        for i in 0..lines {
            let address = fetch.u64("address") + i * Wqe::LEN as u64;
            let wqe = Wqe {
                opcode: WqeOpcode::Write,
                signaled: true,
                slot: ((address - ring(qp as u32).base) / Wqe::LEN as u64) as u16,
                length: self.length,
                local_va: 0x10_0000,
                lkey: 1,
                ..Wqe::default()
            };
            let mut line = Bits::<512>::default();
            for (i, byte) in wqe.to_bytes().iter().enumerate() {
                for bit in 0..8 {
                    line = line.replace_bit(8 * i + bit, byte >> bit & 1 == 1);
                }
            }
            let fetched = WqeFetched {
                qp: qp.to_bits(),
                error: false,
                behind: (lines - 1 - i).to_bits(),
                line,
            };
            self.fetched.push_back((self.cycles + READ, fetched));
        }
    }

    fn locate(&mut self, words: &[u32]) {
        let request = Record::<TranslateRequest>::new(words);
        let located = TranslateResponse {
            qp: request.u64("qp").to_bits(),
            fault: false,
            segments: DmaSegments {
                first_length: request.u64("length").to_bits(),
                ..DmaSegments::default()
            },
            epoch: false,
        };
        self.located.push_back((self.cycles + LOCATE, located));
    }

    fn arrive(&mut self, words: &[u32]) {
        let qp = Record::<TxRequest>::new(words).u64("qp") as usize;
        if let Some(sack) = self.receivers[qp].take(words) {
            self.sacks.push_back((self.cycles + ROUND_TRIP, sack));
        }
    }

    fn wait(&mut self, ready: &str) {
        for _ in 0..TIMEOUT_CYCLES {
            self.dut.eval();
            let taken = self.dut.get(ready) != 0;
            self.clock();
            if taken {
                return;
            }
        }
        panic!("{ready} does not come");
    }

    fn configure(&mut self, kind: ConfigureKind, qp: u32, port: &str, row: &[u32]) {
        self.dut.set_words(port, row);
        self.dut.set("configure", kind as u64);
        self.dut.set("configure_qp", qp.into());
        self.dut.set("configure_valid", 1);
        self.wait("configure_ready");
        self.dut.set("configure_valid", 0);
    }

    fn connect(&mut self, qp: u32, mtu: u32) {
        let registers = Registers::new(qp, mtu);
        self.dut.set_words("profile", &registers.profile);
        self.dut.set("profile_index", 0);
        self.dut.set("profile_valid", 1);
        self.clock();
        self.dut.set("profile_valid", 0);
        for (kind, port, row) in registers.rows {
            self.configure(kind, qp, port, &row);
        }
    }

    /// Connects queue pair `qp`, which rings in every cycle from now on.
    pub fn flood(&mut self, qp: u32, mtu: u32) {
        self.connect(qp, mtu);
        self.flood = Some(qp);
    }

    /// Posts `messages` of `length` bytes to every queue pair, each with a doorbell.
    pub fn post(&mut self, messages: u32, length: u32) {
        self.length = length;
        let pairs = 0..self.receivers.len() as u32;
        let rings = (1..=messages).flat_map(|n| pairs.clone().map(move |qp| (qp, n)));
        self.doorbells.extend(rings);
    }

    /// Posts `messages` of `length` bytes to every queue pair, with one doorbell for each.
    pub fn post_lists(&mut self, messages: u32, length: u32) {
        self.length = length;
        let pairs = 0..self.receivers.len() as u32;
        self.doorbells.extend(pairs.map(|qp| (qp, messages)));
    }

    /// Returns the packets sent on each queue pair.
    pub fn packets(&self) -> Vec<u32> {
        self.receivers.iter().map(|r| r.packets).collect()
    }

    /// Returns the number of SACKs sent.
    pub fn sacks(&self) -> u32 {
        self.receivers.iter().map(|receiver| receiver.sacks).sum()
    }

    /// Runs until `packets` packets have been sent in total.
    pub fn run_until(&mut self, packets: u32) {
        let from = self.cycles;
        while self.receivers.iter().map(|r| r.packets).sum::<u32>() < packets {
            assert!(self.cycles - from < TIMEOUT_CYCLES, "packets do not leave");
            self.clock();
        }
    }
}
