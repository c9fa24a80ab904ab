//! The Verilated NIC as a NIC of a world.

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use sim_net::Time;
use sim_verilated::{Library, Profile};
use sim_world::{CongestionState, HostMemory, Nic, Outgoing, PcieReads, WorldError};
use stellar_transport::endpoint::{
    ConfigError, DoorbellError, EndpointConfig, Memory as _, QpConfig, TableWriteError,
    TransportConfig,
};
use stellar_transport::requester::RequesterCounters;
use stellar_transport::rx::{Counters, DropReason, TableWrite, Tables};
use stellar_transport::spray::EvIndex;
use stellar_wire::host::{Cqe, Doorbell, Eqe, Wqe};
use stellar_wire::rows::{ConfigSelect, RingRow};

use crate::bar::Bar;
use crate::counted::CountedFields;
use crate::mac::{MacRx, MacTx};
use crate::model::{NicInputs, NicModel, NicOutputs};
use crate::pcie::{Endpoint, HostBus};
use crate::rings::Rings;
use crate::sampled::Windows;
use crate::times::{PinTimes, SimRate};
use crate::{NicError, BEAT, CLOCK_PS};

/// Codes of PCIe sizes: payload 256, reads 512 bytes.
const PAYLOAD_CODE: u64 = 1;
const READ_CODE: u64 = 2;
/// Entropy profile of all queue pairs.
const PROFILE: u8 = 0;
/// Entropy value indices: active ones and backups.
const PATHS: usize = EvIndex::ACTIVE + EvIndex::BACKUPS;
/// Clocks that writing one table row may take before something is wrong.
const PATIENCE: u64 = 1_000_000;

/// Clocks that the cards at both ends add to a round trip: transmit and receive lanes twice, responder, and requester (docs/results.md).
const ROUND_TRIP_CLOCKS: u64 = 168;
/// Thirds of a clock that a beat of the payload adds: both lanes keep a packet until they have all of it.
const THIRDS_PER_BEAT: u64 = 14;

/// One port.
#[derive(Default)]
struct Port {
    rx: MacRx,
    tx: MacTx,
    /// Frames that have not begun to arrive, with their times.
    coming: VecDeque<(Time, Vec<u8>)>,
}

/// What is kept of a queue pair beside the card.
struct Pair {
    config: QpConfig,
    /// Index that was rung last.
    producer: u16,
    counters: RequesterCounters,
    path_loads: Vec<u64>,
}

/// The NIC with its host's memory.
pub struct RtlNic {
    model: NicModel,
    memory: HostMemory,
    rings: Rings,
    endpoints: [Endpoint; 2],
    ports: [Port; 2],
    port_up: u8,
    bar: Bar,
    /// Work has been announced or time has passed: from then on software's accesses take time.
    started: bool,
    /// World time of clock 0, which lies in the past of the world by what software did at once.
    origin: i128,
    pairs: BTreeMap<u32, Pair>,
    rx_counters: Counters,
    tables: Tables,
    config: EndpointConfig,
    times: PinTimes,
    rate: SimRate,
    counted: CountedFields,
    windows: Windows,
}

impl RtlNic {
    /// The only new entry, which software then pushes.
    fn single_entry(&mut self, page: u32, doorbell: Doorbell) -> Option<[u8; Wqe::LEN]> {
        let pair = self.pairs.get(&doorbell.qp)?;
        let ring = pair.config.sq?;
        if pair.config.page != page || doorbell.producer != pair.producer.wrapping_add(1) {
            return None;
        }
        let place = u64::from(pair.producer) % (1 << ring.log2_entries);
        let mut entry = [0; Wqe::LEN];
        let address = ring.base.wrapping_add(place * Wqe::LEN as u64);
        self.memory.read(address, false, &mut entry).ok()?;
        Some(entry)
    }

