//! A Verilated card whose receive side has the software reference beside it, for the same frames in the same order.

use std::collections::{BTreeMap, BTreeSet};

use sim_net::Time;
use sim_nic::RtlNic;
use sim_world::{
    CongestionState, HostMemory, Nic, NicKind, Outgoing, PcieReads, PcieSettings, ReferenceNic,
    WorldError,
};
use stellar_transport::endpoint::{
    ConfigError, DoorbellError, EndpointConfig, QpConfig, TableWriteError,
};
use stellar_transport::responder::Responder;
use stellar_transport::rx::{Counters, TableWrite};
use stellar_wire::host::{Cqe, Doorbell, Eqe, QpCounter, QpCounters};
use stellar_wire::time::{PENDING_VISIT_LOG2, PENDING_VISIT_QP_LOG2};
use stellar_wire::{Opcode, RoceFrame};

/// A frame that a test has arrive before a frame of the other host, made from it and from the data packet that its queue pair sent last.
pub type Intruder =
    fn(host: usize, number: u64, frame: &RoceFrame, sent: Option<&RoceFrame>) -> Option<RoceFrame>;

/// What frames at the ports of a queue pair's host show.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Data packets and probes sent, and the frames received that answer them.
    pub counts: QpCounters,
    pub sacks: u64,
    pub nacks: u64,
    pub acks: u64,
    psns: BTreeSet<u32>,
    last: Option<RoceFrame>,
}

/// Time in picoseconds in which the answer to a duplicate is given once (`Responder::REPEATED`).
const EPOCH: Time = (Responder::REPEATED.0 as Time) * 8_000;
/// Time in picoseconds between two visits of a queue pair's pending packets (`Responder::next_visit`), and between those of neighbours.
const VISITS: Time = 8_000 << PENDING_VISIT_LOG2;
const VISIT_STEP: Time = 8_000 << PENDING_VISIT_QP_LOG2;
/// Picoseconds after its time at which the card visits a queue pair at the latest.
const VISITED: Time = 1_000_000;
/// Picoseconds after its arrival at which the card decides on the answer to a duplicate at the latest: when the data in front of it is placed. One was seen to take 3.2 us.
const DECIDES: Time = 4_000_000;

/// The card decides everything; the reference only receives, and counts.
pub struct Twin<const CASE: usize> {
    rtl: RtlNic,
    reference: ReferenceNic,
    host: usize,
    received: u64,
    pub seen: BTreeMap<u32, Seen>,
    /// Duplicates for which the card may have decided in the epoch after that of the reference.
    pub in_either_epoch: BTreeMap<u32, u64>,
    /// Packets that the card may have met before a visit, and the reference after it, or the other way round.
    pub around_visits: BTreeMap<u32, u64>,
}

/// The intruders of each case.
pub const INTRUDERS: [Intruder; 2] = [|_, _, _, _| None, super::counters::errors];

impl<const CASE: usize> Twin<CASE> {
    /// The counters of the reference.
    pub fn reference(&self, qp: u32) -> QpCounters {
        self.reference
            .endpoint()
            .all_qp_counters(qp)
            .expect("the queue pair exists")
    }

    fn give(&mut self, port: usize, frame: &[u8], now: Time) {
        self.rtl.receive(port, frame, now);
        let qp = RoceFrame::parse(frame).map_or(0, |frame| frame.bth.dest_qp);
        let before = self.duplicates(qp);
        self.reference.receive(port, frame, now);
        let since_visit = (now + VISITS - Time::from(qp) * VISIT_STEP % VISITS) % VISITS;
        if !(VISITED..=VISITS - VISITED).contains(&since_visit) {
            *self.around_visits.entry(qp).or_default() += 1;
        }
        if now % EPOCH > EPOCH - DECIDES {
            *self.in_either_epoch.entry(qp).or_default() += self.duplicates(qp) - before;
        }
    }

    /// Duplicates that the reference has counted.
    fn duplicates(&self, qp: u32) -> u64 {
        let counters = self.reference.endpoint().all_qp_counters(qp);
        counters.map_or(0, |counters| counters.get(QpCounter::Duplicates))
    }

    /// Notes a frame that this host sends.
    fn note_sent(&mut self, frame: &[u8]) {
        let frame = RoceFrame::parse(frame).expect("the card sends good frames");
        let seen = self.seen.entry(frame.bth.dest_qp).or_default();
        if frame.bth.opcode.is_write() {
            let again = !seen.psns.insert(frame.bth.psn);
            seen.counts.add(QpCounter::PacketsSent, 1);
            let bytes = frame.payload.len() as u64;
            seen.counts.add(QpCounter::BytesSent, bytes);
            seen.counts.add(QpCounter::Retransmissions, again.into());
            seen.last = Some(frame);
        } else if frame.bth.opcode == Opcode::MrcProbe {
            seen.counts.add(QpCounter::ProbesSent, 1);
        }
    }

