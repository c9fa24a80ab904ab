//! Hosts of this process.

use std::path::Path;
use std::sync::{Arc, MutexGuard};

use hdl_nic::Shape;
use sim_pcie::ats::InvalidationDone;
use sim_pcie::iommu::MapError;
use sim_pcie::{ConfigError, FabricError, FaultRule};
use sim_verilated::recording::Recording;
use sim_verilated::Library;
use sim_world::Backing;
use stellar_driver::{Function, PciFunction};
use stellar_transport::requester::RequesterCounters;
use stellar_transport::rx::Owner;

use super::function::SimFunction;
use super::hosts::Hosts;
use super::memory::LocalMemory;
use super::turns::TurnLock;
use super::wire::Wire;
use crate::model::NicModel;
use crate::pcie::PcieSettings;
use crate::port::Link;
use crate::rings::RINGS;
use crate::NicError;

/// Hosts with a Verilated card each: [`crate::CardPair`] or [`crate::LoneCard`]. Clones are the same hosts.
#[derive(Clone)]
pub struct SimHosts {
    hosts: Arc<TurnLock<LocalMemory>>,
}

impl SimHosts {
    pub(super) fn new(count: usize, wire: Wire) -> Result<Self, NicError> {
        Self::with_library(count, wire, NicModel::shared()?, &PcieSettings::default())
    }

