//! The fabric: the interface for a NIC model, a driver or a test.

use std::collections::VecDeque;

use crate::ats::Invalidations;
use crate::bdf::Bdf;
use crate::calendar::Calendar;
use crate::config::{
    CompleterConfig, ConfigError, FabricConfig, FaultRule, RootComplexConfig, Window,
};
use crate::counters::{Counters, LinkCounters, PlacedWrite, Report};
use crate::delay::stream;
use crate::fabric_error::FabricError;
use crate::faults::Faults;
use crate::iommu::Iommu;
use crate::link::{Link, LinkId};
use crate::memories::{Memories, OwnMemories};
use crate::memory::Memory;
use crate::port::Port;
use crate::tlp::Tlp;
use crate::topology::{Device, Topology};
use crate::validate::{check_fault, validate};
use crate::Picoseconds;

/// A NIC endpoint: its index in [`FabricConfig::nics`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId(pub usize);

/// A TLP that reached a NIC endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// When its last byte arrived.
    pub time: Picoseconds,
    /// The TLP.
    pub tlp: Tlp,
}

/// A link of the fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkOf {
    /// Between a NIC endpoint and its switch.
    Nic(PortId),
    /// Between the GPU with this index and its switch.
    Gpu(usize),
    /// Between the switch with this index and the root complex.
    Switch(usize),
}

/// Both directions of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkTraffic {
    /// Towards the root complex.
    pub up: LinkCounters,
    /// Away from it.
    pub down: LinkCounters,
}

pub(crate) struct Gpu {
    pub bdf: Bdf,
    pub bar: Window,
    pub completer: CompleterConfig,
}

/// NICs, GPUs, switches, root complex, IOMMU and memories, with links of finite speed between them.
///
/// Each hop stores and forwards. Time is in picoseconds and advances only in calls. The same calls always give the same result.
pub struct Fabric<M = OwnMemories> {
    pub(crate) now: Picoseconds,
    /// The links, then the ports.
    pub(crate) calendar: Calendar,
    pub(crate) links: Vec<Link>,
    pub(crate) topology: Topology,
    pub(crate) root_complex: RootComplexConfig,
    pub(crate) memories: M,
    pub(crate) gpus: Vec<Gpu>,
    pub(crate) gpu_latency_ps: Vec<Picoseconds>,
    pub(crate) ports: Vec<Port>,
    pub(crate) iommu: Iommu,
    pub(crate) invalidations: Invalidations,
    /// Buffer for the links that wait for space.
    pub(crate) woken: Vec<LinkId>,
    /// When each place of the root complex for a write between devices is free.
    pub(crate) peer_writes_free_at: Vec<Picoseconds>,
    pub(crate) faults: Faults,
    pub(crate) counters: Counters,
    pub(crate) writes: Option<Vec<PlacedWrite>>,
    reports: VecDeque<Report>,
    report_queue: usize,
    reports_lost: u64,
}

impl Fabric {
    /// Builds the fabric that `config` describes, at time 0 with empty memories and no IOMMU domain.
    pub fn new(config: FabricConfig) -> Result<Self, ConfigError> {
        validate(&config)?;
        let memories = OwnMemories::new(&config);
        Self::with_memories(config, memories)
    }

    /// Host memory, addressed by host physical address.
    pub fn host(&self) -> &Memory {
        &self.memories.host
    }

    /// Host memory for software to store into.
    pub fn host_mut(&mut self) -> &mut Memory {
        &mut self.memories.host
    }

    /// Memory of a GPU, addressed by the offset into its BAR. Panics if there is no such GPU.
    pub fn gpu(&self, index: usize) -> &Memory {
        self.memories.gpu(index)
    }

    /// Memory of a GPU for its kernels to store into. Panics if there is no such GPU.
    pub fn gpu_mut(&mut self, index: usize) -> &mut Memory {
        self.memories.gpu_mut(index)
    }
}

