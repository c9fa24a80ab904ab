//! Memory of a simulated GPU, at final addresses.

use std::sync::{Arc, Mutex, PoisonError};

use sim_nic::SimHosts;
use stellar_driver::{PageSize, Pages};

/// First final address, and the address after the last one.
const ADDRESSES: (u64, u64) = (0x70_0000_0000, 0xf0_0000_0000);
/// Index of the device in reports.
const DEVICE: u16 = 1;

/// The GPU of one host.
#[derive(Clone)]
pub struct Gpu {
    hosts: SimHosts,
    host: usize,
    /// First address that is not allocated.
    next: Arc<Mutex<u64>>,
}

/// A range of its memory.
pub struct GpuRange {
    gpu: Gpu,
    pub address: u64,
}

impl Gpu {
    pub fn new(hosts: SimHosts, host: usize) -> Self {
        Self {
            hosts,
            host,
            next: Arc::new(Mutex::new(ADDRESSES.0)),
        }
    }

    /// At least `length` bytes in contiguous pages of `size`, which are not used again; `None` if there is no space.
    pub fn alloc(&self, length: u64, size: PageSize) -> Option<(GpuRange, Pages)> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let page = size.bytes();
        let address = next.next_multiple_of(page);
        let count = length.div_ceil(page);
        let end = count.checked_mul(page)?.checked_add(address)?;
        if end > ADDRESSES.1 {
            return None;
        }
        *next = end;
        self.hosts.add_gpu_memory(self.host, address, end - address);
        let pages = Pages {
            size,
            addresses: (0..count).map(|n| address + n * page).collect(),
            base: address,
            device: DEVICE,
        };
        let gpu = self.clone();
        Some((GpuRange { gpu, address }, pages))
    }
}

impl GpuRange {
    /// Copies in from `offset` on, as the GPU does.
    pub fn store(&self, offset: u64, bytes: &[u8]) {
        let Gpu { hosts, host, .. } = &self.gpu;
        hosts.store_gpu_memory(*host, self.address + offset, bytes);
    }

    /// Copies out from `offset` on, as the GPU does.
    pub fn load(&self, offset: u64, into: &mut [u8]) {
        let Gpu { hosts, host, .. } = &self.gpu;
        hosts.load_gpu_memory(*host, self.address + offset, into);
    }
}
