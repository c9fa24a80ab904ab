//! The card as a NIC of a world.

use std::time::Instant;

use hdl_nic::Shape;
use sim_bfm::CLOCK_PS;
use sim_net::Time;
use sim_world::{
    CongestionState, HostMemory, Nic, NicKind, Outgoing, PcieReads, PcieSettings, WorldError,
};
use stellar_transport::endpoint::{
    ConfigError, DoorbellError, EndpointConfig, QpConfig, TableWriteError,
};
use stellar_transport::rx::{Counters, TableWrite};
use stellar_wire::config::STASH_ENTRIES;
use stellar_wire::host::{Cqe, Doorbell, Eqe, QpCounter, QpCounters};
use stellar_wire::rows::{ConfigSelect, QpMode};
use stellar_wire::RoceFrame;

use super::queue_pair::{write_rows, Pair};
use super::{ring_row, RtlNic};
use crate::model::NicModel;
use crate::port::Link;
use crate::shape::chosen_shape;
use crate::times::SimRate;
use crate::NicError;

/// Cycles that the cards at both ends add to a round trip: transmit and receive lanes twice, responder, and requester (docs/results.md). Headers take
/// one more beat of 512 bits.
const fn round_trip_clocks(shape: Shape) -> u64 {
    match shape {
        Shape::OnePort512 => 186,
        Shape::TwoPorts1024 | Shape::TwoPorts1024Qp16k | Shape::TwoPorts1024Qp64k => 186,
    }
}
/// Cycles that each beat of the payload adds to the round trip, in sixths: 4 2/3, and 5 1/6 for beats of 512 bits. The payload adds time more than once because
/// both lanes store a packet until it is complete.
const fn sixths_per_beat(shape: Shape) -> u64 {
    match shape {
        Shape::OnePort512 => 31,
        Shape::TwoPorts1024 | Shape::TwoPorts1024Qp16k | Shape::TwoPorts1024Qp64k => 28,
    }
}

/// The card runs two cycles at once, at multiples of this time. So do all cards of a world, and several threads simulate them.
const STRIDE_PS: Time = 2 * CLOCK_PS;

/// Cycles of a flush read beside the read itself.
const FLUSH_CLOCKS: u64 = 12;

/// Time for which the SACK of a lone packet waits until its payload is in memory, in picoseconds.
pub fn flush_delay(reads: PcieReads) -> Time {
    reads.latency + FLUSH_CLOCKS * CLOCK_PS
}

impl RtlNic {
    /// Time that two cards add to a round trip beside reads of memory, in picoseconds.
    pub fn lanes_delay(payload: usize) -> Time {
        let shape = chosen_shape();
        let beats = payload.div_ceil(shape.beat()) as u64;
        (round_trip_clocks(shape) + beats * sixths_per_beat(shape) / 6) * CLOCK_PS
    }

    /// Allocates the entries of the stash that a queue pair needs, and returns the first one.
    fn take_stash(&mut self, config: &QpConfig) -> Result<u32, ConfigError> {
        let first = self.stashed;
        if config.transport.mode() == QpMode::Mrc {
            let end = first + config.imm.stash_entries();
            if end > STASH_ENTRIES {
                return Err(ConfigError::NoStash(config.imm.max_wimm));
            }
            self.stashed = end;
        }
        Ok(first)
    }

    /// Counts a packet that leaves, for the queue pair that sends it.
    fn count_sent(&mut self, frame: &[u8]) {
        let Ok(frame) = RoceFrame::parse(frame) else {
            return;
        };
        let sends = |pair: &&mut Pair| pair.config.peer.qp == frame.bth.dest_qp;
        if let Some(pair) = self.pairs.values_mut().find(sends) {
            pair.count_sent(&frame);
        }
    }
}

impl NicKind for RtlNic {
    const KIND: &'static str = "Verilated RTL";
    const MAX_WIMM: u16 = 256;
    const SHOWS_EVERY_PACKET: bool = false;

    fn base_delay(payload: usize, reads: PcieReads) -> Time {
        Self::lanes_delay(payload) + flush_delay(reads)
    }

    fn build(
        _host: usize,
        config: EndpointConfig,
        memory: HostMemory,
        pcie: &PcieSettings,
    ) -> Result<Self, WorldError> {
        let failed = |error: NicError| WorldError::Nic(error.to_string());
        let library = NicModel::shared().map_err(failed)?;
        Self::new(library, config, memory, pcie).map_err(failed)
    }
}

impl Nic for RtlNic {
    fn has_cycles(&self) -> bool {
        true
    }

    fn set_helper(&mut self, on: bool) {
        self.model.set_helper(on);
    }

    fn receive(&mut self, port: usize, frame: &[u8], now: Time) {
        self.coming[port].push_back((now, frame.to_vec()));
    }

    fn poll_transmit(&mut self, port: usize, now: Time) -> Option<Outgoing> {
        let frame = self.ports.get_mut(port)?.tx.pop()?;
        self.count_sent(&frame);
        Some(Outgoing {
            frame,
            ready: now,
            next: now,
        })
    }

    fn next_deadline(&self, now: Time) -> Option<Time> {
        let next = Time::try_from(self.time()).unwrap_or(0).max(now);
        Some(next.next_multiple_of(STRIDE_PS))
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
        // A port that the card does not have is down.
        if let Some(port) = self.ports.get_mut(port) {
            port.link = if up { Link::Up } else { Link::Down };
        }
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
        let stash = self.take_stash(&config)?;
        let log2_entries = config.cq_entries.ilog2() as u8;
        let ring = ring_row(self.rings().add_queue(qp, log2_entries), log2_entries);
        write_rows(
            &config,
            &ring,
            stash,
            self.ports.len(),
            &mut self.profiles,
            &mut self.bar,
        );
        self.settle();
        self.pairs.insert(qp, Pair::new(config));
        Ok(())
    }

    fn ring_doorbell(&mut self, page: u32, doorbell: Doorbell) -> Result<(), DoorbellError> {
        self.started = true;
        if let Some(index) = self.rings().tell(doorbell.qp) {
            self.bar.consume(page as u16, index);
        }
        let pair = self.pairs.get(&doorbell.qp);
        match pair
            .and_then(|pair| pair.single_entry(page, doorbell, &mut self.pcie.memory_mut().memory))
        {
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
        Some(self.rings().take_written())
    }

    fn poll_cq(&mut self, qp: u32) -> Option<Cqe> {
        let page = self.pairs.get(&qp)?.config.page;
        let (cqe, index) = self.rings().poll(qp)?;
        if let Some(index) = index {
            self.bar.consume(page as u16, index);
        }
        Some(cqe)
    }

    fn poll_event(&mut self) -> Option<Eqe> {
        let (event, index) = self.rings().poll_event()?;
        self.bar.consume_events(index);
        Some(event)
    }

    fn memory(&self) -> &HostMemory {
        &self.pcie.memory().memory
    }

    fn memory_mut(&mut self) -> &mut HostMemory {
        &mut self.pcie.memory_mut().memory
    }

    fn qp_counters(&mut self, qp: u32) -> Option<QpCounters> {
        self.pairs.get(&qp)?;
        let mut counters = QpCounters::default();
        for counter in QpCounter::ALL {
            counters.set(counter, self.read_counter(qp, counter));
        }
        Some(counters)
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
