//! Two hosts with a card each, in this process.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stellar_driver::PciFunction;
use stellar_transport::rx::Owner;

use super::function::SimFunction;
use super::hosts::Hosts;
use super::memory::LocalMemory;
use crate::rings::RINGS;
use crate::NicError;

/// Two hosts with a Verilated card each.
#[derive(Clone)]
pub struct CardPair {
    hosts: Arc<Mutex<Hosts<LocalMemory>>>,
}

/// The hosts, also after a thread died in the middle of a clock: what it left is as good as any state of a card.
pub fn lock<M>(hosts: &Mutex<Hosts<M>>) -> MutexGuard<'_, Hosts<M>> {
    hosts.lock().unwrap_or_else(PoisonError::into_inner)
}

impl CardPair {
    /// Builds the model, unless that was done before, and powers up both cards.
    ///
    /// # Errors
    /// [`NicError`].
    pub fn new() -> Result<Self, NicError> {
        let hosts = Hosts::new([LocalMemory::new(), LocalMemory::new()])?;
        Ok(Self {
            hosts: Arc::new(Mutex::new(hosts)),
        })
    }

    /// The card of host 0 or 1, for its driver.
    ///
    /// # Panics
    /// If there is no such host.
    pub fn function(&self, host: usize) -> Arc<dyn PciFunction> {
        assert!(host < 2, "host {host}; there are hosts 0 and 1");
        Arc::new(SimFunction::new(Arc::clone(&self.hosts), host))
    }

    /// Lets time pass for both.
    pub fn run(&self, clocks: u64) {
        let mut hosts = lock(&self.hosts);
        for _ in 0..clocks {
            hosts.idle();
        }
    }

    /// Clocks since power-up.
    pub fn clocks(&self) -> u64 {
        lock(&self.hosts).clocks()
    }

    /// Accesses of a host's card to memory that is not mapped for it, so far.
    ///
    /// # Panics
    /// If there is no such host.
    pub fn strays(&self, host: usize) -> usize {
        lock(&self.hosts).memory(host).memory.strays().len()
    }

    /// Memory at final addresses, as a GPU's: maps `bytes` bytes at `address` for a host's card.
    ///
    /// # Panics
    /// If there is no such host, or the memory does not lie below 0xf0_0000_0000, where all of a simulated host's memory is.
    pub fn add_gpu_memory(&self, host: usize, address: u64, bytes: u64) {
        let end = address.checked_add(bytes);
        assert!(
            end.is_some_and(|end| end <= RINGS),
            "{bytes:#x} bytes at {address:#x} end above {RINGS:#x}"
        );
        let mut hosts = lock(&self.hosts);
        hosts.memory(host).memory.map(Owner::Gpu, address, bytes);
    }

    /// Copies out of that memory.
    ///
    /// # Panics
    /// If there is no such host.
    pub fn load_gpu_memory(&self, host: usize, address: u64, into: &mut [u8]) {
        let mut hosts = lock(&self.hosts);
        hosts.memory(host).memory.load(Owner::Gpu, address, into);
    }
}
