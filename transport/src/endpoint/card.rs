//! The card's state, and software's access to it.

use std::collections::{BTreeMap, VecDeque};

use stellar_wire::host::{Cqe, Doorbell, Eqe, EventKind, Wqe};

use super::qp::QueuePair;
use super::qp_table::QpTable;
use super::scheduler::{Schedule, TokenBucket};
use super::timers::Timers;
use super::{
    CardModel, ConfigError, DoorbellError, EndpointConfig, EndpointCounters, Memory, PostError,
    QpConfig, TableWriteError, TenantShare, TenantShareError, PORTS,
};
use crate::requester::{Card, Message, PhaseRing, Requester, WindowPool};
use crate::responder::Answer;
use crate::rx::{QpRow, QpState, RxLane, TableError, TableWrite};
use crate::spray::PathPolicy;
use crate::time::Ticks;

/// A card with its memory.
///
/// Methods that take a port panic if it is neither 0 nor 1.
#[derive(Clone, Debug)]
pub struct Endpoint<M> {
    pub(super) config: EndpointConfig,
    pub(super) model: CardModel,
    pub(super) memory: M,
    /// Both ports share it, as packets of one queue pair arrive on both.
    pub(super) lane: RxLane,
    pub(super) qps: QpTable,
    pub(super) schedules: [Schedule; PORTS],
    /// Limits of the tenants that have one; both ports pay from them.
    pub(super) limits: BTreeMap<u32, TokenBucket>,
    /// Acknowledgements that wait for their port, each with its queue pair.
    pub(super) answers: [VecDeque<(u32, Answer)>; PORTS],
    pub(super) port_up: [bool; PORTS],
    pub(super) timers: Timers,
    /// Pools of the two requester engines: of queue pairs with even and with odd numbers.
    pools: [WindowPool; 2],
    /// Buffer of [`Card::burst`].
    burst: Vec<(Message, u32)>,
    pub(super) counters: EndpointCounters,
    events: PhaseRing<Eqe>,
}

impl<M: Memory> Endpoint<M> {
    /// A card without queue pairs, both ports up.
    ///
    /// # Errors
    /// [`ConfigError`], the first that is found.
    pub fn new(config: EndpointConfig, memory: M) -> Result<Self, ConfigError> {
        Self::with_model(config, CardModel::default(), memory)
    }

