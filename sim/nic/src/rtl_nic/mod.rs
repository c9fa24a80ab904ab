//! The Verilated NIC as a NIC of a world.

mod nic;
mod queue_pair;

use std::collections::{BTreeMap, VecDeque};

use sim_bfm::CLOCK_PS;
use sim_net::Time;
use sim_pcie::iommu::IommuCounters;
use sim_verilated::{Library, Profile};
use sim_world::{HostMemory, PcieSettings};
use stellar_transport::endpoint::EndpointConfig;
use stellar_transport::rx::{Counters, DropReason, Tables};
use stellar_wire::host::{QpCounter, QpCounterSelect};
use stellar_wire::rows::{ConfigSelect, RingRow};

pub use self::nic::flush_delay;
use self::queue_pair::{Pair, Profiles};
use crate::bar::Bar;
use crate::mmio::MmioAccess;
use crate::model::{NicInputs, NicModel, NicOutputs, RqBeat};
use crate::pcie::HostPcie;
use crate::port::Port;
use crate::rings::{HostBus, Rings};
use crate::sampled::Windows;
use crate::times::{PinTimes, SimRate};
use crate::NicError;

/// Cycles that register accesses may take before something is wrong.
const PATIENCE: u64 = 1_000_000;

/// The NIC with its host's memory.
pub struct RtlNic {
    model: NicModel,
    pcie: HostPcie<HostBus>,
    ports: Vec<Port>,
    /// For each port, the frames that have not begun to arrive, with their times of arrival.
    coming: [VecDeque<(Time, Vec<u8>)>; 2],
    bar: Bar,
    /// Work has been announced, or time has passed. From then on, software's register accesses take time of the world.
    started: bool,
    /// World time of cycle 0. It is negative by the cycles of the register accesses that software made before the world started.
    origin: i128,
    pairs: BTreeMap<u32, Pair>,
    profiles: Profiles,
    /// Entries of the stash that belong to queue pairs: those before this number.
    stashed: u32,
    rx_counters: Counters,
    tables: Tables,
    config: EndpointConfig,
    times: PinTimes,
    rate: SimRate,
    windows: Windows,
}

impl RtlNic {
    /// A NIC of the model in `library` ([`NicModel::shared`]), with its memory and the PCIe links to it.
    ///
    /// # Errors
    /// [`NicError`] if the library holds the model of another design.
    pub fn new(
        library: &Library,
        config: EndpointConfig,
        memory: HostMemory,
        pcie: &PcieSettings,
    ) -> Result<Self, NicError> {
        let bus = HostBus {
            memory,
            rings: Rings::new(),
        };
        let model = NicModel::new(library)?;
        let ports = model.shape().ports();
        let mut nic = Self {
            ports: Port::all(model.shape()),
            model,
            pcie: HostPcie::new(pcie, bus),
            coming: Default::default(),
            bar: Bar::default(),
            started: false,
            origin: 0,
            pairs: BTreeMap::new(),
            profiles: Profiles::default(),
            stashed: 0,
            rx_counters: Counters::default(),
            tables: Tables::default(),
            config,
            times: PinTimes::default(),
            rate: SimRate::default(),
            windows: Windows::new(),
        };
        nic.model.model_mut().start_profile();
        nic.bar.write_sizes(pcie.sizes);
        for (index, plane) in (0..).zip(config.planes).take(ports) {
            let row = config.port_row(plane);
            nic.bar.write_table(ConfigSelect::Port, index, &row);
        }
        let log2_entries = config.event_entries.ilog2() as u8;
        let base = nic.rings().add_events(log2_entries);
        let ring = ring_row(base, log2_entries);
        nic.bar.write_table(ConfigSelect::EventQueue, 0, &ring);
        nic.settle();
        Ok(nic)
    }

    fn rings(&mut self) -> &mut Rings {
        &mut self.pcie.memory_mut().rings
    }

    /// Cycles since power-up.
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

    /// Times of the events at the pins.
    pub const fn times(&self) -> &PinTimes {
        &self.times
    }

