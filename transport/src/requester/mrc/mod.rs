//! The MRC requester of one queue pair: its state, and its end.
//!
//! `transmit` has what it sends, `answers` the effects of acknowledgements, `timers` the effects of time, `estimate` the delays of its paths,
//! `silence` planes that do not answer.

mod answers;
mod estimate;
mod silence;
mod timers;
mod transmit;

use stellar_wire::host::{PathCount, PathEvent, WcStatus};
use stellar_wire::rows::PathUseRow;

use super::{
    Backoff, CompletionQueue, Message, Messages, MrcConfig, QpIdentity, RequesterCounters, Window,
    WindowPool,
};
use crate::congestion::Nscc;
use crate::endpoint::Memory;
use crate::rx::{Psn, Tables};
use crate::spray::{EvIndex, Policy, Spray, SprayError};
use crate::time::Ticks;
use estimate::Estimate;
use silence::PlaneLosses;

pub use answers::Sack;

/// The parts of the card that a requester uses for one decision.
pub struct Card<'a> {
    pub memory: &'a mut dyn Memory,
    pub tables: &'a Tables,
    pub cq: &'a mut CompletionQueue,
    /// Pool of the engine that executes the queue pair.
    pub pool: &'a mut WindowPool,
    /// Buffer for the messages of a burst, and how many packets it has of each. Empty between decisions.
    pub burst: &'a mut Vec<(Message, u32)>,
}

/// A probe that is due.
#[derive(Clone, Copy, Debug)]
struct Probe {
    index: EvIndex,
    /// Its answer tells early loss detection what is lost.
    is_tail: bool,
}

/// The registers that a requester reads after its start. Congestion control and paths keep their own.
#[derive(Clone, Copy, Debug)]
struct Registers {
    policy: Policy,
    mpr: u16,
    rto: Ticks,
    backoff: Backoff,
    retry_budget: u8,
    early_loss: u16,
    coalesce_from: u32,
}

/// An MRC requester.
#[derive(Clone, Debug)]
pub struct MrcRequester {
    qp: QpIdentity,
    config: Registers,
    messages: Messages,
    window: Window,
    nscc: Nscc,
    spray: Spray,
    /// Window that the receiver advertised last, in packets.
    mpr: u32,
    /// No timer expires before this; `None`: nothing in flight.
    deadline: Option<Ticks>,
    /// Retries since the last progress. If there are some, no further one is spent before `next_retry`.
    retries: u8,
    next_retry: Ticks,
    /// Says which plane is silent.
    losses: PlaneLosses,
    last_rtt: Option<Ticks>,
    estimate: Estimate,
    /// Number of newest packets of which none requests a SACK.
    unasked: u32,
    /// A probe that is due, until the port of its plane can take it.
    probe_waiting: Option<Probe>,
    /// By path; empty if they are not counted.
    path_loads: Box<[u64]>,
    path_counts: Box<[PathCount]>,
    counters: RequesterCounters,
    error: Option<WcStatus>,
}

impl MrcRequester {
    /// A requester without work whose first packet will be `first`.
    ///
    /// # Errors
    /// [`SprayError`] if the path choice cannot work as configured.
    pub fn new(
        qp: QpIdentity,
        config: MrcConfig,
        messages: Messages,
        first: Psn,
        now: Ticks,
    ) -> Result<Self, SprayError> {
        let registers = Registers {
            policy: config.spray.policy,
            mpr: config.mpr,
            rto: config.rto,
            backoff: config.backoff,
            retry_budget: config.retry_budget,
            early_loss: config.early_loss,
            coalesce_from: config.coalesce_from,
        };
        Ok(Self {
            qp,
            messages,
            window: Window::new(first),
            nscc: Nscc::new(&config.nscc, now),
            path_loads: vec![0; EvIndex::ACTIVE + EvIndex::BACKUPS].into(),
            path_counts: vec![PathCount::default(); EvIndex::ACTIVE + EvIndex::BACKUPS].into(),
            spray: Spray::new(config.spray)?,
            mpr: config.mpr.into(),
            estimate: Estimate::new(config.rto),
            unasked: 0,
            config: registers,
            deadline: None,
            retries: 0,
            next_retry: now,
            losses: PlaneLosses::default(),
            last_rtt: None,
            probe_waiting: None,
            counters: RequesterCounters::default(),
            error: None,
        })
    }