    /// As [`Self::new`], with another size or less detail than the hardware.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_model(
        config: EndpointConfig,
        model: CardModel,
        memory: M,
    ) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self {
            memory,
            lane: RxLane::with_tables(config.rx, model.tables()?),
            model,
            qps: QpTable::default(),
            schedules: Default::default(),
            limits: BTreeMap::new(),
            answers: Default::default(),
            port_up: [true; PORTS],
            timers: Timers::default(),
            pools: [(); 2].map(|()| WindowPool::new(model.window_blocks)),
            burst: Vec::new(),
            counters: EndpointCounters::default(),
            events: PhaseRing::new(config.event_entries),
            config,
        })
    }

    /// Its memory.
    pub const fn memory(&self) -> &M {
        &self.memory
    }

    /// Its memory.
    pub fn memory_mut(&mut self) -> &mut M {
        &mut self.memory
    }

    /// Writes a memory region or page translation.
    ///
    /// # Errors
    /// [`TableWriteError`] for a queue pair context, and what the table refuses.
    pub fn write_table(&mut self, write: &TableWrite) -> Result<(), TableWriteError> {
        if let TableWrite::Qp { index, .. } = *write {
            return Err(TableWriteError::QueuePair(index));
        }
        Ok(self.lane.write_table(write)?)
    }

    /// Creates a queue pair, ready to receive and send.
    ///
    /// # Errors
    /// [`ConfigError`]; nothing is created then.
    pub fn create_qp(&mut self, config: QpConfig, now: Ticks) -> Result<(), ConfigError> {
        config.check(self.config.planes[0].ip)?;
        if self.qps.get(config.number).is_some() {
            return Err(ConfigError::QpExists(config.number));
        }
        let context = config.context_row();
        let mut qp = QueuePair::new(config, self.config.rx.receive_window, now)?;
        if !self.model.path_loads {
            qp.requester.omit_path_loads();
        }
        for (plane, &up) in (0..).zip(&self.port_up) {
            if !up {
                qp.requester.set_plane(plane, false);
            }
        }
        self.write_context(qp.number, context)?;
        self.qps.insert(qp);
        Ok(())
    }

    /// Creates an MRC queue pair as [`Self::create_qp`], with a path policy of one's own in place of the one that `config` names; the traits of that one still
    /// say whether there is one path at a time, and how rotations are ordered. The hardware has no such queue pairs. With RC, `policy` has no effect.
    ///
    /// # Errors
    /// As [`Self::create_qp`].
    pub fn create_qp_with_policy(
        &mut self,
        config: QpConfig,
        policy: Box<dyn PathPolicy>,
        now: Ticks,
    ) -> Result<(), ConfigError> {
        let number = config.number;
        self.create_qp(config, now)?;
        if let Some(Requester::Mrc(mrc)) = self.qps.get_mut(number).map(|qp| &mut qp.requester) {
            mrc.spray_mut().replace_policy(policy);
        }
        Ok(())
    }

    fn write_context(&mut self, index: u32, context: QpRow) -> Result<(), TableError> {
        self.lane.write_table(&TableWrite::Qp { index, context })
    }

    /// A driver writes `doorbell` to its page. Work requests are fetched when their turn comes.
    ///
    /// # Errors
    /// [`DoorbellError`]; nothing changes then but counters, and an event for a page that does not own the queue pair.
    pub fn ring_doorbell(&mut self, page: u32, doorbell: Doorbell) -> Result<(), DoorbellError> {
        let Doorbell {
            qp: number,
            producer,
        } = doorbell;
        let Some(qp) = self.qps.get_mut(number).filter(|qp| qp.page == page) else {
            self.counters.doorbells_refused += 1;
            self.raise(EventKind::DoorbellRefused, page, number.into());
            return Err(DoorbellError::NotOwner { page, qp: number });
        };
        let queue = qp.requester.messages_mut().queue_mut();
        if !queue.has_ring() {
            return Err(DoorbellError::NoRing(number));
        }
        if let Err(error) = queue.ring_doorbell(producer) {
            self.counters.doorbells_bad += 1;
            return Err(error.into());
        }
        self.work_arrived(number);
        Ok(())
    }

    /// Adds a work request to a queue pair without a send queue in memory. Its slot is set here.
    ///
    /// # Errors
    /// [`PostError`]; nothing changes then.
    pub fn post(&mut self, qp: u32, wqe: Wqe) -> Result<(), PostError> {
        let found = self.qps.get_mut(qp).ok_or(PostError::UnknownQp(qp))?;
        let queue = found.requester.messages_mut().queue_mut();
        if queue.has_ring() {
            return Err(PostError::HasRing(qp));
        }
        queue.post(wqe)?;
        self.work_arrived(qp);
        Ok(())
    }

    /// Sets the share of a tenant ([`stellar_wire::rows::tenant_of`] a doorbell page) in both ports. With a limit, its bucket is full.
    ///
    /// # Errors
    /// [`TenantShareError`]; nothing changes then.
    pub fn set_tenant_share(
        &mut self,
        tenant: u32,
        share: &TenantShare,
        now: Ticks,
    ) -> Result<(), TenantShareError> {
        share.check()?;
        let row = share.row();
        for schedule in &mut self.schedules {
            schedule.set_share(tenant, &row);
        }
        self.limits.remove(&tenant);
        if share.limit.is_some() {
            self.limits.insert(tenant, TokenBucket::new(row, now));
        }
        self.ask_resting(now);
        Ok(())
    }

    /// Schedules a queue pair with new work; one in error flushes it at once.
    fn work_arrived(&mut self, number: u32) {
        if self.qps.get(number).is_some_and(|qp| qp.failed) {
            self.with_requester(number, |requester, card| requester.flush(card));
        } else {
            self.wake(number);
        }
    }

    /// Takes the oldest completion of a queue pair.
    pub fn poll_cq(&mut self, qp: u32) -> Option<Cqe> {
        self.qps.get_mut(qp)?.cq.pop()
    }

    /// Takes the oldest event.
    pub fn poll_event(&mut self) -> Option<Eqe> {
        self.events.pop()
    }

    /// Arms one event for when as many WRITEs with immediate have arrived completely. Returns whether the queue pair exists.
    pub fn arm_imm_counter(&mut self, qp: u32, threshold: u32) -> bool {
        let Some(found) = self.qps.get_mut(qp) else {
            return false;
        };
        if found.responder.counter_mut().arm(threshold) {
            self.raise(EventKind::ImmThreshold, qp, threshold.into());
        }
        true
    }

    /// A port went up or down. Answers waiting for a port that goes down leave by the other one, if that is up.
    pub fn set_port(&mut self, port: usize, up: bool) {
        self.port_up[port] = up;
        let other = 1 - port;
        if !up && self.port_up[other] {
            let moved = std::mem::take(&mut self.answers[port]);
            self.answers[other].extend(moved);
        }
        let numbers: Vec<u32> = self.qps.iter().map(|qp| qp.number).collect();
        for number in numbers {
            if let Some(qp) = self.qps.get_mut(number) {
                qp.requester.set_plane(port as u8, up);
            }
            self.wake(number);
        }
    }

    /// Schedules a queue pair after an event that may give it something to send.
    pub(super) fn wake(&mut self, number: u32) {
        if let Some(qp) = self.qps.get(number).filter(|qp| !qp.failed) {
            for schedule in &mut self.schedules {
                schedule.wake(qp.page, number);
            }
        }
    }

    /// Schedules the queue pairs that waited for a block of the pool of `number`, if one is free.
    #[inline]
    fn wake_for_blocks(&mut self, number: u32) {
        while let Some(waiting) = self.pools[number as usize % 2].wake() {
            self.wake(waiting);
        }
    }

    /// Runs an action of a queue pair's requester, then reports its results.
    #[inline]
    pub(super) fn with_requester<T>(
        &mut self,
        number: u32,
        act: impl FnOnce(&mut Requester, &mut Card<'_>) -> T,
    ) -> Option<T> {
        let qp = self.qps.get_mut(number)?;
        let mut card = Card {
            memory: &mut self.memory,
            tables: self.lane.tables(),
            cq: &mut qp.cq,
            pool: &mut self.pools[number as usize % 2],
            burst: &mut self.burst,
        };
        let result = act(&mut qp.requester, &mut card);
        self.timers.arm(qp);
        let reports = qp.has_news();
        self.wake_for_blocks(number);
        if reports {
            self.report(number);
        }
        Some(result)
    }

    /// Reports completions lost, and takes the receive side of a queue pair in error out of service too. A queue pair whose completion queue was overrun
    /// fails. It changes nothing unless [`QueuePair::has_news`].
    #[cold]
    pub(super) fn report(&mut self, number: u32) {
        let Some(qp) = self.qps.get_mut(number) else {
            return;
        };
        let status = qp.requester.error().filter(|_| !qp.failed);
        qp.failed |= status.is_some();
        self.counters.completions_lost += qp.cq.take_lost();
        let overrun = qp.cq.take_overrun();
        if let Some(status) = status {
            self.counters.qp_errors += 1;
            let context = QpRow {
                state: QpState::Error,
                ..self.lane.tables().qp(number)
            };
            self.write_context(number, context)
                .expect("the same context was written before");
            self.raise(EventKind::QpError, number, status.code().into());
        }
        if let Some(wr_id) = overrun {
            self.raise(EventKind::CqOverrun, number, wr_id);
            self.with_requester(number, |requester, card| requester.flush(card));
        }
    }

    /// Puts a queue pair in error because of an error of its receive side.
    pub(super) fn fail_receive_side(&mut self, number: u32) {
        self.with_requester(number, |requester, card| requester.flush(card));
    }

    pub(super) fn raise(&mut self, kind: EventKind, source: u32, data: u64) {
        let source = source % (1 << 24);
        let room = self.events.push(|phase| Eqe {
            kind,
            phase,
            source,
            data,
        });
        self.counters.events_lost += u64::from(!room);
    }
}
