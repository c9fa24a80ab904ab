//! Memory regions laid over host and GPU pages, and the bytes that ought to be in them.

use std::collections::BTreeMap;

use sim_pcie::iommu::{DomainId, PageSize as IommuPage, Permission};
use sim_pcie::{
    AcsConfig, Bdf, Fabric, FabricBuilder, GpuConfig, Memory, NicConfig, SwitchConfig, Window,
};
use stellar_transport::rx::{EmttRow, MaxPayload, MrRow, Owner, PageSize, TableWrite};
use thiserror::Error;

/// Function of the lane's endpoint.
pub const NIC: Bdf = Bdf::from_id(0x1700);
const SWITCH: Bdf = Bdf::from_id(0x1600);
const GPU: Bdf = Bdf::from_id(0x1800);
const GPU_BAR: Window = Window {
    base: 0x20_0000_0000,
    size: 8 << 30,
};
const HOST_MEMORY: Window = Window {
    base: 0,
    size: 16 << 30,
};
/// Addresses in the GPU's memory are offsets in its BAR.
const GPU_MEMORY: Window = Window {
    base: 0,
    size: GPU_BAR.size,
};
/// IO virtual addresses of host pages start here, so that an untranslated TLP never hits its target by accident.
const IOVA_BASE: u64 = 0x10_0000_0000;

/// A byte that is not what the packets said.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum Mismatch {
    #[error("{target} memory at {address:#x} holds {found:#04x}, expected {expected:#04x}")]
    Content {
        target: &'static str,
        address: u64,
        found: u8,
        expected: u8,
    },
    #[error("{target} memory has {found} bytes written, expected {expected}: something else was changed")]
    Stray {
        target: &'static str,
        found: u64,
        expected: u64,
    },
}

/// Bytes expected, and found, by target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Placed {
    pub host: u64,
    pub gpu: u64,
}

/// A memory region to lay out.
#[derive(Clone, Copy, Debug)]
pub struct RegionSpec {
    pub rkey: u32,
    pub pd: u32,
    /// First byte, in the requester's address space.
    pub va: u64,
    /// Bytes.
    pub length: u64,
    pub page: PageSize,
}

struct Region {
    va: u64,
    length: u64,
    page: PageSize,
    /// Owner and memory address (host physical, or offset in the GPU's BAR) of each page.
    pages: Vec<(Owner, u64)>,
}

/// Lays out regions and remembers what packets wrote to them.
pub struct MemoryMap {
    regions: Vec<Region>,
    next_emtt: u32,
    next_host: u64,
    next_gpu: u64,
    next_iova: u64,
    domain: DomainId,
    /// IO virtual address of each host page, to its physical address and size.
    iova: BTreeMap<u64, (u64, u64)>,
    /// What host and GPU memory ought to hold.
    host: Memory,
    gpu: Memory,
}

impl MemoryMap {
    /// A fabric with one NIC and one GPU under a switch, and an empty map of it. `acs` is that of the port above the NIC;
    /// every link takes payloads up to `max_payload`.
    pub fn new(acs: AcsConfig, max_payload: MaxPayload) -> (Fabric, Self) {
        let mut switch = SwitchConfig::new(SWITCH);
        let mut nic = NicConfig {
            acs,
            ats: true,
            ..NicConfig::new(NIC)
        };
        let mut gpu = GpuConfig::new(GPU, GPU_BAR);
        for link in [&mut switch.uplink, &mut nic.link, &mut gpu.link] {
            link.max_payload = max_payload.bytes();
        }
        let mut fabric = FabricBuilder::new()
            .switch(switch)
            .nic(nic)
            .gpu(gpu)
            .host_memory(HOST_MEMORY.base, HOST_MEMORY.size)
            .build()
            .expect("a fixed configuration");
        let iommu = fabric.iommu_mut();
        let domain = iommu.create_domain();
        iommu.attach(NIC, domain).expect("the domain was just made");
        let map = Self {
            regions: vec![],
            next_emtt: 0,
            next_host: 0x100_0000,
            next_gpu: 0,
            next_iova: IOVA_BASE,
            domain,
            iova: BTreeMap::new(),
            host: Memory::new(vec![HOST_MEMORY]),
            gpu: Memory::new(vec![GPU_MEMORY]),
        };
        (fabric, map)
    }

    /// The ACS setting of STELLAR's platform: untranslated peer requests are redirected, translated ones go directly to the peer.
    pub fn stellar_acs() -> AcsConfig {
        AcsConfig {
            request_redirect: true,
            direct_translated: true,
            ..AcsConfig::default()
        }
    }

