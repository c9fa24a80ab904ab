//! Drives a Verilated requester core one operation at a time.

use std::collections::{BTreeMap, VecDeque};

use hdl_requester::{ConfigureKind, RequesterCore, StatPulses};
use hdl_testkit::Dut;
use rust_hdl::prelude::*;
use stellar_transport::requester::{locate_payload, Payload, Segment};
use stellar_transport::rx::{pieces_to_hw, Piece, Tables};
use stellar_wire::config::ProfileRows;
use stellar_wire::host::{PathCount, PathEvent, Wqe};
use stellar_wire::hw::core::DmaSegments;
use stellar_wire::hw::fence::EpochEnd;
use stellar_wire::hw::messages::{WqeFetch, WqeFetched};
use stellar_wire::hw::pack::{to_words, Record};
use stellar_wire::hw::requester::{ControlPacket, TranslateRequest, TranslateResponse, TxRequest};
use stellar_wire::rows::Row as _;
use stellar_wire::Opcode;

use crate::core::departures::Departing;
use crate::core::memory::Entries;

/// Four queue pairs.
pub const Q: usize = 2;
/// Blocks of the pool of windows.
pub const BLOCKS: u32 = 64;
/// log2 of the blocks of entries: more than four rings have.
const ENTRY_BLOCKS: usize = 6;
/// The core under test.
type Core = RequesterCore<Q, 6, 9, ENTRY_BLOCKS, { ENTRY_BLOCKS + 3 }>;
/// A core with two blocks, which three queue pairs share.
type SmallCore = RequesterCore<Q, 1, 4, ENTRY_BLOCKS, { ENTRY_BLOCKS + 3 }>;
/// Maximum number of cycles of an operation.
pub(super) const TIMEOUT_CYCLES: u32 = 40_000;
/// Number of idle cycles after which the message table has no work, or a burst is over.
const IDLE_CYCLES: u32 = 40;

/// The outputs of the core during an operation.
#[derive(Debug, Default)]
pub struct Observed {
    /// Packed `TxRequest`s.
    pub tx: Vec<Vec<u32>>,
    pub rotated: bool,
    pub deactivated: bool,
    /// Ports on which the head was rotated or deactivated, in order.
    pub ports: Vec<u8>,
    /// Costs that came with these rotations.
    pub costs: Vec<u64>,
    /// Payloads that could not be located.
    pub faults: u32,
    /// Packed `Completion`s.
    pub cqes: Vec<Vec<u32>>,
    /// Queue pair and status.
    pub failed: Vec<(u32, u8)>,
    /// Plane and entropy.
    pub good: Vec<(u8, u32)>,
    pub refused: bool,
    /// Queue pairs that found no block, at each attempt.
    pub starved: Vec<u32>,
    /// A send queue entry arrived.
    pub arrived: bool,
    /// Number of packets sent before the control packet or doorbell of the test was accepted.
    pub before_other: usize,
    /// Cycles from the start of the operation to the start of the next one.
    pub cycles: u32,
}

/// Counters of the core.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Totals(pub BTreeMap<&'static str, u64>);

impl Totals {
    pub fn of(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or(0)
    }

    /// Returns the increments since `older`, without zeros.
    pub fn since(&self, older: &Totals) -> Totals {
        let grown = self
            .0
            .iter()
            .map(|(&name, count)| (name, count - older.of(name)));
        Totals(grown.filter(|&(_, count)| count != 0).collect())
    }

    pub fn add(&mut self, more: &Totals) {
        for (&name, count) in &more.0 {
            *self.0.entry(name).or_default() += count;
        }
    }
}

/// Counts by queue pair and path, as the card's memory keeps them.
#[derive(Default)]
pub struct PathCounts(BTreeMap<(u64, u64), PathCount>);

impl PathCounts {
    /// Counts the pulses of a cycle, in which an operation of queue pair `operation` is executed.
    fn look(&mut self, pulses: &Record<'_, StatPulses>, operation: u64) {
        let sent = pulses.bool("on_path").then(|| pulses.u64("sent_qp"));
        let marked = pulses.bool("marked_path").then(|| pulses.u64("marked_qp"));
        let lost = pulses.bool("lost_on_path").then_some(operation);
        for (event, qp, index) in [
            (PathEvent::Sent, sent, "sent_index"),
            (PathEvent::Marked, marked, "marked_index"),
            (PathEvent::Lost, lost, "lost_index"),
        ] {
            if let Some(qp) = qp {
                let place = (qp, pulses.u64(index));
                self.0.entry(place).or_default().count(event);
            }
        }
    }