    /// Advances the window and completes messages in order.
    fn complete(&mut self, card: &mut Card<'_>) {
        let before = self.window.una();
        let una = self.window.advance(card.pool);
        if una != before {
            self.retries = 0;
        }
        if let Err(failed) = self.messages.complete(una, card.cq) {
            self.fail(Some(failed), card);
        }
    }

    /// Records that a message's local buffer cannot be read.
    pub fn local_fault(&mut self, slot: u16, card: &mut Card<'_>) {
        self.messages.fault(slot, WcStatus::LocProtErr);
        self.complete(card);
    }

    /// Moves the queue pair to the error state and flushes its work: the message `failed` completes with its status, all others as flushed. If the
    /// queue pair is already in error, flushes what was posted since then.
    pub fn fail(&mut self, failed: Option<(u16, WcStatus)>, card: &mut Card<'_>) {
        let status = failed.map_or(WcStatus::WrFlushErr, |(_, status)| status);
        self.error.get_or_insert(status);
        self.deadline = None;
        self.messages.flush(failed, card.memory, card.cq);
    }

    /// A data packet leaves by the port of `plane`. Round trips of packets begin there; a packet of which nothing is heard leaves when it is selected.
    pub fn departed(&mut self, psn: Psn, plane: u8, at: Ticks) {
        self.window.departed(psn, plane, at);
    }

    /// Records that a port went up or down.
    pub fn set_plane(&mut self, plane: u8, up: bool) {
        self.spray.set_plane(plane, up);
    }

    /// Software denies or allows a path. An index that the queue pair does not have changes nothing. A probe that waits for its port does not leave on a path that
    /// is denied.
    pub fn use_path(&mut self, change: PathUseRow) {
        let Some(index) = EvIndex::new(change.index) else {
            return;
        };
        if change.denied {
            self.spray.deny(index);
            self.probe_waiting = self.probe_waiting.filter(|probe| probe.index != index);
        } else {
            self.spray.allow(index);
        }
    }

    /// Status that put the queue pair in error.
    pub const fn error(&self) -> Option<WcStatus> {
        self.error
    }

    /// Time before which no timer expires.
    pub const fn deadline(&self) -> Option<Ticks> {
        self.deadline
    }

    /// The requester's send queue.
    pub const fn messages(&self) -> &Messages {
        &self.messages
    }

    /// Its messages.
    pub fn messages_mut(&mut self) -> &mut Messages {
        &mut self.messages
    }

    /// Transmit window.
    pub const fn window(&self) -> &Window {
        &self.window
    }

    /// Congestion state.
    pub const fn nscc(&self) -> &Nscc {
        &self.nscc
    }

    /// Path state.
    pub const fn spray(&self) -> &Spray {
        &self.spray
    }

    /// Path state.
    pub fn spray_mut(&mut self) -> &mut Spray {
        &mut self.spray
    }

    /// Round trip of the last sample.
    pub const fn last_rtt(&self) -> Option<Ticks> {
        self.last_rtt
    }

    /// Stops counting by path, which takes more memory than all else.
    pub fn omit_path_loads(&mut self) {
        self.path_loads = Box::default();
        self.path_counts = Box::default();
    }

    /// Data packets sent by path; empty if they are not counted.
    pub fn path_loads(&self) -> &[u64] {
        &self.path_loads
    }

    /// What the card counts by path since the last [`Self::take_path_count`]; empty if it is not counted.
    pub fn path_counts(&self) -> &[PathCount] {
        &self.path_counts
    }

    /// Reads and clears the counts of a path. None if they are not counted.
    pub fn take_path_count(&mut self, index: EvIndex) -> Option<PathCount> {
        let count = self.path_counts.get_mut(usize::from(index.value()))?;
        Some(std::mem::take(count))
    }

    /// Counts what happened to a packet on its path (hardware block `path_counters`).
    fn count_on_path(&mut self, index: EvIndex, event: PathEvent) {
        if let Some(count) = self.path_counts.get_mut(usize::from(index.value())) {
            count.count(event);
        }
    }

    /// The requester's counters.
    pub const fn counters(&self) -> &RequesterCounters {
        &self.counters
    }
}
