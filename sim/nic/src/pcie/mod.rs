//! The PCIe fabric of a card's host, and the card's endpoints at it.

mod bus;
mod endpoint;
mod invalidations;
mod stream_rates;

use sim_pcie::iommu::{DomainId, Invalidation, MapError, PageSize, Permission};
use sim_pcie::platform::{self, FUNCTIONS};
use sim_pcie::{
    AddressType, Completion, Fabric, FlowClass, LinkOf, Location, PortId, Refusal, RequestKind, Tlp,
};
use sim_world::{BadAccess, MappingChange};
use stellar_transport::endpoint::Memory;
use stellar_wire::host::config_space::aer::{HeaderLog, Uncorrectable};
use stellar_wire::host::config_space::Function;

use self::bus::{Bus, HOST_BASE, HOST_BYTES};
pub use sim_pcie::platform::{
    write_latency, AcsSettings, Credits, IommuSettings, PcieSettings, ReadCompletions, RequestSizes,
};

pub use self::bus::{MESSAGES, MESSAGES_LENGTH};
pub use self::stream_rates::{stream_rates, StreamRate};

pub use self::endpoint::{Endpoint, RcBeat, RequestRules, Requested};

/// Unit in which an IOMMU maps.
const PAGE: u64 = 4096;

/// Memory of a card's host, with an IOMMU in front of it that maps for the card what software maps.
pub trait HostSide: Memory + Send + 'static {
    /// Changes of the mappings since the last call.
    fn take_mapping_changes(&mut self) -> Vec<MappingChange>;

    /// The functions for which software maps memory by these changes.
    fn mapped_functions(&self) -> &'static [Function] {
        &Function::ALL
    }

    /// The fabric has refused an access of the card.
    fn add_bad_access(&mut self, access: BadAccess);
}

/// Switch, GPU, root complex, IOMMU and memory of a host, around both endpoints of its card.
pub struct HostPcie<M> {
    fabric: Fabric<Bus<M>>,
    /// The IOMMU's domain of each function.
    domains: [DomainId; 2],
    /// All of the host's memory is mapped at all times.
    passthrough: bool,
    /// The largest pages in which the IOMMU maps what software maps.
    largest_page: PageSize,
    answers_flushes_at_once: bool,
    /// Errors that the endpoints have found and that were not taken yet.
    errors: Vec<(Function, Uncorrectable, HeaderLog)>,
}