    /// What was counted on a path.
    pub fn of(&self, qp: usize, index: usize) -> PathCount {
        let place = (qp as u64, index as u64);
        self.0.get(&place).copied().unwrap_or_default()
    }
}

const STATS: [&str; 20] = [
    "packet",
    "bytes",
    "retransmission",
    "probe",
    "sack",
    "sack_out_of_window",
    "sack_inconsistent",
    "stale_sack",
    "ecn_mark",
    "probe_answer",
    "early_loss",
    "timeout",
    "nack_trimmed",
    "nack_recoverable",
    "nack_fatal",
    "nack_ignored",
    "spurious",
    "ack",
    "nak",
    "ack_ignored",
];

/// The core and its surroundings.
pub struct Rig {
    pub dut: Dut,
    pub entries: Entries,
    pub tables: Tables,
    /// Cycles from a read of an entry to its data.
    pub read_latency: u32,
    reads: Vec<(u32, Vec<u32>)>,
    /// Entries of the read that is being answered.
    arriving: VecDeque<WqeFetched>,
    /// Pending translation requests, in order.
    locating: VecDeque<Vec<u32>>,
    pub(super) observed: Observed,
    /// A head was rotated in the last cycle.
    cost_comes: bool,
    /// Bit p: the head at port p was rotated or deactivated.
    pub(super) ports_done: u64,
    pub totals: Totals,
    pub paths: PathCounts,
    /// Last deadline of each queue pair.
    pub deadlines: [Option<u32>; 1 << Q],
    /// State of the generator that decides when the surroundings are ready.
    noise: u32,
    /// The surroundings are always ready.
    pub steady: bool,
    /// Locations given for each epoch that are neither with a packet nor dropped.
    located: [u64; 2],
    /// Locations that were dropped.
    pub dropped: u64,
    /// Packets in front of their ports. They depart in the cycle after that in which they are sent, or wait for [`Bench::depart`].
    ///
    /// [`Bench::depart`]: crate::core::lockstep::Bench::depart
    pub departing: Vec<Departing>,
    pub holds_departures: bool,
}

impl Rig {
    pub fn new(tables: Tables) -> Self {
        Self::of(Dut::new::<Core>(), tables)
    }

    /// A rig whose pool has two blocks.
    pub fn with_two_blocks(tables: Tables) -> Self {
        Self::of(Dut::new::<SmallCore>(), tables)
    }

    fn of(dut: Dut, tables: Tables) -> Self {
        let mut rig = Self {
            dut,
            entries: Entries::default(),
            tables,
            read_latency: 3,
            reads: Vec::new(),
            arriving: VecDeque::new(),
            locating: VecDeque::new(),
            observed: Observed::default(),
            cost_comes: false,
            ports_done: 0,
            totals: Totals::default(),
            paths: PathCounts::default(),
            deadlines: [None; 1 << Q],
            noise: 0x1234_5678,
            steady: false,
            located: [0; 2],
            dropped: 0,
            departing: vec![],
            holds_departures: false,
        };
        for port in [
            "configure_valid",
            "profile_valid",
            "values_valid",
            "control_valid",
            "doorbell_valid",
        ] {
            rig.dut.set(port, 0);
        }
        for port in [
            "fault_valid",
            "flush_valid",
            "wake_valid",
            "head_valid",
            "due_valid",
        ] {
            rig.dut.set(port, 0);
        }
        for port in ["xlate_rsp_valid", "fetched_valid", "hold"] {
            rig.dut.set(port, 0);
        }
        rig.dut.set("tx_space", 3);
        rig.dut.set("schedule_ready", 1);
        rig.dut.set("plane_up", 3);
        rig.dut.set("reset", 1);
        rig.clock();
        rig.dut.set("reset", 0);
        for _ in 0..100 {
            rig.clock();
        }
        rig
    }

    /// Returns a pseudo-random bit, the same sequence in every run.
    fn coin(&mut self) -> bool {
        self.noise ^= self.noise << 13;
        self.noise ^= self.noise >> 17;
        self.noise ^= self.noise << 5;
        self.steady || self.noise & 3 != 0
    }