    /// Adds a region; `owner` says who owns its n-th page. Returns the table writes that describe it.
    pub fn add_region(
        &mut self,
        fabric: &mut Fabric,
        spec: RegionSpec,
        owner: impl Fn(u64) -> Owner,
    ) -> Vec<TableWrite> {
        let RegionSpec {
            rkey,
            pd,
            va,
            length,
            page,
        } = spec;
        let first_page = va >> page.shift();
        let count = ((va + length - 1) >> page.shift()) - first_page + 1;
        let mut writes = vec![TableWrite::Mr {
            index: rkey >> 8,
            entry: MrRow {
                valid: true,
                key: rkey as u8,
                pd,
                remote_write: true,
                remote_read: false,
                remote_atomic: false,
                page_size: page,
                base_va: va,
                length,
                first_emtt: self.next_emtt,
                on_demand: false,
            },
        }];
        let mut pages = vec![];
        for n in 0..count {
            let owner = owner(n);
            let (memory, frame) = match owner {
                Owner::Gpu => {
                    let at = self.next_gpu.next_multiple_of(page.bytes());
                    // A page left out between two keeps a write past the end from looking right.
                    self.next_gpu = at + 2 * page.bytes();
                    (at, GPU_BAR.base + at)
                }
                Owner::Host => {
                    let at = self.next_host.next_multiple_of(page.bytes());
                    self.next_host = at + 2 * page.bytes();
                    let iova = self.next_iova.next_multiple_of(page.bytes());
                    self.next_iova = iova + page.bytes();
                    self.map_iova(fabric, iova, at, page);
                    self.iova.insert(iova, (at, page.bytes()));
                    (at, iova)
                }
            };
            pages.push((owner, memory));
            writes.push(TableWrite::Emtt {
                index: self.next_emtt,
                entry: EmttRow {
                    valid: true,
                    owner,
                    device: 0,
                    frame: frame >> 12,
                },
            });
            self.next_emtt += 1;
        }
        self.regions.push(Region {
            va,
            length,
            page,
            pages,
        });
        writes
    }

    fn map_iova(&self, fabric: &mut Fabric, iova: u64, address: u64, page: PageSize) {
        let (step, size) = match page {
            PageSize::Size4K | PageSize::Size64K => (4 << 10, IommuPage::Size4KiB),
            PageSize::Size2M => (2 << 20, IommuPage::Size2MiB),
            PageSize::Size1G => (1 << 30, IommuPage::Size1GiB),
        };
        for offset in (0..page.bytes()).step_by(step) {
            fabric
                .iommu_mut()
                .map(
                    self.domain,
                    iova + offset,
                    address + offset,
                    size,
                    Permission::READ_WRITE,
                )
                .expect("fresh, aligned addresses");
        }
    }

    /// Notes that a packet wrote `bytes` at virtual address `va`. Panics if no region holds them: the caller's packets are its own.
    pub fn expect(&mut self, va: u64, bytes: &[u8]) {
        let end = va + bytes.len() as u64;
        let mut at = va;
        while at < end {
            let region = self
                .regions
                .iter()
                .find(|r| at >= r.va && at - r.va < r.length)
                .unwrap_or_else(|| panic!("no region holds {at:#x}"));
            let size = region.page.bytes();
            let page = (at >> region.page.shift()) - (region.va >> region.page.shift());
            let (owner, memory) = region.pages[page as usize];
            let until = end.min((at / size + 1) * size);
            let part = &bytes[(at - va) as usize..(until - va) as usize];
            self.write(owner, memory + at % size, part);
            at = until;
        }
    }

    /// Notes that a TLP wrote `bytes`: a translated one to a bus address of the GPU, an untranslated one to an IO virtual address.
    /// Panics if nothing is mapped there.
    pub fn expect_tlp(&mut self, translated: bool, address: u64, bytes: &[u8]) {
        if translated {
            return self.write(Owner::Gpu, address - GPU_BAR.base, bytes);
        }
        let (&iova, &(memory, _)) = self
            .iova
            .range(..=address)
            .next_back()
            .filter(|(&iova, &(_, size))| address - iova < size)
            .unwrap_or_else(|| panic!("no host page is mapped at {address:#x}"));
        self.write(Owner::Host, memory + (address - iova), bytes);
    }

    fn write(&mut self, owner: Owner, address: u64, bytes: &[u8]) {
        let memory = match owner {
            Owner::Host => &mut self.host,
            Owner::Gpu => &mut self.gpu,
        };
        memory.write(address, bytes).expect("regions lie in memory");
    }

    /// Compares every expected byte with memory, and the number of bytes ever written with the number expected.
    pub fn verify(&self, fabric: &Fabric) -> Result<Placed, Mismatch> {
        for (target, expected, memory) in [
            ("host", &self.host, fabric.host()),
            ("GPU", &self.gpu, fabric.gpu(0)),
        ] {
            if let Some((address, found, expected)) = memory.first_difference(expected) {
                return Err(Mismatch::Content {
                    target,
                    address,
                    found,
                    expected,
                });
            }
            if memory.touched_bytes() != expected.touched_bytes() {
                return Err(Mismatch::Stray {
                    target,
                    found: memory.touched_bytes(),
                    expected: expected.touched_bytes(),
                });
            }
        }
        Ok(Placed {
            host: self.host.touched_bytes(),
            gpu: self.gpu.touched_bytes(),
        })
    }
}
