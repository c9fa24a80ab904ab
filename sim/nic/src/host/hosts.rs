//! Hosts with a card each, and the wires between them, on one clock.

use hdl_nic::RESET_CLOCKS;
use sim_net::Time;
use sim_world::PcieReads;
use stellar_transport::endpoint::Memory;

use super::card::{Card, Operation, Progress};
use super::wire::{Line, Wire};
use crate::model::{ModelKind, NicModel};
use crate::{NicError, CLOCK_PS};

/// Clocks that the reset pin is held.
const RESET: usize = 4;
/// Clocks that an access may take before the card counts as dead.
const PATIENCE: usize = 100_000;

/// The hosts and the wires, at one point in time. `M` is the memory that a card reaches.
pub struct Hosts<M> {
    cards: Vec<Card<M>>,
    /// Clocks until a card has come out of its reset.
    resetting: Vec<usize>,
    wire: Wire,
    clocks: u64,
    last_active: u64,
}

impl<M: Memory> Hosts<M> {
    /// Builds the model, unless that was done before, and powers up two cards, cabled port to port.
    ///
    /// # Errors
    /// [`NicError`].
    pub fn new(memories: [M; 2]) -> Result<Self, NicError> {
        Self::with_wire(memories, Wire::cables(false), ModelKind::default())
    }

    /// The same with one card, whose ports are at the near end of a line.
    ///
    /// # Errors
    /// [`NicError`].
    pub fn lone(memory: M, line: Box<dyn Line>, kind: ModelKind) -> Result<Self, NicError> {
        Self::with_wire([memory], Wire::Line(line), kind)
    }

    /// A card for each of the memories.
    pub(super) fn with_wire(
        memories: impl IntoIterator<Item = M>,
        wire: Wire,
        kind: ModelKind,
    ) -> Result<Self, NicError> {
        let library = NicModel::shared(kind)?;
        let card = |memory| Card::new(library, PcieReads::default(), memory);
        let cards: Vec<_> = memories.into_iter().map(card).collect::<Result<_, _>>()?;
        Ok(Self {
            resetting: vec![0; cards.len()],
            cards,
            wire,
            clocks: 0,
            last_active: 0,
        })
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.cards.len()
    }

    pub(super) fn wire(&mut self) -> &mut Wire {
        &mut self.wire
    }

    pub(super) fn card(&mut self, host: usize) -> &mut Card<M> {
        &mut self.cards[host]
    }

    /// What the card of a host reaches.
    pub fn memory(&mut self, host: usize) -> &mut M {
        &mut self.cards[host].memory
    }

    /// Picoseconds since power-up.
    pub fn now(&self) -> Time {
        self.clocks * CLOCK_PS
    }

    /// Clocks since power-up.
    pub fn clocks(&self) -> u64 {
        self.clocks
    }

    /// Clocks in which nothing crossed a pin of either card, up to now.
    pub fn quiet(&self) -> u64 {
        self.clocks - self.last_active
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
        if self.cards.iter().any(|card| card.is_active) {
            self.last_active = self.clocks;
        }
        for (card, left) in self.cards.iter_mut().zip(&mut self.resetting) {
            *left = left.saturating_sub(1);
            if *left == RESET_CLOCKS {
                card.release_reset();
            }
        }
        progress
    }

    /// Carries an access to the card of `host` and its answer back, 0 for a write; `None` if the card does not take it.
    pub(super) fn carry(&mut self, host: usize, operation: Operation) -> Option<u64> {
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

    /// Pulls the reset pin of a card. It is in reset until as many clocks have passed as it takes to clear its tables.
    pub fn begin_reset(&mut self, host: usize) {
        self.cards[host].hold_reset();
        self.resetting[host] = RESET + RESET_CLOCKS;
    }

    /// A card is in reset.
    pub fn is_resetting(&self, host: usize) -> bool {
        self.resetting[host] > 0
    }
}
