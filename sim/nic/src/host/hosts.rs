//! Hosts with a card each, and the wires between them, on one clock.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sim_net::Time;
use sim_world::{Backing, PcieReads};
use stellar_driver::PciFunction;
use stellar_transport::rx::Owner;

use super::card::{Card, Operation, Progress};
use super::function::SimFunction;
use super::wire::Wire;
use crate::model::{NicModel, SWEEP};
use crate::rings::RINGS;
use crate::{NicError, CLOCK_PS};

/// Clocks that the reset pin is held.
const RESET: usize = 4;
/// Clocks that an access may take before the card counts as dead.
const PATIENCE: usize = 100_000;

/// The hosts and the wires, at one point in time.
pub struct Hosts {
    cards: Vec<Card>,
    wire: Wire,
    clocks: u64,
}

impl Hosts {
    /// `count` cards after power-up; builds the model, unless that was done before.
    ///
    /// # Errors
    /// [`NicError`].
    pub fn new(count: usize, wire: Wire) -> Result<Self, NicError> {
        let library = NicModel::shared()?;
        let card = |_| Card::new(library, PcieReads::default());
        Ok(Self {
            cards: (0..count).map(card).collect::<Result<_, _>>()?,
            wire,
            clocks: 0,
        })
    }

    /// The wires.
    pub fn wire(&mut self) -> &mut Wire {
        &mut self.wire
    }

    /// A host's card.
    pub fn card(&mut self, host: usize) -> &mut Card {
        &mut self.cards[host]
    }

    /// Picoseconds since power-up.
    pub fn now(&self) -> Time {
        self.clocks * CLOCK_PS
    }

    /// A clock passes for nobody in particular.
    pub fn idle(&mut self) {
        self.clock(0, None);
    }

    /// A clock passes, with an access to the card of `host` on offer.
    fn clock(&mut self, host: usize, operation: Option<Operation>) -> Progress {
        let now = self.now();
        let Self { cards, wire, .. } = self;
        wire.deliver(now, cards);
        let mut progress = Progress::Waits;
        for (index, card) in cards.iter_mut().enumerate() {
            if index == host {
                progress = card.clock(operation);
            } else {
                card.clock(None);
            }
            for port in 0..2 {
                while let Some(frame) = card.transmitted(port) {
                    wire.take(index, port, now, frame);
                }
            }
        }
        self.clocks += 1;
        progress
    }

    /// Carries an access to the card of `host` and its answer back, 0 for a write; `None` if the card does not take it.
    pub fn access(&mut self, host: usize, operation: Operation) -> Option<u64> {
        let mut offered = Some(operation);
        for _ in 0..PATIENCE {
            match self.clock(host, offered) {
                Progress::Waits => {}
                Progress::Asked => offered = None,
                Progress::Done => return Some(0),
                Progress::Answer(word) => return Some(word),
            }
        }
        None
    }

    /// Resets the card of `host`, and waits as long as it clears its tables.
    ///
    /// # Errors
    /// [`NicError`] if the model is not the card.
    pub fn reset(&mut self, host: usize) -> Result<(), NicError> {
        self.cards[host].hold_reset(true)?;
        for _ in 0..RESET {
            self.idle();
        }
        self.cards[host].hold_reset(false)?;
        for _ in 0..SWEEP {
            self.idle();
        }
        Ok(())
    }
}

/// The hosts, also after a thread died in the middle of a clock: what it left is as good as any state of a card.
pub fn lock(hosts: &Mutex<Hosts>) -> MutexGuard<'_, Hosts> {
    hosts.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hosts with a Verilated card each: [`crate::CardPair`] or [`crate::LoneCard`]. Clones are the same hosts.
#[derive(Clone)]
pub struct SimHosts {
    hosts: Arc<Mutex<Hosts>>,
    count: usize,
}

impl SimHosts {
    pub(super) fn new(count: usize, wire: Wire) -> Result<Self, NicError> {
        Ok(Self {
            hosts: Arc::new(Mutex::new(Hosts::new(count, wire)?)),
            count,
        })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Hosts> {
        lock(&self.hosts)
    }

    /// How many hosts.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The card of a host, for its driver.
    ///
    /// # Panics
    /// If there is no such host.
    pub fn function(&self, host: usize) -> Arc<dyn PciFunction> {
        let count = self.count;
        assert!(host < count, "host {host}; there are {count}, from 0 on");
        Arc::new(SimFunction::new(Arc::clone(&self.hosts), host))
    }

    /// Lets time pass for all.
    pub fn run(&self, clocks: u64) {
        let mut hosts = self.lock();
        for _ in 0..clocks {
            hosts.idle();
        }
    }

    /// Clocks since power-up.
    pub fn clocks(&self) -> u64 {
        self.lock().clocks
    }

    /// Accesses of a host's card to memory that is not mapped for it, so far.
    ///
    /// # Panics
    /// If there is no such host.
    pub fn strays(&self, host: usize) -> usize {
        self.lock().card(host).memory.strays().len()
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
        hosts.card(host).memory.map(Owner::Gpu, address, bytes);
    }

    /// Maps somebody else's memory for a host's card, such as a guest's.
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
        hosts.card(host).memory.map_backed(address, bytes, backing);
    }

    /// Takes back what [`Self::map_backed`] gave at `address`: the card's next access there is a stray.
    ///
    /// # Panics
    /// If there is no such host.
    pub fn unmap_backed(&self, host: usize, address: u64) {
        let mut hosts = self.lock();
        hosts.card(host).memory.unmap(Owner::Host, address);
    }

    /// Copies out of that memory.
    ///
    /// # Panics
    /// If there is no such host.
    pub fn load_gpu_memory(&self, host: usize, address: u64, into: &mut [u8]) {
        let mut hosts = self.lock();
        hosts.card(host).memory.load(Owner::Gpu, address, into);
    }

    /// Copies into that memory, as the GPU itself does.
    ///
    /// # Panics
    /// If there is no such host.
    pub fn store_gpu_memory(&self, host: usize, address: u64, bytes: &[u8]) {
        let mut hosts = self.lock();
        hosts.card(host).memory.store(Owner::Gpu, address, bytes);
    }
}
