//! Queue pairs.

mod attributes;
mod rows;
mod state;
#[cfg(test)]
mod tests;
mod work;

use std::sync::{Arc, Mutex};

use stellar_transport::endpoint::QpConfig;
use stellar_transport::requester::SqRing;
use stellar_wire::host::{Cqe, Doorbell, WcStatus, Wqe};

use crate::card::lock;
use crate::connect::Connection;
use crate::context::Opened;
use crate::cq::{CompletionQueue, Queue};
use crate::device::{DeviceError, DmaBuffer};
use crate::error::Error;
use crate::pd::Domain;

pub(crate) use attributes::MOST_WRITE_IMM;
pub use attributes::{
    Backoff, InitAttributes, Modify, PathAttributes, Policy, QueuePairConfig, RtrAttributes,
    RtsAttributes, SkipScope,
};
pub use state::{IllegalTransition, QpState};
pub use work::{PostError, Source, WorkRequest, WrOpcode};

use attributes::Place;
use work::Work;

/// Smallest and largest send queue.
pub(crate) const SEND_ENTRIES: (u32, u32) = (2, 1 << 15);

/// What completions and events have to know of a queue pair.
pub(crate) struct Shared {
    pub number: u32,
    pub page: u16,
    inner: Mutex<Inner>,
}

struct Inner {
    state: QpState,
    work: Work,
    init: InitAttributes,
    /// While the card has rows of it: from RTR on.
    config: Option<QpConfig>,
}

impl Shared {
    /// The card took it out of service.
    pub fn has_failed(&self) {
        let mut inner = lock(&self.inner);
        if matches!(inner.state, QpState::Rtr | QpState::Rts) {
            inner.state = QpState::Error;
        }
    }

    /// A completion of its send side.
    pub fn completed(&self, cqe: &Cqe) -> Result<(), Error> {
        if cqe.status != WcStatus::Success {
            self.has_failed();
        }
        lock(&self.inner).work.free(self.number, cqe.sq_head)
    }
}

/// A queue pair of MRC (verbs: `ibv_qp`). Dropped, it is taken from the card; its completions that nobody has polled are lost.
pub struct QueuePair {
    shared: Arc<Shared>,
    domain: Arc<Domain>,
    cq: Arc<Queue>,
    memory: DmaBuffer,
    ring: SqRing,
    /// Held during a step.
    steps: Mutex<()>,
}

impl QueuePair {
    pub(crate) fn new(
        domain: Arc<Domain>,
        cq: &CompletionQueue,
        config: QueuePairConfig,
    ) -> Result<Self, Error> {
        let context = &domain.context;
        if !Arc::ptr_eq(context, &cq.0.context) {
            return Err(Error::OtherContext(
                "protection domain and completion queue",
            ));
        }
        let (least, most) = SEND_ENTRIES;
        let entries = config.send_entries;
        if !entries.is_power_of_two() || !(least..=most).contains(&entries) {
            return Err(Error::QueueSize {
                queue: "send",
                entries,
                least,
                most,
            });
        }
        let bytes = entries as usize * Wqe::LEN;
        let memory = context.device.card.function().allocate(bytes)?;
        let ring = SqRing {
            base: memory.address(),
            log2_entries: entries.ilog2() as u8,
        };
        let shared = Arc::new(Shared {
            number: lock(&context.device.pools).queue_pairs.take()?,
            page: context.page,
            inner: Mutex::new(Inner {
                state: QpState::Reset,
                work: Work::new(entries),
                init: InitAttributes::default(),
                config: None,
            }),
        });
        lock(&context.device.events).add(&shared);
        Ok(Self {
            shared,
            cq: Arc::clone(&cq.0),
            memory,
            ring,
            domain,
            steps: Mutex::new(()),
        })
    }

    /// Its number.
    pub fn number(&self) -> u32 {
        self.shared.number
    }

    /// Its state. The card's own changes are seen when completions or events are polled.
    pub fn state(&self) -> QpState {
        lock(&self.shared.inner).state
    }

    /// Work requests that have not completed.
    pub fn outstanding(&self) -> usize {
        lock(&self.shared.inner).work.len()
    }

    /// What its peer has to know, if it will send from `psn` on.
    pub fn connection(&self, psn: u32) -> Connection {
        Connection {
            qp: self.number(),
            psn,
            ports: self.domain.context.device.config.ports,
        }
    }

