//! Hosts with a card each, and the wires between them, with a common clock.

use hdl_nic::{reset_clocks, Shape, RESET_HOLD};
use sim_fork_join::{are_two_each, threads, ForkJoin};
use sim_net::Time;
use sim_verilated::Library;
use stellar_wire::host::config_space::Function;

use super::card::Card;
use super::wire::{Line, Wire};
use crate::mmio::{MmioAccess, Progress};
use crate::model::NicModel;
use crate::pcie::{HostSide, PcieSettings};
use crate::shape::chosen_shape;
use crate::{NicError, CLOCK_PS};

/// Serial number of the first card, an EUI-64.
const FIRST_SERIAL: u64 = 0x000a_35ff_fe00_0000;
/// Cycles after which an access without response means that the card is dead.
const PATIENCE: usize = 100_000;

/// The state of hosts and wires. `M` is the memory of a card's host.
pub struct Hosts<M> {
    /// In boxes, for they go from thread to thread.
    cards: Vec<Box<Card<M>>>,
    /// Cycles of cards without an access of their host.
    idle_cycles: ForkJoin<Box<Card<M>>, ()>,
    /// Remaining cycles of the reset of each card.
    resetting: Vec<usize>,
    wire: Wire,
    clocks: u64,
    last_active: u64,
}

impl<M: HostSide> Hosts<M> {
    /// Builds the model, unless that was done before, and powers up two cards, cabled port to port.
    ///
    /// # Errors
    /// [`NicError`].
    pub fn new(memories: [M; 2], pcie: &PcieSettings) -> Result<Self, NicError> {
        let wire = Wire::cables(chosen_shape(), false);
        Self::with_library(memories, wire, NicModel::shared()?, pcie)
    }

    /// One host with a card whose ports are at the near end of `line`.
    ///
    /// # Errors
    /// [`NicError`].
    pub fn lone(memory: M, line: Box<dyn Line>, pcie: &PcieSettings) -> Result<Self, NicError> {
        Self::with_library([memory], Wire::Line(line), NicModel::shared()?, pcie)
    }

    /// A card of the model in `library` for each of the memories.
    pub(super) fn with_library(
        memories: impl IntoIterator<Item = M>,
        wire: Wire,
        library: &Library,
        pcie: &PcieSettings,
    ) -> Result<Self, NicError> {
        let card = |(serial, memory)| Card::new(library, pcie, memory, serial).map(Box::new);
        let numbered = (FIRST_SERIAL..).zip(memories);
        let mut cards: Vec<_> = numbered.map(card).collect::<Result<_, _>>()?;
        let threads = threads()?;
        let are_enough = are_two_each(threads, cards.len());
        for card in &mut cards {
            card.set_helper(are_enough);
        }
        let idle_cycle = |card: &mut Box<Card<M>>, ()| {
            card.clock(None);
        };
        Ok(Self {
            idle_cycles: ForkJoin::new(cards.len(), threads.get(), idle_cycle),
            resetting: vec![0; cards.len()],
            cards,
            wire,
            clocks: 0,
            last_active: 0,
        })
    }

    /// The shape of the cards.
    pub fn shape(&self) -> Shape {
        self.cards[0].shape()
    }

    /// Number of hosts.
    pub fn count(&self) -> usize {
        self.cards.len()
    }

    pub(super) fn wire(&mut self) -> &mut Wire {
        &mut self.wire
    }

    pub(super) fn card(&mut self, host: usize) -> &mut Card<M> {
        &mut self.cards[host]
    }

    /// The memory of a host.
    pub fn memory(&mut self, host: usize) -> &mut M {
        self.cards[host].pcie.memory_mut()
    }

    /// Picoseconds since power-up.
    pub fn now(&self) -> Time {
        self.clocks * CLOCK_PS
    }

    /// Cycles since power-up.
    pub fn clocks(&self) -> u64 {
        self.clocks
    }

    /// Number of cycles, up to now, without activity at the pins of any card.
    pub fn quiet(&self) -> u64 {
        self.clocks - self.last_active
    }

    /// Simulates a cycle without an access.
    pub fn idle(&mut self) {
        self.clock(0, None);
    }

    /// Simulates a cycle, with an access to the card of `host`.
    fn clock(&mut self, host: usize, access: Option<&MmioAccess>) -> Progress {
        let now = self.now();
        let Self {
            cards,
            idle_cycles,
            wire,
            ..
        } = self;
        wire.deliver(now, cards);
        let progress = idle_cycles.step(cards, (), host, |card| card.clock(access));
        for (index, card) in cards.iter_mut().enumerate() {
            for port in 0..card.shape().ports() {
                while let Some(frame) = card.transmitted(port) {
                    wire.take(index, port, now, frame);
                }
            }
        }
        self.clocks += 1;
        if self.cards.iter().any(|card| card.is_active) {
            self.last_active = self.clocks;
        }
        for (card, left) in self.cards.iter_mut().zip(&mut self.resetting) {
            *left = left.saturating_sub(1);
            if *left == reset_clocks(card.shape().queue_pair_bits()) {
                card.release_reset();
            }
        }
        progress
    }

    /// Offers an access to the card of `host` until the card has accepted a write, or answered a read. Returns [`Progress::Waits`] if it does neither.
    pub(super) fn carry(&mut self, host: usize, access: &MmioAccess) -> Progress {
        let mut offered = Some(access);
        for _ in 0..PATIENCE {
            match self.clock(host, offered) {
                Progress::Waits => {}
                Progress::Taken if access.data.is_none() => offered = None,
                progress => return progress,
            }
        }
        Progress::Waits
    }

    /// Function-level reset of both functions. It lasts until the card has cleared its tables.
    pub fn begin_reset(&mut self, host: usize) {
        for function in Function::ALL {
            self.cards[host].reset_config(function);
        }
        self.reset_card(host);
    }

    /// Function-level reset of one function, which resets what is behind both.
    pub fn begin_reset_of(&mut self, host: usize, function: Function) {
        self.cards[host].reset_config(function);
        self.reset_card(host);
    }

    /// Maps memory of a host for a function of its card, besides what the memory itself says.
    pub fn map(&mut self, host: usize, function: Function, address: u64, length: u64) {
        self.cards[host].pcie.map(function, address, length);
    }

    /// Unmaps it.
    pub fn unmap(&mut self, host: usize, function: Function, address: u64, length: u64) {
        self.cards[host].pcie.unmap(function, address, length);
    }

    /// Resets what is behind both functions.
    pub(super) fn reset_card(&mut self, host: usize) {
        self.cards[host].hold_reset();
        let clears = reset_clocks(self.cards[host].shape().queue_pair_bits());
        self.resetting[host] = RESET_HOLD + clears;
    }

    /// Whether a card is in reset.
    pub fn is_resetting(&self, host: usize) -> bool {
        self.resetting[host] > 0
    }
}
