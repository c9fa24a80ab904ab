//! State transitions of a queue pair, for rings of the driver and of another owner.

use std::sync::{Arc, Mutex};

use stellar_wire::config::{AllowedPaths, QpConfig, SqRing, TransportConfig};
use stellar_wire::host::{PathCountSelect, WqeSize};
use stellar_wire::rows::PathUseRow;

use super::attributes::{InitAttributes, Modify, Place, QueuePairConfig, Transport};
use super::entries::Entries;
use super::path_sums::PathSums;
use super::state::{IllegalTransition, QpState};
use super::{rows, Shared};
use crate::card::lock;
use crate::connect::Connection;
use crate::device::DeviceError;
use crate::error::Error;
use crate::numbers::engine_of;
use crate::paths::PathTraffic;
use crate::pd::Domain;
use crate::profiles::DEFAULT_PROFILE;

/// Owner of a queue pair's completions.
pub trait Completions {
    /// Whether only the driver posts to and polls these queues.
    const OF_DRIVER: bool;

    /// Gives the card a ring for a queue pair.
    fn attach(&self, shared: &Arc<Shared>) -> Result<(), Error>;

    /// Sets whether the card accepts the consumer index of a queue pair's ring.
    fn set_live(&self, qp: u32, live: bool);

    /// Completes the rest, after the card has stopped to complete work requests of a queue pair.
    fn ended(&self, shared: &Shared) -> Result<(), Error>;

    /// Removes a queue pair's ring from the card.
    fn detach(&self, qp: u32) -> Result<(), DeviceError>;
}

/// A queue pair without the software side of its rings.
pub struct Core<C> {
    pub shared: Arc<Shared>,
    pub domain: Arc<Domain>,
    pub completions: Arc<C>,
    ring: SqRing,
    transport: Transport,
    /// Held during a step.
    steps: Mutex<()>,
}

impl<C: Completions> Core<C> {
    /// Makes a queue pair in RESET with a new number. `ring` has the number of entries that `config` names.
    pub fn new(
        domain: Arc<Domain>,
        completions: Arc<C>,
        ring: SqRing,
        config: QueuePairConfig,
    ) -> Result<Self, Error> {
        let context = &domain.context;
        let number = {
            let mut own = lock(&context.per_engine);
            let number = lock(&context.device.pools).queue_pairs.take(*own)?;
            own[engine_of(number)] += 1;
            number
        };
        // A queue pair without a slot rings at the first word of the page.
        let slot = C::OF_DRIVER
            .then(|| lock(&context.slots).take().ok())
            .flatten();
        let slot = slot.map(|slot| slot as u16);
        let shared = Shared::new(number, context.page, slot, config.send_entries);
        let shared = Arc::new(shared);
        lock(&context.device.events).add(&shared);
        Ok(Self {
            shared,
            completions,
            ring,
            transport: config.transport,
            domain,
            steps: Mutex::new(()),
        })
    }

    /// Size of the entries of its send queue.
    pub const fn entry(&self) -> WqeSize {
        self.ring.entry
    }

    /// The queue pair's parameters for the peer, if it sends from `psn` on.
    pub fn connection(&self, psn: u32) -> Connection {
        Connection {
            qp: self.shared.number,
            psn,
            transport: self.transport,
            ports: self.domain.context.device.config.ports,
        }
    }

    /// Moves it to another state.
    pub fn modify(&self, step: Modify) -> Result<(), Error> {
        let _step = lock(&self.steps);
        let state = self.shared.state();
        let next = state.to(step.state())?;
        let (device, place) = (&self.domain.context.device, self.place());
        if let Some(given) = step.transport() {
            place.check_transport("these attributes are", given)?;
        }
        match step {
            Modify::Reset => self.leave(state)?,
            Modify::Init(attributes) => self.enter_init(state, attributes)?,
            Modify::Rtr(attributes) => {
                let profile = attributes.path.profile;
                self.enter_rtr(profile, |init| attributes.config(device, &place, init))?;
            }
            Modify::RcRtr(attributes) => {
                let profile = attributes.paths.map_or(DEFAULT_PROFILE, |own| own.profile);
                self.enter_rtr(profile, |init| attributes.config(device, &place, init))?;
            }
            Modify::Rts(attributes) => {
                self.enter_rts(|ready| attributes.complete(ready, device))?;
            }
            Modify::RcRts(attributes) => {
                self.enter_rts(|ready| attributes.complete(ready, device))?;
            }
            Modify::Error => self.enter_error(state)?,
        }
        lock(&self.shared.inner).state = next;
        Ok(())
    }

    /// The queue pair's transport.
    pub const fn transport(&self) -> Transport {
        self.transport
    }

