//! A queue pair's way through its states, wherever its rings are.

use std::sync::{Arc, Mutex};

use stellar_transport::requester::SqRing;

use super::attributes::{InitAttributes, Modify, Place, RtrAttributes, RtsAttributes};
use super::state::{IllegalTransition, QpState};
use super::{rows, Shared};
use crate::card::lock;
use crate::connect::Connection;
use crate::device::DeviceError;
use crate::error::Error;
use crate::pd::Domain;

/// Where the card puts a queue pair's completions.
pub trait Completions {
    /// Gives the card a ring for a queue pair.
    fn attach(&self, shared: &Arc<Shared>) -> Result<(), Error>;

    /// The card takes the consumer index of a queue pair's ring, or does so no longer.
    fn set_live(&self, qp: u32, live: bool);

    /// The card completes nothing of a queue pair any more.
    fn ended(&self, shared: &Shared) -> Result<(), Error>;

    /// Takes a queue pair's ring from the card.
    fn detach(&self, qp: u32) -> Result<(), DeviceError>;
}

/// A queue pair without the software side of its rings.
pub struct Core<C> {
    pub shared: Arc<Shared>,
    pub domain: Arc<Domain>,
    pub completions: Arc<C>,
    ring: SqRing,
    /// Held during a step.
    steps: Mutex<()>,
}

impl<C: Completions> Core<C> {
    /// In RESET, with a number of its own. `ring` has `entries` entries.
    pub fn new(
        domain: Arc<Domain>,
        completions: Arc<C>,
        ring: SqRing,
        entries: u32,
    ) -> Result<Self, Error> {
        let context = &domain.context;
        let number = lock(&context.device.pools).queue_pairs.take()?;
        let shared = Arc::new(Shared::new(number, context.page, entries));
        lock(&context.device.events).add(&shared);
        Ok(Self {
            shared,
            completions,
            ring,
            domain,
            steps: Mutex::new(()),
        })
    }

    /// What its peer has to know, if it will send from `psn` on.
    pub fn connection(&self, psn: u32) -> Connection {
        Connection {
            qp: self.shared.number,
            psn,
            ports: self.domain.context.device.config.ports,
        }
    }

    /// Moves it to another state.
    pub fn modify(&self, step: Modify) -> Result<(), Error> {
        let _step = lock(&self.steps);
        let state = self.shared.state();
        let next = state.to(step.state())?;
        match step {
            Modify::Reset => self.leave(state)?,
            Modify::Init(attributes) => self.enter_init(state, attributes)?,
            Modify::Rtr(attributes) => self.enter_rtr(attributes)?,
            Modify::Rts(attributes) => self.enter_rts(attributes)?,
            Modify::Error => self.enter_error(state)?,
        }
        lock(&self.shared.inner).state = next;
        Ok(())
    }

    fn place(&self) -> Place {
        Place {
            number: self.shared.number,
            page: self.shared.page,
            domain: self.domain.number,
            ring: self.ring,
        }
    }

    fn enter_init(&self, from: QpState, attributes: InitAttributes) -> Result<(), Error> {
        if from == QpState::Reset {
            self.completions.attach(&self.shared)?;
        }
        lock(&self.shared.inner).init = attributes;
        Ok(())
    }

    fn enter_rtr(&self, attributes: RtrAttributes) -> Result<(), Error> {
        let device = &self.domain.context.device;
        let init = lock(&self.shared.inner).init;
        let config = attributes.config(device, &self.place(), init)?;
        rows::write_receive(&device.card, &config)?;
        self.completions.set_live(self.shared.number, true);
        lock(&self.shared.inner).config = Some(config);
        Ok(())
    }

    fn enter_rts(&self, attributes: RtsAttributes) -> Result<(), Error> {
        let device = &self.domain.context.device;
        let config = lock(&self.shared.inner).config.clone();
        let config = config.ok_or(IllegalTransition {
            from: QpState::Init,
            to: QpState::Rts,
        })?;
        let config = attributes.complete(&config, device)?;
        rows::write_send(&device.card, &config)?;
        lock(&self.shared.inner).config = Some(config);
        Ok(())
    }

    /// Takes it from the card but for its ring, and ends what is posted.
    fn enter_error(&self, from: QpState) -> Result<(), Error> {
        if from == QpState::Error {
            return Ok(());
        }
        self.stop()?;
        self.completions.ended(&self.shared)
    }

    /// The card neither takes nor sends anything of it when this returns; nothing is posted any more from its start on.
    fn stop(&self) -> Result<(), DeviceError> {
        let card = &self.domain.context.device.card;
        let config = {
            let mut inner = lock(&self.shared.inner);
            inner.state = QpState::Error;
            inner.config.clone()
        };
        self.completions.set_live(self.shared.number, false);
        if let Some(config) = config {
            rows::stop(card, &config)?;
            card.fence()?;
            card.quiesce();
            lock(&self.shared.inner).config = None;
        }
        Ok(())
    }

    /// Takes all of it from the card.
    fn leave(&self, from: QpState) -> Result<(), DeviceError> {
        if from == QpState::Reset {
            return Ok(());
        }
        self.stop()?;
        self.completions.detach(self.shared.number)?;
        lock(&self.shared.inner).work.clear();
        Ok(())
    }

    /// Takes it from the card for good. If the card does not let go, its number is not used again, and `false` says that it may still
    /// touch its rings.
    pub fn remove(&self) -> bool {
        let context = &self.domain.context;
        let number = self.shared.number;
        lock(&context.device.events).remove(number);
        let is_gone = self.leave(self.shared.state()).is_ok();
        if is_gone {
            lock(&context.device.pools).queue_pairs.give_back(number);
        }
        is_gone
    }
}