    /// A NIC of the model in `library` ([`NicModel::shared`]), with its memory and the PCIe links to it.
    ///
    /// # Errors
    /// [`NicError`] if the library holds the model of another design.
    pub fn new(
        library: &Library,
        config: EndpointConfig,
        memory: HostMemory,
        reads: PcieReads,
    ) -> Result<Self, NicError> {
        let mut nic = Self {
            model: NicModel::new(library)?,
            memory,
            rings: Rings::new(),
            endpoints: [0, 1].map(|index| Endpoint::new(index + 1, reads)),
            ports: Default::default(),
            port_up: 3,
            bar: Bar::default(),
            started: false,
            origin: 0,
            pairs: BTreeMap::new(),
            rx_counters: Counters::default(),
            tables: Tables::default(),
            config,
            times: PinTimes::default(),
            rate: SimRate::default(),
            counted: CountedFields::new(),
            windows: Windows::new(),
        };
        nic.model.model_mut().start_profile();
        nic.bar.write_sizes(PAYLOAD_CODE, READ_CODE);
        for (index, plane) in (0..).zip(config.planes) {
            let row = config.port_row(plane);
            nic.bar.write_table(ConfigSelect::Port, index, &row);
        }
        let log2_entries = config.event_entries.ilog2() as u8;
        let base = nic.rings.add_events(log2_entries);
        let ring = ring_row(base, log2_entries);
        nic.bar.write_table(ConfigSelect::EventQueue, 0, &ring);
        nic.settle();
        Ok(nic)
    }

    /// Clocks since power-up.
    pub fn clocks(&self) -> u64 {
        self.model.clocks()
    }

    /// The model, for waves and coverage.
    pub fn model_mut(&mut self) -> &mut NicModel {
        &mut self.model
    }

    /// Builds the model that every card of this process shares, or loads it: minutes the first time.
    ///
    /// # Errors
    /// [`NicError`].
    pub fn prepare() -> Result<(), NicError> {
        NicModel::shared().map(|_| ())
    }

    /// When what was seen at the pins.
    pub const fn times(&self) -> &PinTimes {
        &self.times
    }

    /// How fast this card is simulated.
    pub const fn rate(&self) -> SimRate {
        self.rate
    }

    /// Where the time of the model went; `None` before it ran for long enough, or if it does not know its blocks.
    pub fn profile(&self) -> Option<Profile> {
        self.model.profile()
    }

    /// World time of the next clock.
    fn time(&self) -> i128 {
        self.origin + i128::from(self.model.clocks()) * i128::from(CLOCK_PS)
    }

    /// Before anything moves, software's accesses take no time of the world: lets the card do them all. The next clock is the world's
    /// time 0 then.
    fn settle(&mut self) {
        if self.started {
            return;
        }
        let end = self.model.clocks() + PATIENCE;
        while !self.bar.is_idle() {
            assert!(
                self.model.clocks() < end,
                "the card does not take its tables"
            );
            self.clock();
        }
        self.origin = -i128::from(self.model.clocks()) * i128::from(CLOCK_PS);
    }

    /// One clock of the card and everything around it.
    fn clock(&mut self) {
        let (clock, time) = (self.model.clocks(), self.time());
        let mut inputs = NicInputs {
            port_up: self.port_up,
            ..NicInputs::default()
        };
        self.bar.drive(&mut inputs);
        let Self {
            endpoints,
            ports,
            memory,
            rings,
            times,
            ..
        } = self;
        let seen = Time::try_from(time).unwrap_or(0);
        for ((pins, port), endpoint) in inputs.ports.iter_mut().zip(ports).zip(endpoints) {
            let arrived = |(arrival, _): &(Time, Vec<u8>)| i128::from(*arrival) <= time;
            let arrived = port
                .coming
                .iter()
                .take_while(|frame| arrived(frame))
                .count();
            for (_, frame) in port.coming.drain(..arrived) {
                port.rx.push(frame);
            }
            let mut bus = HostBus { memory, rings };
            endpoint.serve(clock, &mut bus);
            pins.rx = port.rx.clock();
            if pins.rx.as_ref().is_some_and(|beat| beat.last) {
                times.frames_in.see(seen);
            }
            pins.tx_ready = port.tx.ready();
            (pins.write_ready, pins.read_ready) = endpoint.ready();
            if let Some(arrival) = endpoint.completion(clock) {
                if arrival.beat.last {
                    times.data(arrival.translated).see(seen);
                }
                pins.completion = Some((arrival.header, arrival.beat));
            }
        }
        let outputs = self.model.clock(&inputs);
        if let Some((_, offset, _)) = inputs.bar2_write.filter(|_| outputs.bar2_taken) {
            self.times.page_write(offset, seen);
        }
        self.bar.look(&outputs);
        self.take(&outputs, clock, seen);
    }

