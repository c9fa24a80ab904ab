//! Memory of a host in this process.

use sim_world::{BadAccess, HostMemory, MappingChange};
use stellar_driver::{mapped_length, BusAddresses};
use stellar_transport::endpoint::{Memory, MemoryFault};
use stellar_transport::rx::{Owner, WriteTlp};

use crate::pcie::HostSide;
use crate::rings::RINGS;

/// Smallest unit that an IOMMU maps, in bytes.
const PAGE: usize = 4096;

/// Memory that a driver in this process allocates, and memory of a GPU.
pub struct LocalMemory {
    pub memory: HostMemory,
    addresses: BusAddresses,
}

impl LocalMemory {
    /// Memory without mappings.
    pub fn new() -> Self {
        Self {
            memory: HostMemory::new(0),
            addresses: BusAddresses::below(RINGS),
        }
    }

    /// Maps zeroed memory; returns its bus address, or `None` if there is no space below [`RINGS`].
    pub fn map(&mut self, bytes: usize) -> Option<u64> {
        let at = self.addresses.take(bytes)?;
        // Whole pages are mapped, as by an IOMMU: the card reads double words and discards the bytes that it does not need. A long ring has large pages.
        let mapped = mapped_length(bytes)?;
        let zeroed = bytes.next_multiple_of(PAGE);
        self.memory.map(Owner::Host, at, mapped as u64);
        self.memory.store(Owner::Host, at, &vec![0; zeroed]);
        Some(at)
    }
}

impl Memory for LocalMemory {
    fn read(&mut self, address: u64, translated: bool, into: &mut [u8]) -> Result<(), MemoryFault> {
        self.memory.read(address, translated, into)
    }

    fn write(&mut self, tlp: &WriteTlp) {
        self.memory.write(tlp);
    }
}

impl HostSide for LocalMemory {
    fn take_mapping_changes(&mut self) -> Vec<MappingChange> {
        self.memory.take_mapping_changes()
    }

    fn add_bad_access(&mut self, access: BadAccess) {
        self.memory.add_bad_access(access);
    }
}