    /// Runs one cycle. Returns whether the port `ready` was high in it.
    pub(super) fn clock_with(&mut self, ready: Option<&str>) -> bool {
        let (fetch, locate, cqe) = (self.coin(), self.coin(), self.coin());
        self.dut.set("fetch_ready", fetch.into());
        self.dut.set("xlate_req_ready", locate.into());
        self.dut.set("cqe_ready", cqe.into());
        self.serve();
        self.let_depart();
        self.dut.eval();
        let taken = ready.is_some_and(|ready| self.dut.get(ready) != 0);
        if fetch && self.dut.get("fetch_valid") != 0 {
            self.reads
                .push((self.read_latency, self.dut.words("fetch")));
        }
        if locate && self.dut.get("xlate_req_valid") != 0 {
            let request = self.dut.words("xlate_req");
            self.locating.push_back(request);
        }
        if cqe && self.dut.get("cqe_valid") != 0 {
            let cqe = self.dut.words("cqe");
            self.observed.cqes.push(cqe);
        }
        if !self.arriving.is_empty() && self.dut.get("fetched_ready") != 0 {
            self.arriving.pop_front();
        }
        self.look();
        self.dut.clock();
        self.observed.cycles += 1;
        taken
    }

    pub(super) fn clock(&mut self) {
        self.clock_with(None);
    }

    /// Drives the responses of memory and translation.
    fn serve(&mut self) {
        self.dut.set("fetched_valid", 0);
        self.dut.set("xlate_rsp_valid", 0);
        for (left, _) in &mut self.reads {
            *left = left.saturating_sub(1);
        }
        if self.arriving.is_empty() {
            if let Some(at) = self.reads.iter().position(|(left, _)| *left == 0) {
                let (_, words) = self.reads.remove(at);
                self.read(&words);
            }
        }
        if let Some(&fetched) = self.arriving.front() {
            self.dut.set_words("fetched", &to_words(fetched));
            self.dut.set("fetched_valid", 1);
        }
        if let Some(words) = self.located() {
            let mut located = self.locate(&words);
            located.epoch = self.coin();
            self.located[usize::from(located.epoch)] += u64::from(!located.fault);
            self.observed.faults += u32::from(located.fault);
            self.dut.set_words("xlate_rsp", &to_words(located));
            self.dut.set("xlate_rsp_valid", 1);
        }
    }

    /// Returns the data of a fetch.
    fn read(&mut self, words: &[u32]) {
        let fetch = Record::<WqeFetch>::new(words);
        let lines = fetch.u64("lines");
        for line in 0..lines {
            let address = fetch.u64("address") + line * Wqe::LEN as u64;
            let found = self.entries.0.get(&address);
            let mut packed = Bits::<512>::default();
            for (i, byte) in found.unwrap_or(&[0; Wqe::LEN]).iter().enumerate() {
                for bit in 0..8 {
                    packed = packed.replace_bit(8 * i + bit, byte >> bit & 1 == 1);
                }
            }
            self.arriving.push_back(WqeFetched {
                qp: fetch.u64("qp").to_bits(),
                error: found.is_none(),
                behind: (lines - 1 - line).to_bits(),
                line: packed,
            });
        }
    }

    /// Returns the next translation request to answer in this cycle, unless translation is slow.
    fn located(&mut self) -> Option<Vec<u32>> {
        if self.coin() {
            self.locating.pop_front()
        } else {
            None
        }
    }

    fn locate(&self, words: &[u32]) -> TranslateResponse {
        let request = Record::<TranslateRequest>::new(words);
        let wqe = Wqe {
            local_va: request.u64("va"),
            lkey: request.u64("lkey") as u32,
            length: request.u64("message_length") as u32,
            ..Wqe::default()
        };
        let segment = Segment {
            opcode: Opcode::MrcWriteOnly,
            offset: request.u64("offset") as u32,
            length: request.u64("length") as u16,
            last: true,
        };
        let pd = request.u64("pd") as u32;
        let found = locate_payload(&self.tables, pd, &wqe, &segment);
        TranslateResponse {
            qp: request.u64("qp").to_bits(),
            fault: found.is_err(),
            segments: match found {
                Ok(Payload::Memory(segments)) => segments_record(&segments),
                _ => DmaSegments::default(),
            },
            epoch: false,
        }
    }

