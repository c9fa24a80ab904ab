//! Two hosts with a card each, cabled port to port, on one clock.

use sim_net::{Fabric, Frame, HostId, Time, Topology};
use sim_world::PcieReads;
use stellar_transport::endpoint::Memory;

use super::card::{Card, Operation, Progress};
use crate::model::{NicModel, SWEEP};
use crate::{NicError, CLOCK_PS};

/// Two cables of 100 ns, about 20 m, at the rate of the card's ports.
const CABLES: &str = r#"
    [defaults]
    rate_gbps = 200
    delay_ns = 100
    [back_to_back]
    planes = 2
"#;

/// Clocks that the reset pin is held.
const RESET: usize = 4;
/// Clocks that an access may take before the card counts as dead.
const PATIENCE: usize = 100_000;

/// Both hosts and the cables, at one point in time. `M` is the memory that a card reaches.
pub struct Hosts<M> {
    cards: [Card<M>; 2],
    /// Clocks until a card has come out of its reset.
    resetting: [usize; 2],
    fabric: Fabric,
    clocks: u64,
    last_active: u64,
}

impl<M: Memory> Hosts<M> {
    /// Builds the model, unless that was done before, and powers up both cards.
    ///
    /// # Errors
    /// [`NicError`].
    pub fn new(memories: [M; 2]) -> Result<Self, NicError> {
        let library = NicModel::shared()?;
        let reads = PcieReads::default();
        let topology = Topology::from_toml("cables", CABLES).expect("the text is a topology");
        let [a, b] = memories;
        Ok(Self {
            cards: [Card::new(library, reads, a)?, Card::new(library, reads, b)?],
            resetting: [0; 2],
            fabric: Fabric::new(topology, 0),
            clocks: 0,
            last_active: 0,
        })
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
        let cards = &mut self.cards;
        self.fabric.advance_to(now, |delivery| {
            let frame = delivery.frame.bytes().to_vec();
            cards[delivery.host.0 as usize].receive(delivery.port, frame);
        });
        let mut progress = Progress::Waits;
        for (index, card) in cards.iter_mut().enumerate() {
            if index == host {
                progress = card.clock(operation);
            } else {
                card.clock(None);
            }
            for port in 0..2 {
                while let Some(frame) = card.transmitted(port) {
                    self.fabric
                        .send(HostId(index as u32), port, now, Frame::new(frame))
                        .expect("the cables have these ports, and time does not run back");
                }
            }
        }
        self.clocks += 1;
        if self.cards.iter().any(|card| card.is_active) {
            self.last_active = self.clocks;
        }
        for (card, left) in self.cards.iter_mut().zip(&mut self.resetting) {
            *left = left.saturating_sub(1);
            if *left == SWEEP {
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
        self.resetting[host] = RESET + SWEEP;
    }

    /// A card is in reset.
    pub fn is_resetting(&self, host: usize) -> bool {
        self.resetting[host] > 0
    }
}