    fn place(&self) -> Place {
        Place {
            number: self.shared.number,
            transport: self.transport,
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

    /// Moves the queue pair to RTR. `config` makes its rows from the attributes of INIT. Without paths, RC uses no entropy profile.
    fn enter_rtr(
        &self,
        profile: u8,
        config: impl FnOnce(InitAttributes) -> Result<QpConfig, Error>,
    ) -> Result<(), Error> {
        let init = lock(&self.shared.inner).init;
        let config = config(init)?;
        let device = &self.domain.context.device;
        let entries = Entries::take(device, &config)?;
        if let Err(error) = rows::write_receive(&device.card, &config, profile, &entries) {
            // Without its context, which comes last, it takes no packets.
            entries.give_back(device);
            return Err(error.into());
        }
        self.completions.set_live(self.shared.number, true);
        let mut inner = lock(&self.shared.inner);
        inner.config = Some(config);
        inner.profile = profile;
        inner.entries = Some(entries);
        Ok(())
    }

    /// Moves the queue pair to RTS. `complete` adds the attributes of RTS to its configuration.
    fn enter_rts(
        &self,
        complete: impl FnOnce(&QpConfig) -> Result<QpConfig, Error>,
    ) -> Result<(), Error> {
        let (config, profile) = {
            let inner = lock(&self.shared.inner);
            (inner.config.clone(), inner.profile)
        };
        let config = config.ok_or(IllegalTransition {
            from: QpState::Init,
            to: QpState::Rts,
        })?;
        let config = complete(&config)?;
        rows::write_send(&self.domain.context.device.card, &config, profile)?;
        let mut inner = lock(&self.shared.inner);
        inner.allowed = match &config.transport {
            TransportConfig::Mrc(mrc) => Some(AllowedPaths::new(&mrc.spray)),
            TransportConfig::Rc(_) => None,
        };
        inner.counted = PathSums::default();
        inner.config = Some(config);
        Ok(())
    }

    /// The paths of the queue pair, which has to be in RTS over MRC. Over RC a policy alone decides, because a path that is left with packets in flight costs a go-back.
    fn allowed_paths(&self) -> Result<AllowedPaths, Error> {
        let what = "paths that software counts or denies are";
        self.place().check_transport(what, Transport::Mrc)?;
        let inner = lock(&self.shared.inner);
        let (qp, state) = (self.shared.number, inner.state);
        let allowed = inner.allowed.as_ref().filter(|_| state == QpState::Rts);
        allowed.cloned().ok_or(Error::NoPaths { qp, state })
    }

    /// Indices of all paths of the queue pair, denied ones and backups included, ascending.
    pub fn path_indices(&self) -> Result<Vec<u8>, Error> {
        Ok(self.allowed_paths()?.indices().collect())
    }

    /// Denies or allows a path while the queue pair sends.
    pub fn use_path(&self, index: u8, denied: bool) -> Result<(), Error> {
        let change = PathUseRow { index, denied };
        let _step = lock(&self.steps);
        let qp = self.shared.number;
        let after = self.allowed_paths()?.after(change);
        let after = after.map_err(|reason| Error::PathUse { qp, reason })?;
        rows::write_path_use(&self.domain.context.device.card, qp, &change)?;
        lock(&self.shared.inner).allowed = Some(after);
        Ok(())
    }

    /// What was counted on the paths at these places of [`Self::path_indices`], since each was read first in this state RTS.
    pub fn path_counts(&self, first: usize, most: usize) -> Result<Vec<PathTraffic>, Error> {
        let _step = lock(&self.steps);
        let qp = self.shared.number;
        let indices = self.path_indices()?;
        let card = &self.domain.context.device.card;
        let read = |index: u8| {
            let read = card.take_path_count(PathCountSelect { qp, index })?;
            let counts = lock(&self.shared.inner).counted.add(index, read);
            Ok(PathTraffic { index, counts })
        };
        let places = indices.into_iter().skip(first).take(most);
        places.map(read).collect()
    }

    /// Indices of the paths that are denied, ascending.
    pub fn denied_paths(&self) -> Vec<u8> {
        let inner = lock(&self.shared.inner);
        let denied = inner.allowed.iter().flat_map(AllowedPaths::denied);
        denied.collect()
    }

    /// Removes it from the card, except for its ring, and flushes posted work requests. If the card has failed the queue pair, it has flushed them itself,
    /// unless it had no place for their completions.
    fn enter_error(&self, from: QpState) -> Result<(), Error> {
        if from == QpState::Error && !self.shared.is_overrun() {
            return Ok(());
        }
        self.stop()?;
        self.completions.ended(&self.shared)
    }

    /// Stops the queue pair. Posting is refused from the start of this call. When it returns, the card neither accepts packets of the queue pair nor queues any,
    /// and reads neither its ring nor its payload.
    fn stop(&self) -> Result<(), DeviceError> {
        let device = &self.domain.context.device;
        let card = &device.card;
        let config = {
            let mut inner = lock(&self.shared.inner);
            inner.state = QpState::Error;
            inner.config.clone()
        };
        self.completions.set_live(self.shared.number, false);
        if let Some(config) = config {
            rows::stop(card, &config)?;
            card.fence()?;
            let mut inner = lock(&self.shared.inner);
            inner.config = None;
            inner.allowed = None;
            if let Some(entries) = inner.entries.take() {
                entries.give_back(device);
            }
        }
        Ok(())
    }

    /// Removes all rows of the queue pair from the card.
    fn leave(&self, from: QpState) -> Result<(), DeviceError> {
        if from == QpState::Reset {
            return Ok(());
        }
        self.stop()?;
        self.completions.detach(self.shared.number)?;
        lock(&self.shared.inner).work.clear();
        Ok(())
    }

    /// Removes it from the card for good. If the card does not release it, its number is not used again, and `false` means that the card may still
    /// access its rings.
    pub fn remove(&self) -> bool {
        let context = &self.domain.context;
        let number = self.shared.number;
        lock(&context.device.events).remove(number);
        let is_gone = self.leave(self.shared.state()).is_ok();
        if let Some(slot) = self.shared.slot {
            lock(&context.slots).give_back(slot.into());
        }
        lock(&context.per_engine)[engine_of(number)] -= 1;
        if is_gone {
            lock(&context.device.pools).queue_pairs.give_back(number);
        }
        is_gone
    }
}