    pub(super) fn with_library(
        count: usize,
        wire: Wire,
        library: &Library,
        pcie: &PcieSettings,
    ) -> Result<Self, NicError> {
        let memories = (0..count).map(|_| LocalMemory::new());
        let hosts = Hosts::with_library(memories, wire, library, pcie)?;
        Ok(Self {
            hosts: Arc::new(TurnLock::new(hosts)),
        })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Hosts<LocalMemory>> {
        self.hosts.lock()
    }

    /// The shape of the cards.
    pub fn shape(&self) -> Shape {
        self.lock().shape()
    }

    /// How many hosts.
    pub fn count(&self) -> usize {
        self.lock().count()
    }

    /// The card of a host, for its driver.
    ///
    /// # Panics
    /// If there is no such host.
    pub fn function(&self, host: usize) -> Arc<dyn PciFunction> {
        let count = self.count();
        assert!(host < count, "host {host}; there are {count}, from 0 on");
        Arc::new(SimFunction::new(Arc::clone(&self.hosts), host))
    }

    /// Records what drives the pins of every card from now on.
    pub fn start_recording(&self) {
        let mut hosts = self.lock();
        for host in 0..hosts.count() {
            hosts.card(host).model_mut().start_recording();
        }
    }

    /// Ends recording, and returns the recording of each host's card. Returns none if none was started.
    pub fn take_recordings(&self) -> Vec<Recording> {
        let mut hosts = self.lock();
        let count = hosts.count();
        let mut take = |host| hosts.card(host).model_mut().model_mut().take_recording();
        (0..count).filter_map(&mut take).collect()
    }

    /// Writes waves of a host's card to `path` from now on.
    ///
    /// # Errors
    /// [`NicError::Model`] if the model was built without waves, or the file cannot be written.
    ///
    /// # Panics
    /// If there is no such host.
    pub fn open_waves(&self, host: usize, path: &Path) -> Result<(), NicError> {
        let mut hosts = self.lock();
        let model = hosts.card(host).model_mut().model_mut();
        Ok(model.open_trace(path)?)
    }

    /// Completes the waves of a host's card.
    ///
    /// # Panics
    /// If there is no such host.
    pub fn close_waves(&self, host: usize) {
        let mut hosts = self.lock();
        hosts.card(host).model_mut().model_mut().close_trace();
    }

    /// Lets time pass for all.
    pub fn run(&self, clocks: u64) {
        let mut hosts = self.lock();
        for _ in 0..clocks {
            hosts.idle();
        }
    }

    /// Cycles since power-up.
    pub fn clocks(&self) -> u64 {
        self.lock().clocks()
    }

    /// Bytes a host's card has written at final addresses, as of a GPU's memory, so far.
    ///
    /// # Panics
    /// If there is no such host.
    pub fn placed(&self, host: usize) -> u64 {
        self.lock().card(host).placed
    }

    /// Traffic of a host's card over PCIe so far, by endpoint, route and AT, and what the fabric has refused.
    ///
    /// # Panics
    /// If there is no such host.
    pub fn pcie_counters(&self, host: usize) -> sim_pcie::Counters {
        self.lock().card(host).pcie.fabric().counters().clone()
    }

    /// Statistics pulses of a queue pair's requester at the verification ports of a host's card since its reset, for tests of the counters that the card
    /// itself keeps ([`stellar_driver::QueuePair::counters`]).
    ///
    /// # Panics
    /// If there is no such host.
    pub fn pulses(&self, host: usize, qp: u32) -> RequesterCounters {
        let mut hosts = self.lock();
        let pulses = hosts.card(host).counters.get(&qp).copied();
        pulses.unwrap_or_default()
    }

    /// Changes the state of the cable at a port of a host's card.
    ///
    /// # Panics
    /// If there is no such host or port.
    pub fn set_link(&self, host: usize, port: usize, link: Link) {
        self.lock().card(host).set_link(port, link);
    }

    /// The crossing in front of a port of a host's card drops received frames.
    pub fn drop_received(&self, host: usize, port: usize, frames: u32) {
        self.lock().card(host).drop_received(port, frames);
    }

    /// Lets the PCIe block of an endpoint of a host's card take no requests, as with a link without credits, or take them again.
    ///
    /// # Panics
    /// If there is no such host or endpoint.
    pub fn set_blocked(&self, host: usize, endpoint: usize, on: bool) {
        self.lock().card(host).set_blocked(endpoint, on);
    }

    /// Injects another fault into the PCIe fabric of a host from now on.
    ///
    /// # Errors
    /// [`sim_pcie::ConfigError`] if the rule can match nothing.
    ///
    /// # Panics
    /// If there is no such host.
    pub fn add_pcie_fault(&self, host: usize, rule: FaultRule) -> Result<(), ConfigError> {
        let mut hosts = self.lock();
        hosts.card(host).pcie.fabric_mut().add_fault(rule)
    }

    /// Injects no faults into the PCIe fabric of a host from now on.
    ///
    /// # Panics
    /// If there is no such host.
    pub fn clear_pcie_faults(&self, host: usize) {
        self.lock().card(host).pcie.fabric_mut().clear_faults();
    }

    /// Has the root complex of a host tell a function of its card that translations of `len` bytes at `iova` are invalid, and returns the ITag.
    ///
    /// # Errors
    /// [`FabricError`] if the range or the function's state does not permit it.
    ///
    /// # Panics
    /// If there is no such host.
    pub fn invalidate(
        &self,
        host: usize,
        function: Function,
        iova: u64,
        len: u64,
    ) -> Result<u8, FabricError> {
        let mut hosts = self.lock();
        hosts.card(host).pcie.invalidate(function, iova, len)
    }

    /// Invalidations that the functions of a host's card have completed since the last call, in order.
    ///
    /// # Panics
    /// If there is no such host.
    pub fn take_invalidations_done(&self, host: usize) -> Vec<(Function, InvalidationDone)> {
        self.lock().card(host).pcie.take_invalidations_done()
    }

    /// Takes the PCIe link of one function of a host's card down, or up again. What is on it is lost, and what the card wants to send waits in its PCIe block.
    ///
    /// # Panics
    /// If there is no such host.
    pub fn set_pcie_link(&self, host: usize, function: Function, is_up: bool) {
        self.lock().card(host).set_pcie_link(function, is_up);
    }

    /// Accesses of a host's card to memory that is not mapped for it, so far.
    ///
    /// # Panics
    /// If there is no such host.
    pub fn bad_accesses(&self, host: usize) -> usize {
        self.lock().memory(host).memory.bad_accesses().len()
    }

    /// Removes the mapping of `bytes` bytes at `address` from the IOMMU's domain of one function of a host's card. For the other function they stay mapped.
    ///
    /// # Panics
    /// If there is no such host, or the memory is not mapped for the function.
    pub fn unmap_for(&self, host: usize, function: Function, address: u64, bytes: u64) {
        self.lock().unmap(host, function, address, bytes);
    }

    /// Maps again what [`Self::unmap_for`] has unmapped.
    ///
    /// # Panics
    /// If there is no such host, or some of the memory is mapped for the function.
    pub fn map_for(&self, host: usize, function: Function, address: u64, bytes: u64) {
        self.lock().map(host, function, address, bytes);
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
        let mut hosts = self.lock();
        hosts.memory(host).memory.map(Owner::Gpu, address, bytes);
    }

    /// Lets a host's card reach the GPU's memory at `address` through the root complex as well, with untranslated requests (AT = 00) at `iova`.
    ///
    /// # Errors
    /// [`MapError`] if an address or length is no multiple of 4 KiB, or the range is mapped already.
    ///
    /// # Panics
    /// If there is no such host.
    pub fn map_gpu_through_root(
        &self,
        host: usize,
        iova: u64,
        address: u64,
        bytes: u64,
    ) -> Result<(), MapError> {
        let mut hosts = self.lock();
        hosts.card(host).pcie.map_peer(iova, address, bytes)
    }

    /// Maps memory with another owner, such as a guest, for a host's card.
    ///
    /// # Panics
    /// If there is no such host, or the addresses do not lie below 0xf0_0000_0000.
    pub fn map_backed(&self, host: usize, address: u64, bytes: u64, backing: Arc<dyn Backing>) {
        let end = address.checked_add(bytes);
        assert!(
            end.is_some_and(|end| end <= RINGS),
            "{bytes:#x} bytes at {address:#x} end above {RINGS:#x}"
        );
        let mut hosts = self.lock();
        hosts
            .memory(host)
            .memory
            .map_backed(address, bytes, backing);
    }

    /// Takes back what [`Self::map_backed`] gave at `address`: the card's next access there is a bad access.
    ///
    /// # Panics
    /// If there is no such host.
    pub fn unmap_backed(&self, host: usize, address: u64) {
        let mut hosts = self.lock();
        hosts.memory(host).memory.unmap(Owner::Host, address);
    }

    /// How many of `bytes` bytes of that memory the card has ever written.
    ///
    /// # Panics
    /// If there is no such host.
    pub fn gpu_memory_written(&self, host: usize, address: u64, bytes: u64) -> u64 {
        let mut hosts = self.lock();
        let memory = &hosts.memory(host).memory;
        memory.written_in(Owner::Gpu, address, bytes)
    }

    /// Copies from GPU memory. A byte that was never written has a pseudo-random value that depends on its address.
    ///
    /// # Panics
    /// If there is no such host.
    pub fn load_gpu_memory(&self, host: usize, address: u64, into: &mut [u8]) {
        let mut hosts = self.lock();
        hosts.memory(host).memory.load(Owner::Gpu, address, into);
    }

    /// Copies into that memory, as the GPU itself does.
    ///
    /// # Panics
    /// If there is no such host.
    pub fn store_gpu_memory(&self, host: usize, address: u64, bytes: &[u8]) {
        let mut hosts = self.lock();
        hosts.memory(host).memory.store(Owner::Gpu, address, bytes);
    }
}
