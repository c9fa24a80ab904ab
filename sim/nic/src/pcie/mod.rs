//! The PCIe fabric of a card's host, and the card's endpoints at it.

mod bus;
mod endpoint;
mod platform;
mod stream_rates;

use sim_pcie::iommu::{DomainId, Invalidation, MapError, Permission};
use sim_pcie::{AddressType, Completion, Fabric, FlowClass, PortId, Refusal, RequestKind, Tlp};
use sim_world::{BadAccess, MappingChange};
use stellar_transport::endpoint::Memory;

use self::bus::{Bus, HOST_BASE};
use self::platform::FUNCTIONS;
pub use self::platform::{write_latency, PcieSettings, ReadCompletions, RequestSizes};

pub use self::bus::{MESSAGES, MESSAGES_LENGTH};
pub use self::stream_rates::{stream_rates, StreamRate};

pub use self::endpoint::{Endpoint, RcBeat, Requested};

/// Unit in which an IOMMU maps.
const PAGE: u64 = 4096;

/// Memory of a card's host, with an IOMMU in front of it that maps for the card what software maps.
pub trait HostSide: Memory {
    /// Changes of the mappings since the last call.
    fn take_mapping_changes(&mut self) -> Vec<MappingChange>;

    /// The fabric has refused an access of the card.
    fn add_bad_access(&mut self, access: BadAccess);
}

/// Switch, GPU, root complex, IOMMU and memory of a host, around both endpoints of its card.
pub struct HostPcie<M> {
    fabric: Fabric<Bus<M>>,
    /// Domain of both endpoints.
    domain: DomainId,
    answers_flushes_at_once: bool,
}

impl<M: HostSide> HostPcie<M> {
    /// A fabric at time 0 around `host`.
    pub fn new(settings: &PcieSettings, host: M) -> Self {
        let config = platform::config(settings);
        let mut fabric = Fabric::with_memories(config, Bus::new(host))
            .unwrap_or_else(|error| panic!("the platform of a simulated host: {error}"));
        let iommu = fabric.iommu_mut();
        let domain = iommu.create_domain();
        for function in FUNCTIONS {
            iommu.attach(function, domain).expect("the domain exists");
        }
        let mut pcie = Self {
            fabric,
            domain,
            answers_flushes_at_once: settings.answer_flushes_at_once,
        };
        pcie.map(MESSAGES, MESSAGES_LENGTH);
        pcie
    }

    /// Memory of the host.
    pub fn memory(&self) -> &M {
        &self.fabric.memories().host
    }

    /// Memory of the host, for software.
    pub fn memory_mut(&mut self) -> &mut M {
        &mut self.fabric.memories_mut().host
    }

    /// The fabric, for counters.
    pub fn fabric(&self) -> &Fabric<Bus<M>> {
        &self.fabric
    }

    /// The fabric, to inject faults.
    pub fn fabric_mut(&mut self) -> &mut Fabric<Bus<M>> {
        &mut self.fabric
    }

    /// Whether a TLP is on its way.
    pub fn is_busy(&self) -> bool {
        self.fabric.next_event().is_some()
    }

    /// The vectors of the interrupt messages that have arrived since the last call.
    pub fn take_messages(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.fabric.memories_mut().messages)
    }

    /// Time passes. The IOMMU takes over what software has mapped and unmapped before.
    pub fn advance(&mut self, now: u64) {
        for change in self.memory_mut().take_mapping_changes() {
            match change {
                MappingChange::Mapped { address, length } => self.map(address, length),
                MappingChange::Unmapped { address, length } => self.unmap(address, length),
            }
        }
        self.fabric
            .advance(now)
            .expect("the clock does not go back");
        for report in self.fabric.take_reports() {
            // What a reset discards was no bad access.
            if report.refusal == Refusal::FunctionReset {
                continue;
            }
            let (Some(address), Some(kind)) = (report.address, report.kind) else {
                continue;
            };
            self.memory_mut().add_bad_access(BadAccess {
                address,
                translated: report.at == Some(AddressType::Translated),
                write: kind == RequestKind::Write,
            });
        }
    }

    fn map(&mut self, address: u64, length: u64) {
        let (first, bytes) = whole_pages(address, length);
        let physical = HOST_BASE + first;
        let both = Permission::READ_WRITE;
        let iommu = self.fabric.iommu_mut();
        iommu
            .map_range(self.domain, first, physical, bytes, both)
            .unwrap_or_else(|error| {
                panic!("{length:#x} bytes of the host at {address:#x}: {error}")
            });
    }

    /// Maps whole pages of the GPU's memory for untranslated requests: those with AT = 00 at `iova` go through the root complex to the GPU's memory at
    /// `address`.
    ///
    /// # Errors
    /// [`MapError`] if an address or length is no multiple of 4 KiB, or the range is mapped already.
    pub fn map_peer(&mut self, iova: u64, address: u64, length: u64) -> Result<(), MapError> {
        let both = Permission::READ_WRITE;
        let iommu = self.fabric.iommu_mut();
        iommu.map_range(self.domain, iova, address, length, both)
    }

    fn unmap(&mut self, address: u64, length: u64) {
        let (iova, len) = whole_pages(address, length);
        let domain = self.domain;
        let iommu = self.fabric.iommu_mut();
        iommu
            .unmap_range(domain, iova, len)
            .unwrap_or_else(|error| {
                panic!("{length:#x} bytes of the host at {address:#x}: {error}")
            });
        iommu.invalidate(Invalidation::Range { domain, iova, len });
    }

    /// Whether a port can take another TLP.
    fn ready(&mut self, port: PortId, class: FlowClass) -> bool {
        let now = self.fabric.now();
        self.fabric
            .ready(now, port, class)
            .expect("both ports exist")
    }

    fn submit(&mut self, port: PortId, tlp: Tlp) {
        let now = self.fabric.now();
        self.fabric
            .submit(now, port, tlp)
            .unwrap_or_else(|error| panic!("the card at its PCIe port: {error}"));
    }

    /// The next completion that has arrived at a port.
    fn take_completion(&mut self, port: PortId) -> Option<Completion> {
        let received = self.fabric.take_received(port).expect("both ports exist")?;
        match received.tlp {
            Tlp::Completion(completion) => Some(completion),
            // The endpoints have no BAR on the fabric, so no request is routed to them.
            Tlp::Read(_) | Tlp::Write(_) => unreachable!("a request at a card's endpoint"),
        }
    }

    /// Sets Bus Master Enable of both functions.
    pub fn set_bus_master(&mut self, on: bool) {
        for port in 0..FUNCTIONS.len() {
            self.fabric
                .set_bus_master(PortId(port), on)
                .expect("both ports exist");
        }
    }

    /// Function-level reset of both functions.
    pub fn reset_functions(&mut self) {
        let now = self.fabric.now();
        for port in 0..FUNCTIONS.len() {
            self.fabric
                .reset_function(now, PortId(port))
                .expect("both ports exist");
        }
    }
}

/// The pages that hold a range: first address and length.
const fn whole_pages(address: u64, length: u64) -> (u64, u64) {
    let first = address - address % PAGE;
    (first, (address + length).next_multiple_of(PAGE) - first)
}