    /// Records the pulses of this cycle.
    fn look(&mut self) {
        if self.dut.get("tx_valid") != 0 {
            let packet = self.dut.words("tx");
            let record = Record::<TxRequest>::new(&packet);
            if record.u64("length") != 0 && !record.bool("inline") {
                self.located[usize::from(record.bool("epoch"))] -= 1;
            }
            self.departing.extend(Departing::of(&record));
            self.observed.tx.push(packet);
        }
        let dropped = self.dut.words("dropped");
        let dropped = Record::<EpochEnd>::new(&dropped);
        if dropped.bool("valid") {
            self.located[usize::from(dropped.bool("epoch"))] -= 1;
            self.dropped += 1;
        }
        if std::mem::take(&mut self.cost_comes) {
            self.observed.costs.push(self.dut.get("cost"));
        }
        let (served, parked) = (self.dut.get("rotate"), self.dut.get("deactivate"));
        self.cost_comes = served != 0;
        self.observed.rotated |= served != 0;
        self.observed.deactivated |= parked != 0;
        self.ports_done |= served | parked;
        for port in (0..2).filter(|port| (served | parked) >> port & 1 != 0) {
            self.observed.ports.push(port);
        }
        self.observed.refused |= self.dut.get("refused") != 0;
        if self.dut.get("starved") != 0 {
            let qp = self.dut.get("event_qp") as u32;
            self.observed.starved.push(qp);
        }
        self.observed.arrived |= self.dut.get("entry_arrived") != 0;
        if self.dut.get("failed") != 0 {
            let failed = (
                self.dut.get("event_qp") as u32,
                self.dut.get("failed_status") as u8,
            );
            self.observed.failed.push(failed);
        }
        if self.dut.get("reverse_ev_valid") != 0 {
            let good = (
                self.dut.get("reverse_ev_plane") as u8,
                self.dut.get("reverse_ev_entropy") as u32,
            );
            self.observed.good.push(good);
        }
        if self.dut.get("deadline_valid") != 0 {
            let armed = self.dut.get("deadline_armed") != 0;
            let qp = self.dut.get("deadline_qp") as usize;
            self.deadlines[qp] = armed.then(|| self.dut.get("deadline") as u32);
        }
        let counted = self.dut.words("stats");
        if counted.iter().any(|&word| word != 0) {
            let record = Record::<StatPulses>::new(&counted);
            // The counters of a queue pair restart in this cycle, so they cannot count in it.
            let configured = self.dut.moves("configure_valid", "configure_ready");
            let pulses = STATS.iter().any(|name| record.u64(name) != 0);
            assert!(!(configured && pulses), "pulses beside a configuration");
            for name in STATS {
                *self.totals.0.entry(name).or_default() += record.u64(name);
            }
            let operation = self.dut.get("event_qp");
            self.paths.look(&record, operation);
        }
    }

    /// Offers an operation until it is accepted, then waits until the next one would be accepted.
    fn operate(&mut self, valid: &str, value: u64, ready: &str) -> Observed {
        self.observed = Observed::default();
        self.dut.set(valid, value);
        self.wait(ready);
        self.dut.set(valid, 0);
        self.finish();
        std::mem::take(&mut self.observed)
    }

    /// Waits until the operation is done, and the burst in the background has been sent.
    pub(super) fn finish(&mut self) {
        self.finish_operation();
        let cycles = self.observed.cycles - 1;
        let mut quiet = 0;
        while quiet < IDLE_CYCLES {
            let sent = self.observed.tx.len();
            self.clock();
            // If a payload cannot be translated, the remaining translations of the burst are requested nevertheless.
            let locates = !self.locating.is_empty() || self.dut.get("xlate_req_valid") != 0;
            let busy = self.observed.tx.len() > sent || locates;
            quiet = if busy { 0 } else { quiet + 1 };
        }
        // A burst that ended early is rolled back.
        self.finish_operation();
        for _ in 0..4 {
            self.clock();
        }
        assert_eq!(self.located, [0; 2], "locations without an end");
        self.observed.cycles = cycles;
    }