impl<M: HostSide> HostPcie<M> {
    /// A fabric at time 0 around `host`.
    pub fn new(settings: &PcieSettings, host: M) -> Self {
        let config = platform::config(settings);
        let mut fabric = Fabric::with_memories(config, Bus::new(host))
            .unwrap_or_else(|error| panic!("the platform of a simulated host: {error}"));
        let iommu = fabric.iommu_mut();
        let domains = FUNCTIONS.map(|function| {
            let domain = iommu.create_domain();
            iommu.attach(function, domain).expect("the domain exists");
            domain
        });
        let mut pcie = Self {
            fabric,
            domains,
            passthrough: settings.iommu.passthrough,
            largest_page: if settings.iommu.large_pages {
                PageSize::Size1GiB
            } else {
                PageSize::Size4KiB
            },
            answers_flushes_at_once: settings.answer_flushes_at_once,
            errors: Vec::new(),
        };
        if pcie.passthrough {
            pcie.map_all();
        } else {
            pcie.map_messages();
        }
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
        let functions = self.memory().mapped_functions();
        for change in self.memory_mut().take_mapping_changes() {
            for function in functions {
                match change {
                    MappingChange::Mapped { address, length } => {
                        self.map(*function, address, length);
                    }
                    MappingChange::Unmapped { address, length } => {
                        self.unmap(*function, address, length);
                    }
                }
            }
        }
        self.fabric
            .advance(now)
            .expect("the clock does not go back");
        for report in self.fabric.take_reports() {
            let at = |function: &Function| {
                report.location == Location::Device(FUNCTIONS[function.endpoint()])
            };
            let error = match report.refusal {
                // What a reset discards was no bad access.
                Refusal::FunctionReset => continue,
                Refusal::CompletionTimeout => Some(Uncorrectable::CompletionTimeout),
                Refusal::UnexpectedCompletion => Some(Uncorrectable::UnexpectedCompletion),
                _ => None,
            };
            let function = Function::ALL.into_iter().find(at);
            if let Some((function, error)) = function.zip(error) {
                self.errors.push((function, error, report.header));
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

    /// Maps the addresses of interrupt messages for the control function. They cannot be read, as in a host: a read of that range is refused.
    fn map_messages(&mut self) {
        let domain = self.domains[Function::Control.endpoint()];
        let physical = HOST_BASE + MESSAGES;
        let writes = Permission::WRITE_ONLY;
        self.fabric
            .iommu_mut()
            .map_range(domain, MESSAGES, physical, MESSAGES_LENGTH, writes)
            .expect("an empty domain, and whole pages");
    }

    /// Maps all of the host's memory for both functions, as far as there are bus addresses of the host.
    fn map_all(&mut self) {
        let domains = self.domains;
        let iommu = self.fabric.iommu_mut();
        for domain in domains {
            iommu
                .map_range(domain, 0, HOST_BASE, HOST_BYTES, Permission::READ_WRITE)
                .expect("an empty domain, and whole pages");
        }
    }

    /// Maps host memory for a function, at its own address. With passthrough it is mapped at all times.
    ///
    /// # Panics
    /// If some of it is mapped already.
    pub fn map(&mut self, function: Function, address: u64, length: u64) {
        if self.passthrough {
            return;
        }
        let domain = self.domains[function.endpoint()];
        let (first, bytes) = whole_pages(address, length);
        let physical = HOST_BASE + first;
        let both = Permission::READ_WRITE;
        let largest = self.largest_page;
        let iommu = self.fabric.iommu_mut();
        iommu
            .map_range_in(domain, first, physical, bytes, both, largest)
            .unwrap_or_else(|error| {
                panic!("{length:#x} bytes of the host at {address:#x}: {error}")
            });
    }

    /// Maps whole pages of the GPU's memory for untranslated requests of both functions: those with AT = 00 at `iova` go through the root complex to the GPU's memory at
    /// `address`.
    ///
    /// # Errors
    /// [`MapError`] if an address or length is no multiple of 4 KiB, or the range is mapped already.
    pub fn map_peer(&mut self, iova: u64, address: u64, length: u64) -> Result<(), MapError> {
        let both = Permission::READ_WRITE;
        let domains = self.domains;
        let iommu = self.fabric.iommu_mut();
        domains
            .into_iter()
            .try_for_each(|domain| iommu.map_range(domain, iova, address, length, both))
    }

    /// Unmaps memory of a function. With passthrough it stays mapped.
    ///
    /// # Panics
    /// If it was not mapped.
    pub fn unmap(&mut self, function: Function, address: u64, length: u64) {
        if self.passthrough {
            return;
        }
        let (iova, len) = whole_pages(address, length);
        let domain = self.domains[function.endpoint()];
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

    /// An endpoint has found an error in a TLP.
    fn log(&mut self, port: PortId, error: Uncorrectable, header: HeaderLog) {
        self.errors.push((Function::ALL[port.0], error, header));
    }

    /// Errors that the endpoints have found since the last call, with the headers of their TLPs.
    pub fn take_errors(&mut self) -> Vec<(Function, Uncorrectable, HeaderLog)> {
        std::mem::take(&mut self.errors)
    }

    /// Sets Bus Master Enable of a function.
    pub fn set_bus_master(&mut self, function: Function, on: bool) {
        self.fabric
            .set_bus_master(PortId(function.endpoint()), on)
            .expect("both ports exist");
    }

    /// Has the IOMMU trust translated addresses of a function, as the operating system does when it sets ATS Enable.
    pub fn set_ats(&mut self, function: Function, on: bool) {
        let function = FUNCTIONS[function.endpoint()];
        self.fabric.iommu_mut().set_ats(function, on);
    }

    /// Takes the link of an endpoint down, or up again.
    pub fn set_link(&mut self, function: Function, is_up: bool) {
        let now = self.fabric.now();
        let link = LinkOf::Nic(PortId(function.endpoint()));
        self.fabric
            .set_link(now, link, is_up)
            .expect("both ports exist");
    }

    /// Function-level reset of a function.
    pub fn reset_function(&mut self, function: Function) {
        let now = self.fabric.now();
        self.fabric
            .reset_function(now, PortId(function.endpoint()))
            .expect("both ports exist");
    }
}

/// The pages that hold a range: first address and length.
const fn whole_pages(address: u64, length: u64) -> (u64, u64) {
    let first = address - address % PAGE;
    (first, (address + length).next_multiple_of(PAGE) - first)
}