    fn take(&mut self, outputs: &NicOutputs, clock: u64, seen: Time) {
        assert!(
            !outputs.payload_mismatch,
            "clock {clock}: the transmit side lost count of its payload"
        );
        for ((moved, port), endpoint) in outputs
            .ports
            .iter()
            .zip(&mut self.ports)
            .zip(&mut self.endpoints)
        {
            if let Some(beat) = &moved.tx {
                if port.tx.between_frames() {
                    self.times.frames_out.see(seen);
                }
                port.tx.push(beat);
            }
            if let Some(write) = &moved.write {
                let mut bus = HostBus {
                    memory: &mut self.memory,
                    rings: &mut self.rings,
                };
                let translated = endpoint.write(write, &mut bus);
                self.times.write(translated, write, seen);
            }
            if let Some(request) = &moved.read {
                let translated = endpoint.read(request, clock);
                self.times.read(translated).see(seen);
            }
        }
        if let Some(reason) = outputs
            .verdict
            .and_then(|index| DropReason::ALL.get(usize::from(index)).copied())
        {
            self.rx_counters.count_reported(reason);
        }
        for words in outputs.sampled.iter().flatten() {
            self.windows.see(words);
        }
        for (qp, words) in outputs.counted.iter().flatten() {
            for (qp, counter, count) in self.counted.of(*qp, words) {
                if let Some(pair) = self.pairs.get_mut(&qp) {
                    *counter(&mut pair.counters) += count;
                }
            }
        }
    }

    /// Takes note of the path of a data packet that leaves.
    fn note_path(&mut self, frame: &[u8]) {
        let Ok(frame) = stellar_wire::RoceFrame::parse(frame) else {
            return;
        };
        let sender = |pair: &&mut Pair| pair.config.peer.qp == frame.bth.dest_qp;
        let Some(pair) = self.pairs.values_mut().find(sender) else {
            return;
        };
        if !frame.bth.opcode.is_write() {
            return;
        }
        pair.counters.bytes += frame.payload.len() as u64;
        let path = match &pair.config.transport {
            TransportConfig::Mrc(mrc) => {
                let entropy = stellar_wire::mrc::Entropy::of(&frame.ip, &frame.udp);
                let index = mrc.spray.profile.index_of(entropy, mrc.spray.rotation);
                index.map(|index| usize::from(index.value()))
            }
            // It has one.
            TransportConfig::Rc(_) => Some(0),
        };
        if let Some(path) = path {
            pair.path_loads[path] += 1;
        }
    }
}

/// A ring whose entries raise no interrupt: its reader polls.
fn ring_row(base: u64, log2_entries: u8) -> RingRow {
    RingRow {
        valid: true,
        log2_entries,
        base,
        ..RingRow::default()
    }
}

impl Nic for RtlNic {
    const KIND: &'static str = "Verilated RTL";
    const MAX_WIMM: u16 = 16;
    const SHOWS_EVERY_PACKET: bool = false;

    fn base_delay(payload: usize) -> Time {
        let beats = payload.div_ceil(BEAT) as u64;
        (ROUND_TRIP_CLOCKS + beats * THIRDS_PER_BEAT / 3) * CLOCK_PS
    }

    fn build(
        _host: usize,
        config: EndpointConfig,
        memory: HostMemory,
        reads: PcieReads,
    ) -> Result<Self, WorldError> {
        let failed = |error: NicError| WorldError::Nic(error.to_string());
        let library = NicModel::shared().map_err(failed)?;
        Self::new(library, config, memory, reads).map_err(failed)
    }

    fn receive(&mut self, port: usize, frame: &[u8], now: Time) {
        self.ports[port].coming.push_back((now, frame.to_vec()));
    }

    fn poll_transmit(&mut self, port: usize, now: Time) -> Option<Outgoing> {
        let frame = self.ports[port].tx.pop()?;
        self.note_path(&frame);
        Some(Outgoing {
            frame,
            ready: now,
            next: now,
        })
    }

    fn next_deadline(&self, now: Time) -> Option<Time> {
        Some(Time::try_from(self.time()).unwrap_or(0).max(now))
    }

    fn on_timer(&mut self, now: Time) {
        self.started |= now > 0;
        let started = Instant::now();
        let before = self.model.clocks();
        while self.time() <= i128::from(now) {
            self.clock();
        }
        self.rate.add(SimRate {
            clocks: self.model.clocks() - before,
            wall: started.elapsed(),
        });
    }

    fn set_port(&mut self, port: usize, up: bool) {
        self.port_up = self.port_up & !(1 << port) | u8::from(up) << port;
    }

