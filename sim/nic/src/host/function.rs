//! A simulated host's card as the driver sees it.

use std::sync::Arc;
use std::time::Duration;

use stellar_driver::{Access, DeviceError, DmaMemory, Interrupt, PciFunction};
use stellar_transport::rx::Owner;
use stellar_wire::host::config_space::Function;

use super::config_space::ConfigEffect;
use super::hosts::Hosts;
use super::memory::LocalMemory;
use super::turns::TurnLock;

/// Cycles between two polls of a waiting driver: 32 ns, about one iteration of a processor's loop over a cached word.
const PAUSE: u64 = 8;

/// The card of one simulated host as a PCI function, for the driver in the same process.
pub struct SimFunction {
    hosts: Arc<TurnLock<LocalMemory>>,
    host: usize,
}

impl SimFunction {
    /// The card of host `host`.
    pub fn new(hosts: Arc<TurnLock<LocalMemory>>, host: usize) -> Self {
        Self { hosts, host }
    }
}

fn finish_reset(hosts: &mut Hosts<LocalMemory>, host: usize) {
    while hosts.is_resetting(host) {
        hosts.idle();
    }
}

impl PciFunction for SimFunction {
    fn config_load(&self, function: Function, offset: u16) -> Result<u32, DeviceError> {
        Ok(self.hosts.lock().config_load(self.host, function, offset))
    }

    fn config_store(&self, function: Function, offset: u16, value: u16) -> Result<(), DeviceError> {
        let mut hosts = self.hosts.lock();
        let effect = hosts.config_store(self.host, function, offset, &value.to_le_bytes());
        if effect == ConfigEffect::Reset {
            finish_reset(&mut hosts, self.host);
        }
        Ok(())
    }

    fn load(&self, access: Access) -> Result<u64, DeviceError> {
        let (bar, offset, bytes) = (access.bar(), access.offset(), access.width().bytes());
        let word = self.hosts.lock().load(self.host, bar, offset, bytes)?;
        Ok(word.unwrap_or_else(|| access.width().ones()))
    }

    fn store(&self, access: Access, value: u64) -> Result<(), DeviceError> {
        let (bar, offset, bytes) = (access.bar(), access.offset(), access.width().bytes());
        let mut hosts = self.hosts.lock();
        hosts.store(self.host, bar, offset, bytes, value)?;
        Ok(())
    }

    fn allocate_memory(&self, bytes: usize) -> Result<Arc<dyn DmaMemory>, DeviceError> {
        let mapped = self.hosts.lock().memory(self.host).map(bytes);
        let address = mapped.ok_or_else(|| DeviceError::NoMemory {
            bytes,
            reason: "the simulated host has no bus addresses left; use new hosts".to_owned(),
        })?;
        Ok(Arc::new(SimMemory {
            hosts: Arc::clone(&self.hosts),
            host: self.host,
            address,
            length: bytes,
        }))
    }

    fn interrupt(&self, vector: u16) -> Result<Arc<dyn Interrupt>, DeviceError> {
        let mut hosts = self.hosts.lock();
        hosts.enable_vector(self.host, vector)?;
        // Interrupts that an earlier user of the vector did not read are not counted for this user.
        hosts.take_interrupt(self.host, vector);
        Ok(Arc::new(SimInterrupt {
            hosts: Arc::clone(&self.hosts),
            host: self.host,
            vector,
        }))
    }

    fn reset(&self) -> Result<(), DeviceError> {
        let mut hosts = self.hosts.lock();
        hosts.begin_reset(self.host);
        finish_reset(&mut hosts, self.host);
        Ok(())
    }

    fn now(&self) -> Duration {
        self.hosts.lock().time()
    }

    fn relax(&self) {
        let mut hosts = self.hosts.lock();
        for _ in 0..PAUSE {
            hosts.idle();
        }
    }
}

/// Memory of a simulated host, mapped for its card.
struct SimMemory {
    hosts: Arc<TurnLock<LocalMemory>>,
    host: usize,
    address: u64,
    length: usize,
}

impl DmaMemory for SimMemory {
    fn address(&self) -> u64 {
        self.address
    }

    fn length(&self) -> usize {
        self.length
    }

    fn load(&self, offset: usize, into: &mut [u8]) {
        let at = self.address + offset as u64;
        let mut hosts = self.hosts.lock();
        let host = hosts.memory(self.host);
        host.memory.load(Owner::Host, at, into);
    }

    fn store(&self, offset: usize, bytes: &[u8]) {
        let at = self.address + offset as u64;
        let mut hosts = self.hosts.lock();
        let host = hosts.memory(self.host);
        host.memory.store(Owner::Host, at, bytes);
    }

    fn load_word(&self, offset: usize) -> u64 {
        let mut bytes = [0; 8];
        self.load(offset, &mut bytes);
        u64::from_le_bytes(bytes)
    }
}

impl Drop for SimMemory {
    /// Unmaps the memory. A later access of the card to it is counted as a bad access.
    fn drop(&mut self) {
        let mut hosts = self.hosts.lock();
        let host = hosts.memory(self.host);
        host.memory.unmap(Owner::Host, self.address);
    }
}

/// A vector of a simulated card.
struct SimInterrupt {
    hosts: Arc<TurnLock<LocalMemory>>,
    host: usize,
    vector: u16,
}

impl Interrupt for SimInterrupt {
    fn wait(&self, timeout: Duration) -> Result<bool, DeviceError> {
        let mut hosts = self.hosts.lock();
        let end = hosts.time() + timeout;
        loop {
            if hosts.take_interrupt(self.host, self.vector) {
                return Ok(true);
            }
            if hosts.time() >= end {
                return Ok(false);
            }
            hosts.idle();
        }
    }
}
