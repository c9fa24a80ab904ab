//! The fabric: the interface for a NIC model, a driver or a test.

use std::collections::VecDeque;

use thiserror::Error;

use crate::bdf::Bdf;
use crate::config::{CompleterConfig, FabricConfig, RootComplexConfig, Window};
use crate::counters::{Counters, LinkCounters, PlacedWrite, Report};
use crate::events::EventQueue;
use crate::iommu::Iommu;
use crate::link::{Link, LinkId, Packet};
use crate::memory::Memory;
use crate::tlp::{FlowClass, Tlp};
use crate::topology::{Device, Topology};
use crate::validate::{validate, ConfigError};
use crate::Picoseconds;

/// A NIC endpoint: its index in [`FabricConfig::nics`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId(pub usize);

/// A call that the fabric refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FabricError {
    /// There is no such NIC endpoint.
    #[error("there is no NIC port {0}; ports count from 0 in the order the NICs were configured")]
    UnknownPort(usize),
    /// The time is before the present of the simulation.
    #[error(
        "time {asked} ps lies before {now} ps, which is simulated already; time only goes forward"
    )]
    TimeReversed {
        /// The given time.
        asked: Picoseconds,
        /// Time of the fabric.
        now: Picoseconds,
    },
    /// The port's send queue for this class is full.
    #[error("port {port} has no room for another {class:?} TLP; ask `ready` and hold it back")]
    QueueFull {
        /// The port.
        port: usize,
        /// The class.
        class: FlowClass,
    },
}

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
    pub memory: Memory,
    pub completer: CompleterConfig,
}

/// NICs, GPUs, switches, root complex, IOMMU and host memory, with links of finite speed between them.
///
/// Each hop stores and forwards. Time is in picoseconds and advances only in calls. The same calls always give the same result.
pub struct Fabric {
    pub(crate) now: Picoseconds,
    pub(crate) events: EventQueue,
    pub(crate) links: Vec<Link>,
    pub(crate) topology: Topology,
    pub(crate) root_complex: RootComplexConfig,
    pub(crate) host: Memory,
    pub(crate) gpus: Vec<Gpu>,
    pub(crate) gpu_latency_ps: Vec<Picoseconds>,
    pub(crate) inboxes: Vec<VecDeque<Received>>,
    pub(crate) iommu: Iommu,
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
        let (topology, links) = Topology::new(&config);
        let mut iommu = Iommu::new(config.iommu);
        for nic in &config.nics {
            iommu.set_ats(nic.bdf, nic.ats);
        }
        let gpus: Vec<Gpu> = config.gpus.into_iter().map(Gpu::new).collect();
        Ok(Self {
            now: 0,
            events: EventQueue::default(),
            links,
            topology,
            root_complex: config.root_complex,
            host: Memory::new(config.host_memory),
            gpu_latency_ps: gpus.iter().map(|gpu| gpu.completer.latency_ps).collect(),
            gpus,
            inboxes: config.nics.iter().map(|_| VecDeque::new()).collect(),
            iommu,
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
        self.events.next_time()
    }

    /// Advances to time `to`, inclusive.
    pub fn advance(&mut self, to: Picoseconds) -> Result<(), FabricError> {
        if to < self.now {
            return Err(FabricError::TimeReversed {
                asked: to,
                now: self.now,
            });
        }
        self.run(to);
        self.now = to;
        Ok(())
    }

    /// Advances until the fabric is idle; returns the time.
    pub fn run_until_idle(&mut self) -> Picoseconds {
        self.run(Picoseconds::MAX);
        self.now
    }

    /// Whether `port` can accept another TLP of `class` at time `now`. Advances the fabric to `now`.
    pub fn ready(
        &mut self,
        now: Picoseconds,
        port: PortId,
        class: FlowClass,
    ) -> Result<bool, FabricError> {
        let up = self.port(port)?;
        self.advance(now)?;
        Ok(self.links[up.0].has_room(class))
    }

    /// The NIC behind `port` sends `tlp` at time `now`. Advances the fabric to `now`.
    pub fn submit(&mut self, now: Picoseconds, port: PortId, tlp: Tlp) -> Result<(), FabricError> {
        let class = tlp.class();
        if !self.ready(now, port, class)? {
            return Err(FabricError::QueueFull {
                port: port.0,
                class,
            });
        }
        let up = self.port(port)?;
        self.links[up.0].enqueue(Packet {
            tlp,
            hairpin: false,
        });
        self.transmit(up);
        Ok(())
    }

    /// The oldest TLP that reached the NIC behind `port` and was not read yet.
    pub fn take_received(&mut self, port: PortId) -> Result<Option<Received>, FabricError> {
        self.port(port)?;
        Ok(self.inboxes[port.0].pop_front())
    }

    /// Host memory, addressed by host physical address.
    pub fn host(&self) -> &Memory {
        &self.host
    }

    /// Host memory for software to store into.
    pub fn host_mut(&mut self) -> &mut Memory {
        &mut self.host
    }

    /// Memory of a GPU, addressed by the offset into its BAR. Panics if there is no such GPU.
    pub fn gpu(&self, index: usize) -> &Memory {
        &self.gpus[index].memory
    }

    /// Memory of a GPU for its kernels to store into. Panics if there is no such GPU.
    pub fn gpu_mut(&mut self, index: usize) -> &mut Memory {
        &mut self.gpus[index].memory
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

    /// Every range written to memory so far, in order; empty unless
    /// [`log_writes`](FabricConfig::log_writes) was set.
    pub fn writes_log(&self) -> &[PlacedWrite] {
        self.writes.as_deref().unwrap_or_default()
    }

    /// The refusal reports waiting, oldest first; they leave the queue.
    pub fn take_reports(&mut self) -> Vec<Report> {
        self.reports.drain(..).collect()
    }

    /// Reports that found the queue full. Their refusals are in the [`counters`](Self::counters).
    pub fn reports_lost(&self) -> u64 {
        self.reports_lost
    }

    pub(crate) fn report(&mut self, report: Report) {
        if self.reports.len() < self.report_queue {
            self.reports.push_back(report);
        } else {
            self.reports_lost += 1;
        }
    }

    fn port(&self, port: PortId) -> Result<LinkId, FabricError> {
        let nic = self.topology.nic(port.0);
        nic.map(|nic| nic.up)
            .ok_or(FabricError::UnknownPort(port.0))
    }
}

impl Gpu {
    fn new(config: crate::config::GpuConfig) -> Self {
        Self {
            bdf: config.bdf,
            memory: Memory::new(vec![Window {
                base: 0,
                size: config.bar.size,
            }]),
            bar: config.bar,
            completer: config.completer,
        }
    }
}
