//! Figure 5 of STELLAR: a GPU's DMA hits a doorbell that lies inside a block that PVDMA maps. With the project's layout this cannot happen.
//!
//! The GPU is an endpoint that sends requests, and the RNIC is a function whose BAR completes them. The fabric model calls the first a NIC and the
//! second a GPU.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use sim_pcie::iommu::{DomainId, Invalidation, PageSize, Permission};
use sim_pcie::*;
use stellar_virt::pvdma::{
    Fence, GuestId, IoMap, Limits, Piece, Pinning, PlatformError, Pvdma, Window as Iova, BLOCK,
};

const PAGE: u64 = 4096;
const GPU: Bdf = Bdf::from_id(0x1800);
const RNIC: Bdf = Bdf::from_id(0x1700);
/// The RNIC's BAR of doorbells, and the page of the guest's virtual device.
const DOORBELLS: sim_pcie::Window = sim_pcie::Window {
    base: 0x20_0000_0000,
    size: 1 << 24,
};
const DOORBELL_PAGE: u64 = 7;
/// Host memory of the guest: block n of its memory is at block n from this address on.
const RAM: u64 = 0x4000_0000;
const GUEST: GuestId = GuestId(1);
/// Guest memory, and the guest address space that contains the virtio device's shared-memory region.
const RAM_LENGTH: u64 = 8 * BLOCK;
const SHARED: u64 = 64 * BLOCK;
/// The place of the GPU driver's command queue: in the naive layout, the page after the doorbell's.
const COMMANDS: u64 = 2 * BLOCK + 5 * PAGE;
const NAIVE: u64 = COMMANDS - PAGE;

/// Second-level page table of the guest: host page by guest page.
#[derive(Clone, Default)]
struct Ept(Arc<Mutex<BTreeMap<u64, u64>>>);

impl Ept {
    /// All of the guest's memory.
    fn with_ram() -> Self {
        let ept = Self::default();
        for page in (0..RAM_LENGTH).step_by(PAGE as usize) {
            ept.map(page, RAM + page);
        }
        ept
    }

    fn map(&self, guest: u64, host: u64) {
        self.0.lock().unwrap().insert(guest, host);
    }

    fn host(&self, guest: u64) -> Option<u64> {
        self.0.lock().unwrap().get(&guest).copied()
    }
}

impl Pinning for Ept {
    /// The present contents of the table, one piece per page.
    fn pin(&mut self, _guest: GuestId, address: u64) -> Result<Vec<Piece>, PlatformError> {
        let piece = |offset| {
            let host = self.host(address + offset)?;
            Some(Piece {
                offset,
                length: PAGE,
                host,
            })
        };
        let pieces: Vec<_> = (0..BLOCK)
            .step_by(PAGE as usize)
            .filter_map(piece)
            .collect();
        if pieces.is_empty() {
            return Err(PlatformError("no memory is there".to_owned()));
        }
        Ok(pieces)
    }

    fn unpin(&mut self, _guest: GuestId, _address: u64) {}
}

/// The machine: GPU and RNIC under a switch, IOMMU, host memory.
#[derive(Clone)]
struct Machine {
    fabric: Arc<Mutex<Fabric>>,
    domain: DomainId,
}

impl Machine {
    fn new() -> Self {
        // Untranslated requests of the GPU go up to the IOMMU, as on every host that isolates its guests.
        let acs = AcsConfig {
            request_redirect: true,
            ..AcsConfig::default()
        };
        let gpu = NicConfig {
            acs,
            ..NicConfig::new(GPU)
        };
        let mut fabric = FabricBuilder::new()
            .switch(SwitchConfig::new(Bdf::from_id(0x1600)))
            .nic(gpu)
            .gpu(GpuConfig::new(RNIC, DOORBELLS))
            .host_memory(RAM, RAM_LENGTH)
            .build()
            .unwrap();
        let domain = fabric.iommu_mut().create_domain();
        fabric.iommu_mut().attach(GPU, domain).unwrap();
        Self {
            fabric: Arc::new(Mutex::new(fabric)),
            domain,
        }
    }

    fn fabric(&self) -> MutexGuard<'_, Fabric> {
        self.fabric.lock().unwrap()
    }

    /// The GPU writes at a guest address.
    fn gpu_writes(&self, address: u64, bytes: &[u8]) {
        let write = MemWrite::of_bytes(GPU, address, AddressType::Untranslated, bytes).unwrap();
        let mut fabric = self.fabric();
        let now = fabric.now();
        fabric.submit(now, PortId(0), Tlp::Write(write)).unwrap();
        fabric.run_until_idle();
    }

    /// Number of bytes written to the RNIC's doorbells.
    fn doorbell_bytes(&self) -> u64 {
        self.fabric().gpu(0).touched_bytes()
    }

    fn ram(&self, address: u64, length: usize) -> Vec<u8> {
        self.fabric().host().read(RAM + address, length).unwrap()
    }
}

fn platform(error: impl ToString) -> PlatformError {
    PlatformError(error.to_string())
}

impl IoMap for Machine {
    fn map(&mut self, iova: u64, pieces: &[Piece]) -> Result<(), PlatformError> {
        let domain = self.domain;
        for piece in pieces {
            let (at, permission) = (iova + piece.offset, Permission::READ_WRITE);
            let mut fabric = self.fabric();
            let iommu = fabric.iommu_mut();
            iommu
                .map(domain, at, piece.host, PageSize::Size4KiB, permission)
                .map_err(platform)?;
        }
        Ok(())
    }