impl<M: Memories> Fabric<M> {
    /// Builds the fabric that `config` describes around the caller's memories, at time 0 with no IOMMU domain.
    pub fn with_memories(config: FabricConfig, memories: M) -> Result<Self, ConfigError> {
        validate(&config)?;
        let (topology, links) = Topology::new(&config);
        let mut iommu = Iommu::new(config.iommu);
        for nic in &config.nics {
            iommu.set_ats(nic.bdf, nic.ats);
        }
        let gpus: Vec<Gpu> = config.gpus.into_iter().map(Gpu::new).collect();
        let peer_writes = config.root_complex.peer_writes;
        let peer_writes_free_at = vec![0; peer_writes.map_or(0, |limit| limit.in_flight.get())];
        let port = |nic: &crate::NicConfig| Port::new(nic.completion_timeout_ps);
        Ok(Self {
            now: 0,
            calendar: Calendar::new(links.len() + config.nics.len()),
            links,
            topology,
            root_complex: config.root_complex,
            memories,
            gpu_latency_ps: gpus.iter().map(|gpu| gpu.completer.latency_ps).collect(),
            gpus,
            ports: config.nics.iter().map(port).collect(),
            iommu,
            invalidations: Invalidations::default(),
            woken: Vec::new(),
            peer_writes_free_at,
            faults: Faults::new(config.faults, stream(config.seed, 0)),
            counters: Counters::default(),
            writes: config.log_writes.then(Vec::new),
            reports: VecDeque::new(),
            report_queue: config.report_queue,
            reports_lost: 0,
        })
    }

    /// Present time: everything up to it has happened.
    pub fn now(&self) -> Picoseconds {
        self.now
    }

    /// Time of the next event, `None` when the fabric is idle.
    pub fn next_event(&self) -> Option<Picoseconds> {
        self.calendar.next_time()
    }

    /// Advances to time `to`, inclusive.
    #[inline]
    pub fn advance(&mut self, to: Picoseconds) -> Result<(), FabricError> {
        if to < self.now {
            return Err(FabricError::TimeReversed {
                asked: to,
                now: self.now,
            });
        }
        if self.calendar.may_be_due(to) {
            self.run(to);
        }
        self.now = to;
        Ok(())
    }

    /// Advances until the fabric is idle; returns the time.
    pub fn run_until_idle(&mut self) -> Picoseconds {
        self.run(Picoseconds::MAX);
        self.now
    }

    /// The memories.
    pub fn memories(&self) -> &M {
        &self.memories
    }

    /// The memories, for software to store into.
    pub fn memories_mut(&mut self) -> &mut M {
        &mut self.memories
    }

    /// The IOMMU.
    pub fn iommu(&self) -> &Iommu {
        &self.iommu
    }

    /// The IOMMU for software to configure.
    pub fn iommu_mut(&mut self) -> &mut Iommu {
        &mut self.iommu
    }

    /// Traffic by route and refusals by reason.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Traffic on one link, `None` if there is no such link.
    pub fn link_traffic(&self, link: LinkOf) -> Option<LinkTraffic> {
        let of_device = |device: &Device| (device.up, device.down);
        let (up, down) = match link {
            LinkOf::Nic(port) => self.topology.nic(port.0).map(of_device)?,
            LinkOf::Gpu(index) => self.topology.gpu(index).map(of_device)?,
            LinkOf::Switch(index) => {
                let switch = self.topology.switches.get(index)?;
                (switch.up, switch.down)
            }
        };
        Some(LinkTraffic {
            up: self.links[up.0].counters,
            down: self.links[down.0].counters,
        })
    }

    /// Injects another fault from now on, after those that are configured.
    pub fn add_fault(&mut self, rule: FaultRule) -> Result<(), ConfigError> {
        check_fault(&rule)?;
        self.faults.add(rule);
        Ok(())
    }

    /// Injects no faults from now on.
    pub fn clear_faults(&mut self) {
        self.faults.clear();
    }

    /// Every range written to memory so far, in order; empty unless
    /// [`log_writes`](FabricConfig::log_writes) was set.
    pub fn writes_log(&self) -> &[PlacedWrite] {
        self.writes.as_deref().unwrap_or_default()
    }

    /// The refusal reports waiting, oldest first; they leave the queue.
    pub fn take_reports(&mut self) -> Vec<Report> {
        if self.reports.is_empty() {
            return Vec::new();
        }
        std::mem::take(&mut self.reports).into()
    }

    /// Reports that found the queue full. Their refusals are in the [`counters`](Self::counters).
    pub fn reports_lost(&self) -> u64 {
        self.reports_lost
    }

    /// Counts and reports a TLP that something happened to.
    pub(crate) fn record(&mut self, report: Report) {
        self.counters.count_refused(report.refusal, report.bytes);
        if self.reports.len() < self.report_queue {
            self.reports.push_back(report);
        } else {
            self.reports_lost += 1;
        }
    }
}

impl Gpu {
    fn new(config: crate::config::GpuConfig) -> Self {
        Self {
            bdf: config.bdf,
            bar: config.bar,
            completer: config.completer,
        }
    }
}