    /// Notes an answer that arrives here. Both ends of a queue pair have one number.
    fn note_answer(&mut self, frame: &RoceFrame) {
        let seen = self.seen.entry(frame.bth.dest_qp).or_default();
        match frame.bth.opcode {
            Opcode::MrcSack => {
                let probe = frame.ext.seth.is_some_and(|seth| seth.probe_response);
                seen.counts.add(QpCounter::ProbeAnswers, probe.into());
                seen.sacks += 1;
            }
            Opcode::MrcNack => seen.nacks += 1,
            Opcode::RcAck => seen.acks += 1,
            _ => {}
        }
    }
}

impl<const CASE: usize> NicKind for Twin<CASE> {
    const KIND: &'static str = "Verilated RTL beside its reference";
    const MAX_WIMM: u16 = RtlNic::MAX_WIMM;
    const SHOWS_EVERY_PACKET: bool = RtlNic::SHOWS_EVERY_PACKET;

    fn base_delay(payload: usize, reads: PcieReads) -> Time {
        RtlNic::base_delay(payload, reads)
    }

    fn build(
        host: usize,
        config: EndpointConfig,
        memory: HostMemory,
        pcie: &PcieSettings,
    ) -> Result<Self, WorldError> {
        Ok(Self {
            rtl: RtlNic::build(host, config, memory, pcie)?,
            reference: ReferenceNic::build(host, config, HostMemory::new(0), pcie)?,
            host,
            received: 0,
            seen: BTreeMap::new(),
            in_either_epoch: BTreeMap::new(),
            around_visits: BTreeMap::new(),
        })
    }
}

impl<const CASE: usize> Nic for Twin<CASE> {
    fn has_cycles(&self) -> bool {
        true
    }

    fn set_helper(&mut self, on: bool) {
        self.rtl.set_helper(on);
    }

    fn receive(&mut self, port: usize, frame: &[u8], now: Time) {
        if let Ok(parsed) = RoceFrame::parse(frame) {
            let seen = self.seen.get(&parsed.bth.dest_qp);
            let last = seen.and_then(|seen| seen.last.as_ref());
            if let Some(intruder) = INTRUDERS[CASE](self.host, self.received, &parsed, last) {
                self.note_answer(&intruder);
                self.give(port, &intruder.emit().expect("a frame"), now);
            }
            self.received += 1;
            self.note_answer(&parsed);
        }
        self.give(port, frame, now);
    }

    fn poll_transmit(&mut self, port: usize, now: Time) -> Option<Outgoing> {
        let outgoing = self.rtl.poll_transmit(port, now)?;
        self.note_sent(&outgoing.frame);
        Some(outgoing)
    }

    fn next_deadline(&self, now: Time) -> Option<Time> {
        let deadlines = [
            self.rtl.next_deadline(now),
            self.reference.next_deadline(now),
        ];
        deadlines.into_iter().flatten().min()
    }

    fn on_timer(&mut self, now: Time) {
        self.rtl.on_timer(now);
        self.reference.on_timer(now);
    }

    fn set_port(&mut self, port: usize, up: bool) {
        self.rtl.set_port(port, up);
        self.reference.set_port(port, up);
    }

    fn write_table(&mut self, write: &TableWrite) -> Result<(), TableWriteError> {
        self.reference.write_table(write)?;
        self.rtl.write_table(write)
    }

    fn fence(&mut self) {
        self.rtl.fence();
    }

    fn is_fenced(&self) -> bool {
        self.rtl.is_fenced()
    }

    fn create_qp(&mut self, config: QpConfig, now: Time) -> Result<(), ConfigError> {
        self.reference.create_qp(config.clone(), now)?;
        self.rtl.create_qp(config, now)
    }

    fn ring_doorbell(&mut self, page: u32, doorbell: Doorbell) -> Result<(), DoorbellError> {
        self.rtl.ring_doorbell(page, doorbell)
    }

    fn take_completed(&mut self) -> Option<Vec<u32>> {
        self.rtl.take_completed()
    }

    fn poll_cq(&mut self, qp: u32) -> Option<Cqe> {
        self.rtl.poll_cq(qp)
    }

    fn poll_event(&mut self) -> Option<Eqe> {
        self.rtl.poll_event()
    }

    fn memory(&self) -> &HostMemory {
        self.rtl.memory()
    }

    fn memory_mut(&mut self) -> &mut HostMemory {
        self.rtl.memory_mut()
    }

    fn qp_counters(&mut self, qp: u32) -> Option<QpCounters> {
        self.rtl.qp_counters(qp)
    }

    fn rx_counters(&self) -> &Counters {
        self.rtl.rx_counters()
    }

    fn path_loads(&self, qp: u32) -> Vec<u64> {
        self.rtl.path_loads(qp)
    }

    fn congestion(&self, qp: u32) -> Option<CongestionState> {
        self.rtl.congestion(qp)
    }
}