    /// Traffic of the card over PCIe so far.
    pub fn pcie_counters(&self) -> &sim_pcie::Counters {
        self.pcie.fabric().counters()
    }

    /// Translations of the host's IOMMU so far.
    pub fn iommu_counters(&self) -> IommuCounters {
        self.pcie.fabric().iommu().counters()
    }

    /// How fast this card is simulated.
    pub const fn rate(&self) -> SimRate {
        self.rate
    }

    /// Wall time of the model by block; `None` if it has not run for long enough, or if the model was built without blocks.
    pub fn profile(&self) -> Option<Profile> {
        self.model.profile()
    }

    /// World time of the next cycle.
    fn time(&self) -> i128 {
        self.origin + i128::from(self.model.clocks()) * i128::from(CLOCK_PS)
    }

    /// Completes all of software's register accesses before the world starts. They take no time of the world: the next cycle is the world's
    /// time 0.
    fn settle(&mut self) {
        if self.started {
            return;
        }
        self.access();
        self.origin = -i128::from(self.model.clocks()) * i128::from(CLOCK_PS);
    }

    /// Runs the card until software's register accesses are complete.
    fn access(&mut self) {
        let end = self.model.clocks() + PATIENCE;
        while !self.bar.is_idle() {
            assert!(
                self.model.clocks() < end,
                "the card does not complete register accesses"
            );
            self.clock();
        }
    }

    /// Reads a counter of a queue pair.
    fn read_counter(&mut self, qp: u32, counter: QpCounter) -> u64 {
        self.bar.read_counter(QpCounterSelect { qp, counter });
        self.access();
        self.bar.take_answer().expect("the register was read")
    }

    /// Runs one cycle of the card and of everything around it.
    fn clock(&mut self) {
        let (clock, time) = (self.model.clocks(), self.time());
        let mut inputs = NicInputs {
            port_up: Port::up(&self.ports),
            ..NicInputs::default()
        };
        self.bar.drive(&mut inputs);
        let seen = Time::try_from(time).unwrap_or(0);
        self.deliver(seen);
        self.pcie.advance(clock * CLOCK_PS);
        for (pins, port) in inputs.ports.iter_mut().zip(&mut self.ports) {
            port.drive(&mut self.pcie, pins);
            if pins.rx.as_ref().is_some_and(|beat| beat.last) {
                self.times.frames_in.see(seen);
            }
        }
        let outputs = self.model.clock(&inputs);
        if let Some(write) = self.bar.look(&outputs) {
            self.written(write, seen);
        }
        self.take(&outputs, clock, seen);
    }

    /// The card has accepted a write to a BAR.
    fn written(&mut self, write: MmioAccess, seen: Time) {
        Port::accepted(&mut self.ports, &write);
        if let Some(offset) = write.page_write() {
            self.times.page_write(offset, seen);
        }
    }

    /// Gives the MACs the frames that begin to arrive by `now`. Before the world starts there are none.
    fn deliver(&mut self, now: Time) {
        for (port, coming) in self.ports.iter_mut().zip(&mut self.coming) {
            while coming.front().is_some_and(|(arrival, _)| *arrival <= now) {
                if let Some((_, frame)) = coming.pop_front() {
                    port.rx.push(frame, false);
                }
            }
        }
    }

    fn take(&mut self, outputs: &NicOutputs, clock: u64, seen: Time) {
        assert!(
            !outputs.payload_mismatch,
            "clock {clock}: the transmit side lost count of its payload"
        );
        for (moved, port) in outputs.ports.iter().zip(&mut self.ports) {
            if let Some(beat) = &moved.tx {
                if port.tx.between_frames() {
                    self.times.frames_out.see(seen);
                }
                port.tx.push(beat);
            }
            if moved.rc_taken {
                for translated in &port.endpoint.completion_taken().translated {
                    self.times.data(*translated).see(seen);
                }
            }
            if let Some(RqBeat { data, user }) = &moved.rq {
                let requested = port.endpoint.request(data, user, &self.pcie);
                self.times.requests(&requested, seen);
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