    pub(crate) fn is_of(&self, context: &Arc<Opened>) -> bool {
        Arc::ptr_eq(&self.domain.context, context)
    }

    /// Moves it to another state.
    ///
    /// # Errors
    /// [`Error::Transition`], [`Error::Config`], [`Error::Path`], [`Error::Attribute`]: it is in the state it was in. [`Error::Device`]: the card did not
    /// do what it was told; only RESET makes sense then.
    pub fn modify(&self, step: Modify) -> Result<(), Error> {
        let _step = lock(&self.steps);
        let (state, init, config) = {
            let inner = lock(&self.shared.inner);
            (inner.state, inner.init, inner.config.clone())
        };
        let next = state.to(step.state())?;
        match step {
            Modify::Reset => self.leave(state)?,
            Modify::Init(attributes) => self.enter_init(state, attributes)?,
            Modify::Rtr(attributes) => self.enter_rtr(attributes, init)?,
            Modify::Rts(attributes) => self.enter_rts(attributes, config)?,
            Modify::Error => self.enter_error(state)?,
        }
        lock(&self.shared.inner).state = next;
        Ok(())
    }

    fn place(&self) -> Place {
        Place {
            number: self.number(),
            page: self.shared.page,
            domain: self.domain.number,
            ring: self.ring,
        }
    }

    fn enter_init(&self, from: QpState, attributes: InitAttributes) -> Result<(), Error> {
        if from == QpState::Reset {
            self.cq.attach(&self.shared)?;
        }
        lock(&self.shared.inner).init = attributes;
        Ok(())
    }

    fn enter_rtr(&self, attributes: RtrAttributes, init: InitAttributes) -> Result<(), Error> {
        let device = &self.domain.context.device;
        let config = attributes.config(device, &self.place(), init)?;
        rows::write_receive(&device.card, &config)?;
        self.cq.set_live(self.number(), true);
        lock(&self.shared.inner).config = Some(config);
        Ok(())
    }

    fn enter_rts(&self, attributes: RtsAttributes, config: Option<QpConfig>) -> Result<(), Error> {
        let device = &self.domain.context.device;
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
        self.cq.drain(self.number())?;
        let flushed = lock(&self.shared.inner).work.flush(self.number());
        self.cq.flush(self.number(), flushed);
        Ok(())
    }

    /// The card neither takes nor sends anything of it when this returns; nothing is posted any more from its start on.
    fn stop(&self) -> Result<(), DeviceError> {
        let card = &self.domain.context.device.card;
        let config = {
            let mut inner = lock(&self.shared.inner);
            inner.state = QpState::Error;
            inner.config.clone()
        };
        self.cq.set_live(self.number(), false);
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
        self.cq.detach(self.number())?;
        lock(&self.shared.inner).work.clear();
        Ok(())
    }

    /// Posts a work request (verbs: `ibv_post_send`). Its region stays registered until it has completed.
    ///
    /// # Errors
    /// [`PostError`]; nothing was posted.
    pub fn post_send(&self, request: &WorkRequest<'_>) -> Result<(), PostError> {
        let mut inner = lock(&self.shared.inner);
        if inner.state != QpState::Rts {
            return Err(PostError::State {
                qp: self.number(),
                state: inner.state,
            });
        }
        let ready = request.ready(&self.domain, inner.work.producer())?;
        inner.work.check_room()?;
        let at = inner.work.place() * Wqe::LEN;
        let entry = ready.wqe.to_bytes();
        self.memory.write(at, &entry)?;
        // From here on the entry counts: a doorbell that failed on its way may have arrived.
        inner.work.push(ready);
        let doorbell = Doorbell {
            qp: self.number(),
            producer: inner.work.producer(),
        };
        let card = &self.domain.context.device.card;
        match request.push {
            true => card.push(self.shared.page, &entry, doorbell)?,
            false => card.ring(self.shared.page, doorbell)?,
        }
        Ok(())
    }
}

impl Drop for QueuePair {
    /// If the card does not let go, nothing that it may still touch is freed, and its number is not used again.
    fn drop(&mut self) {
        let context = &self.domain.context;
        lock(&context.device.events).remove(self.number());
        if self.leave(self.state()).is_ok() {
            let mut pools = lock(&context.device.pools);
            pools.queue_pairs.give_back(self.number());
        } else {
            let kept = (self.memory.clone(), Arc::clone(&self.shared));
            std::mem::forget((kept, Arc::clone(&self.cq)));
        }
    }
}