    fn write_table(&mut self, write: &TableWrite) -> Result<(), TableWriteError> {
        self.tables.write(write)?;
        match *write {
            TableWrite::Qp { index, .. } => return Err(TableWriteError::QueuePair(index)),
            TableWrite::Mr { index, entry } => {
                self.bar.write_table(ConfigSelect::Mr, index, &entry);
            }
            TableWrite::Emtt { index, entry } => {
                self.bar.write_table(ConfigSelect::Emtt, index, &entry);
            }
        }
        self.settle();
        Ok(())
    }

    fn fence(&mut self) {
        self.bar.fence();
    }

    fn is_fenced(&self) -> bool {
        self.bar.is_idle()
    }

    fn create_qp(&mut self, config: QpConfig, _now: Time) -> Result<(), ConfigError> {
        config.check(self.config.planes[0].ip)?;
        let qp = config.number;
        if self.pairs.contains_key(&qp) {
            return Err(ConfigError::QpExists(qp));
        }
        let log2_entries = config.cq_entries.ilog2() as u8;
        let ring = ring_row(self.rings.add_queue(qp, log2_entries), log2_entries);
        let bar = &mut self.bar;
        bar.write_table(ConfigSelect::CompletionQueue, qp, &ring);
        bar.write_table(ConfigSelect::Responder, qp, &config.responder_row());
        bar.write_table(ConfigSelect::ControlPeer, qp, &config.control_peer_row());
        bar.write_table(ConfigSelect::Address0, qp, &config.address_row(0));
        bar.write_table(ConfigSelect::Address1, qp, &config.address_row(1));
        bar.write_table(ConfigSelect::Requester, qp, &config.requester_row());
        if let Some(ring) = config.sq {
            bar.write_table(ConfigSelect::SendQueue, qp, &config.send_queue_row(ring));
        }
        if let TransportConfig::Mrc(mrc) = &config.transport {
            if let Some(profile) = mrc.spray.profile.as_generated() {
                bar.write_table(ConfigSelect::Profile, PROFILE.into(), &profile);
            }
            bar.write_table(ConfigSelect::Spray, qp, &mrc.spray.row(PROFILE));
            bar.write_table(ConfigSelect::Nscc, qp, mrc.nscc.registers());
        }
        bar.write_table(ConfigSelect::Qp, qp, &config.context_row());
        self.settle();
        let paths = match config.transport {
            TransportConfig::Mrc(_) => PATHS,
            TransportConfig::Rc(_) => 1,
        };
        let pair = Pair {
            config,
            producer: 0,
            counters: RequesterCounters::default(),
            path_loads: vec![0; paths],
        };
        self.pairs.insert(qp, pair);
        Ok(())
    }

    fn ring_doorbell(&mut self, page: u32, doorbell: Doorbell) -> Result<(), DoorbellError> {
        self.started = true;
        match self.single_entry(page, doorbell) {
            Some(entry) => self.bar.push(page as u16, &entry, doorbell),
            None => self.bar.ring(page as u16, doorbell),
        }
        match self.pairs.get_mut(&doorbell.qp) {
            Some(pair) if pair.config.page == page => {
                pair.producer = doorbell.producer;
                Ok(())
            }
            _ => {
                let qp = doorbell.qp;
                Err(DoorbellError::NotOwner { page, qp })
            }
        }
    }

    fn take_completed(&mut self) -> Option<Vec<u32>> {
        Some(self.rings.take_written())
    }

    fn poll_cq(&mut self, qp: u32) -> Option<Cqe> {
        let (cqe, index) = self.rings.poll(qp)?;
        let page = self.pairs.get(&qp)?.config.page;
        self.bar.consume(page as u16, index);
        Some(cqe)
    }

    fn poll_event(&mut self) -> Option<Eqe> {
        let (event, index) = self.rings.poll_event()?;
        self.bar.consume_events(index);
        Some(event)
    }

    fn memory(&self) -> &HostMemory {
        &self.memory
    }

    fn memory_mut(&mut self) -> &mut HostMemory {
        &mut self.memory
    }

    fn qp_counters(&self, qp: u32) -> Option<RequesterCounters> {
        Some(self.pairs.get(&qp)?.counters)
    }

    fn rx_counters(&self) -> &Counters {
        &self.rx_counters
    }

    fn path_loads(&self, qp: u32) -> Vec<u64> {
        self.pairs
            .get(&qp)
            .map(|pair| pair.path_loads.clone())
            .unwrap_or_default()
    }

    fn congestion(&self, qp: u32) -> Option<CongestionState> {
        self.windows.of(qp)
    }
}