    fn unmap(&mut self, iova: u64, pieces: &[Piece]) -> Result<(), PlatformError> {
        let domain = self.domain;
        let mut fabric = self.fabric();
        let iommu = fabric.iommu_mut();
        for piece in pieces {
            iommu
                .unmap(domain, iova + piece.offset, PageSize::Size4KiB)
                .map_err(platform)?;
        }
        let len = BLOCK;
        iommu.invalidate(Invalidation::Range { domain, iova, len });
        Ok(())
    }
}

impl Fence for Machine {
    fn fence(&mut self) -> Result<(), PlatformError> {
        self.fabric().run_until_idle();
        Ok(())
    }
}

/// The outcome: the target of the GPU's last write.
struct End {
    machine: Machine,
    pvdma: Pvdma,
    ept: Ept,
}

/// The paper's five steps with the doorbell at guest address `doorbell`; `other` is the memory of the second command queue.
fn story(doorbell: u64, other: u64) -> End {
    let machine = Machine::new();
    let ept = Ept::with_ram();
    let part = || Box::new(machine.clone());
    let limits = Limits::default();
    let pvdma = Pvdma::new(limits, Box::new(ept.clone()), part(), part());
    // The GPU belongs to the guest: its IO virtual addresses are guest addresses.
    let window = Iova {
        base: 0,
        length: RAM_LENGTH,
    };
    pvdma.add_guest(GUEST, window).unwrap();

    // Step 1: the doorbell page is mapped into the guest.
    let saved = ept.host(doorbell);
    ept.map(doorbell, DOORBELLS.base + DOORBELL_PAGE * PAGE);
    // Steps 2 and 3: the GPU's driver puts its command queue next to it, and the GPU is about to read the queue.
    let commands = pvdma.acquire(GUEST, COMMANDS, PAGE).unwrap();
    machine.gpu_writes(COMMANDS, b"commands");
    assert_eq!(machine.ram(COMMANDS, 8), b"commands");
    assert_eq!(machine.doorbell_bytes(), 0);
    // Step 4: the RDMA program ends and the page gets its old mapping, while the GPU still uses its command queue.
    match saved {
        Some(host) => ept.map(doorbell, host),
        None => drop(ept.0.lock().unwrap().remove(&doorbell)),
    }
    // Step 5: a second command queue. PVDMA finds its block mapped and changes nothing.
    let misses = pvdma.counters().misses;
    let second = pvdma.acquire(GUEST, other, PAGE).unwrap();
    assert_eq!(pvdma.counters().misses, misses, "a hit of the map cache");
    machine.gpu_writes(other, &0x0001_0000_0002_u64.to_le_bytes());
    drop((commands, second));
    End {
        machine,
        pvdma,
        ept,
    }
}

#[test]
fn a_doorbell_among_guest_memory_is_rung_by_the_gpu() {
    let end = story(NAIVE, NAIVE);
    assert_eq!(end.machine.doorbell_bytes(), 8);
    let at = DOORBELL_PAGE * PAGE;
    let rung = end.machine.fabric().gpu(0).read(at, 8).unwrap();
    assert_eq!(rung, 0x0001_0000_0002_u64.to_le_bytes(), "a doorbell word");
    assert_eq!(end.machine.ram(NAIVE, 8), [0; 8], "and not where it should");
}

#[test]
fn a_doorbell_in_the_shared_memory_region_is_not() {
    let end = story(SHARED, NAIVE);
    let command = 0x0001_0000_0002_u64.to_le_bytes();
    assert_eq!(end.machine.ram(NAIVE, 8), command);
    assert_eq!(end.machine.doorbell_bytes(), 0);
    // While the doorbell is mapped, no lease can contain it, and the IOMMU stops the GPU's own access.
    let page = DOORBELLS.base + DOORBELL_PAGE * PAGE;
    end.ept.map(SHARED, page);
    assert!(end.pvdma.acquire(GUEST, SHARED, PAGE).is_err());
    end.machine.gpu_writes(SHARED, &command);
    assert_eq!(end.machine.doorbell_bytes(), 0);
    assert_eq!(end.machine.fabric().iommu().counters().faults, 1);
    // GPUDirect Async requests the page explicitly, and gets only that page.
    let mut fabric = end.machine.fabric();
    let (domain, size) = (end.machine.domain, PageSize::Size4KiB);
    let permission = Permission::WRITE_ONLY;
    fabric
        .iommu_mut()
        .map(domain, SHARED, page, size, permission)
        .unwrap();
    drop(fabric);
    end.machine.gpu_writes(SHARED, &command);
    end.machine.gpu_writes(SHARED + PAGE, &command);
    assert_eq!(end.machine.doorbell_bytes(), 8);
    assert_eq!(end.machine.fabric().iommu().counters().faults, 2);
}

#[test]
fn a_dead_guest_leaves_nothing_in_the_iommu() {
    let end = story(SHARED, NAIVE);
    assert_eq!(end.pvdma.remove_guest(GUEST), Ok(0));
    end.machine.gpu_writes(COMMANDS, b"too late");
    assert_eq!(end.machine.ram(COMMANDS, 8), b"commands");
    assert_eq!(end.machine.fabric().iommu().counters().faults, 1);
}