    /// Waits until the operation is done: then the sequencer accepts a wake-up.
    fn finish_operation(&mut self) {
        self.dut.set("wake_valid", 1);
        self.dut.set("wake_qp", 0);
        self.wait("wake_ready");
        self.dut.set("wake_valid", 0);
    }

    pub(super) fn wait(&mut self, ready: &str) {
        for _ in 0..TIMEOUT_CYCLES {
            if self.clock_with(Some(ready)) {
                return;
            }
        }
        panic!("{ready} does not come");
    }

    /// Waits for outstanding reads. Returns whether an entry arrived.
    pub fn settle(&mut self) -> bool {
        self.observed = Observed::default();
        let mut quiet = 0;
        while quiet < IDLE_CYCLES {
            self.clock();
            let busy = !self.reads.is_empty()
                || !self.arriving.is_empty()
                || self.dut.get("fetch_valid") != 0
                || self.dut.get("cqe_valid") != 0;
            quiet = if busy { 0 } else { quiet + 1 };
        }
        assert_eq!(self.observed.failed, [], "a failure after the operation");
        self.observed.arrived
    }

    /// Returns the completions since the last operation. A flushed queue pair makes them in the background.
    pub fn take_cqes(&mut self) -> Vec<Vec<u32>> {
        std::mem::take(&mut self.observed.cqes)
    }

    /// Returns the known-good entropy values since the last operation. The spray engine looks them up in the background.
    pub fn take_good(&mut self) -> Vec<(u8, u32)> {
        std::mem::take(&mut self.observed.good)
    }

    pub fn configure(&mut self, kind: ConfigureKind, qp: u32, port: &str, row: &[u32]) -> Observed {
        self.dut.set_words(port, row);
        self.dut.set("configure", kind as u64);
        self.dut.set("configure_qp", qp.into());
        self.operate("configure_valid", 1, "configure_ready")
    }

    pub fn profile(&mut self, number: u8, rows: &ProfileRows) {
        self.dut.set_words("profile", &rows.profile.pack());
        self.dut.set("profile_index", number.into());
        self.dut.set("profile_valid", 1);
        self.clock();
        self.dut.set("profile_valid", 0);
        for (place, row) in rows.values_of(number) {
            self.dut.set_words("values", &row.pack());
            self.dut.set("values_row", place.into());
            self.dut.set("values_valid", 1);
            self.clock();
        }
        self.dut.set("values_valid", 0);
    }

    pub fn control(&mut self, packet: ControlPacket, now: u32) -> Observed {
        self.dut.set("now", now.into());
        self.dut.set_words("control", &to_words(packet));
        self.operate("control_valid", 1, "control_ready")
    }

    /// Rings the doorbell. The first line of an entry, `entry`, comes with it.
    pub fn doorbell(&mut self, qp: u32, producer: u16, entry: Option<[u8; Wqe::LEN]>) -> Observed {
        self.set_doorbell(qp, producer, entry);
        self.operate("doorbell_valid", 1, "doorbell_ready")
    }

    pub(super) fn set_doorbell(&mut self, qp: u32, producer: u16, entry: Option<[u8; Wqe::LEN]>) {
        self.dut.set("doorbell_qp", qp.into());
        self.dut.set("doorbell_producer", producer.into());
        self.dut.set("doorbell_pushed", entry.is_some().into());
        let entry = entry.unwrap_or([0xa5; Wqe::LEN]);
        self.dut.set_bytes("doorbell_entry", &entry);
    }

    pub fn timer(&mut self, qp: u32, now: u32) -> Observed {
        self.dut.set("now", now.into());
        self.dut.set("due_qp", qp.into());
        self.operate("due_valid", 1, "due_ready")
    }

    pub fn fault(&mut self, qp: u32, slot: u16) -> Observed {
        self.dut.set("fault_qp", qp.into());
        self.dut.set("fault_slot", slot.into());
        self.operate("fault_valid", 1, "fault_ready")
    }

    pub fn flush(&mut self, qp: u32) -> Observed {
        self.dut.set("flush_qp", qp.into());
        self.operate("flush_valid", 1, "flush_ready")
    }
}

/// Returns the hardware's record of the location of a payload.
pub fn segments_record(segments: &[Piece]) -> DmaSegments {
    if segments.is_empty() {
        DmaSegments::default()
    } else {
        pieces_to_hw(segments)
    }
}
