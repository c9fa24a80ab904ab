//! Queue pairs.

mod attributes;
mod choice;
mod core;
mod entries;
mod mediated;
mod mrc;
mod path_sums;
mod psn;
mod rc;
mod rows;
mod state;
#[cfg(test)]
mod tests;
mod work;

use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use stellar_wire::config::{AllowedPaths, QpConfig, SqRing};
use stellar_wire::host::{Cqe, Doorbell, QpCounters, WcStatus, WqeSize};

use crate::card::lock;
use crate::connect::Connection;
use crate::context::Opened;
use crate::cq::{Completion, CompletionQueue, Queue};
use crate::device::DmaBuffer;
use crate::error::Error;
use crate::paths::PathTraffic;
use crate::pd::Domain;
use crate::profiles::DEFAULT_PROFILE;
use path_sums::PathSums;

pub use attributes::{InitAttributes, Modify, QueuePairConfig, Transport, DEFAULT_WRITE_IMM};
pub use mediated::{ForeignRings, MediatedQueuePair};
pub use mrc::{Backoff, PathAttributes, Policy, RtrAttributes, RtsAttributes, SkipScope};
pub use psn::random_psn;
pub use rc::{RcPaths, RcRtrAttributes, RcRtsAttributes};
pub use state::{IllegalTransition, QpState};
pub use work::{PostError, Source, WorkRequest, WrOpcode};

pub(crate) use self::core::Completions;
use self::core::Core;
use entries::Entries;
use work::Work;

/// Smallest and largest send queue.
pub(crate) const SEND_ENTRIES: (u32, u32) = (2, 1 << 15);

/// The part of a queue pair that completions and events use.
pub(crate) struct Shared {
    pub number: u32,
    pub page: u16,
    /// The queue pair's slot of the page, if the driver rings for it and there was a free one.
    pub slot: Option<u16>,
    /// The card has lost a completion of this queue pair.
    overrun: AtomicBool,
    inner: Mutex<Inner>,
}

struct Inner {
    state: QpState,
    work: Work,
    init: InitAttributes,
    /// Present while the card has its rows: from RTR on.
    config: Option<QpConfig>,
    /// Number of its entropy profile on the card, while there is a configuration.
    profile: u8,
    /// What it has of the card's shared tables, while there is a configuration.
    entries: Option<Entries>,
    /// Present over MRC while the card has the rows of RTS.
    allowed: Option<AllowedPaths>,
    /// What was counted on paths in this state RTS.
    counted: PathSums,
}

impl Shared {
    /// Makes the software state of a queue pair in RESET.
    fn new(number: u32, page: u16, slot: Option<u16>, entries: u32) -> Self {
        let inner = Inner {
            state: QpState::Reset,
            work: Work::new(entries),
            init: InitAttributes::default(),
            config: None,
            profile: DEFAULT_PROFILE,
            entries: None,
            allowed: None,
            counted: PathSums::default(),
        };
        Self {
            number,
            page,
            slot,
            overrun: AtomicBool::new(false),
            inner: Mutex::new(inner),
        }
    }

    /// The queue pair's state.
    pub fn state(&self) -> QpState {
        lock(&self.inner).state
    }

    /// Completions, as flushed, of all work requests that have not completed.
    pub fn flush(&self) -> Vec<Completion> {
        lock(&self.inner).work.flush(self.number)
    }

    /// Returns whether the card has lost a completion of the queue pair.
    pub fn is_overrun(&self) -> bool {
        self.overrun.load(Ordering::Acquire)
    }

    /// Records whether it has.
    pub fn set_overrun(&self, overrun: bool) {
        self.overrun.store(overrun, Ordering::Release);
    }

    /// Records that the card has moved the queue pair to the error state.
    pub fn has_failed(&self) {
        let mut inner = lock(&self.inner);
        if matches!(inner.state, QpState::Rtr | QpState::Rts) {
            inner.state = QpState::Error;
        }
    }

    /// Processes a completion of the send side.
    pub fn completed(&self, cqe: &Cqe) -> Result<(), Error> {
        if cqe.status != WcStatus::Success {
            self.has_failed();
        }
        lock(&self.inner).work.free(self.number, cqe.sq_head)
    }
}

/// The ring of a send queue; `entries` is the number of its entries, which have this size.
fn send_ring(base: u64, entries: u32, entry: WqeSize) -> Result<SqRing, Error> {
    let (least, most) = SEND_ENTRIES;
    if !entries.is_power_of_two() || !(least..=most).contains(&entries) {
        return Err(Error::QueueSize {
            queue: "send",
            entries,
            least,
            most,
        });
    }
    Ok(SqRing {
        base,
        log2_entries: entries.ilog2() as u8,
        entry,
    })
}

/// A queue pair of MRC or RC (verbs: `ibv_qp`). Dropping it removes it from the card; completions that were not polled are lost.
pub struct QueuePair {
    core: Core<Queue>,
    memory: DmaBuffer,
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
        let (entries, entry) = (config.send_entries, config.entry()?);
        send_ring(0, entries, entry)?;
        let bytes = entries as usize * entry.bytes();
        let memory = DmaBuffer::new(context.device.card.function(), bytes)?;
        let ring = send_ring(memory.address(), entries, entry)?;
        let core = Core::new(domain, Arc::clone(&cq.0), ring, config)?;
        Ok(Self { core, memory })
    }

    /// The queue pair's number.
    pub fn number(&self) -> u32 {
        self.core.shared.number
    }

    /// The queue pair's state. The card's own changes are seen when completions or events are polled.
    pub fn state(&self) -> QpState {
        self.core.shared.state()
    }

    /// Work requests that have not completed.
    pub fn outstanding(&self) -> usize {
        lock(&self.core.shared.inner).work.len()
    }

    /// What the card has counted for the queue pair: for the send side since it was configured in RTR or RTS, for the receive side since RTR. Each value is read at a
    /// time of its own.
    ///
    /// # Errors
    /// [`Error::NotCounted`] if the card keeps no counters for it, [`Error::Device`].
    pub fn counters(&self) -> Result<QpCounters, Error> {
        let device = &self.core.domain.context.device;
        device.probe.check_counted(self.number())?;
        Ok(device.card.qp_counters(self.number())?)
    }

    /// The queue pair's parameters for the peer, if it sends from `psn` on.
    pub fn connection(&self, psn: u32) -> Connection {
        self.core.connection(psn)
    }

    pub(crate) fn is_of(&self, context: &Arc<Opened>) -> bool {
        Arc::ptr_eq(&self.core.domain.context, context)
    }

    /// Moves the queue pair to another state.
    ///
    /// # Errors
    /// [`Error::Transition`], [`Error::Transport`], [`Error::Config`], [`Error::Path`], [`Error::Attribute`]: its state does not change. [`Error::Device`]: the card did not
    /// execute a command; only RESET is possible then.
    pub fn modify(&self, step: Modify) -> Result<(), Error> {
        self.core.modify(step)
    }

    /// Denies the queue pair a path: no data packet and no probe takes it until [`Self::allow_path`]. Paths have the numbers 0 to [`PathAttributes::paths`] - 1 (bit 0
    /// is the port), backups those from 128 on. Packets whose path is chosen already still leave on it, and acknowledgements to the peer may, for a while. All paths
    /// are allowed when the queue pair enters RTS. A backup of the port in reserve takes the place of a denied path; there are four per port.
    ///
    /// # Errors
    /// [`Error::PathUse`] if there is no such path, or if it is the last one that is allowed; [`Error::NoPaths`] if the queue pair is not in RTS;
    /// [`Error::Transport`] over RC: nothing changes. [`Error::Device`].
    pub fn deny_path(&self, index: u8) -> Result<(), Error> {
        self.core.use_path(index, true)
    }

    /// Allows a path that was denied. It is good then, whatever was known of it. A path that is not denied stays as it is.
    ///
    /// # Errors
    /// As [`Self::deny_path`].
    pub fn allow_path(&self, index: u8) -> Result<(), Error> {
        self.core.use_path(index, false)
    }

    /// The paths that are denied, in ascending order.
    pub fn denied_paths(&self) -> Vec<u8> {
        self.core.denied_paths()
    }

    /// What the card has counted on each path in use and each backup, denied ones included, since the first call after the queue pair entered RTS: the first call
    /// returns zeros. The card counts up to 4,095 on a path between two calls, and then stops for that path, so call it more often than that many packets leave on one
    /// path, or take the counts for those of a sample.
    ///
    /// A card with more than 1,024 queue pairs counts for one of those whose numbers are equal modulo 1,024: the one that called last. The first call after one of another adds nothing.
    ///
    /// # Errors
    /// [`Error::NoPaths`] if the queue pair is not in RTS; [`Error::Transport`] over RC; [`Error::Device`]: what was counted on one path since the last call may be lost then.
    pub fn path_counts(&self) -> Result<Vec<PathTraffic>, Error> {
        self.core.path_counts(0, usize::MAX)
    }

    /// The paths that [`Self::path_counts`] counts, in the same order.
    pub(crate) fn path_indices(&self) -> Result<Vec<u8>, Error> {
        self.core.path_indices()
    }

    /// The queue pair's transport.
    pub const fn transport(&self) -> Transport {
        self.core.transport()
    }

    /// Refuses receive work requests (verbs: `ibv_post_recv`), because the card has no receive queues. The card executes only WRITEs, in which the
    /// sender gives the address. A WRITE with immediate completes at the receiver without a receive work request.
    ///
    /// # Errors
    /// [`PostError::NoReceiveQueue`], always.
    pub fn post_recv(&self, wr_id: u64) -> Result<Infallible, PostError> {
        let qp = self.number();
        Err(PostError::NoReceiveQueue { qp, wr_id })
    }

    /// Posts a work request (verbs: `ibv_post_send`). Its region stays registered until it has completed.
    ///
    /// # Errors
    /// [`PostError`]; nothing was posted.
    pub fn post_send(&self, request: &WorkRequest<'_>) -> Result<(), PostError> {
        let mut inner = lock(&self.core.shared.inner);
        if inner.state != QpState::Rts {
            return Err(PostError::State {
                qp: self.number(),
                state: inner.state,
            });
        }
        let size = self.core.entry();
        let ready = request.ready(&self.core.domain, inner.work.producer(), size)?;
        inner.work.check_room()?;
        let at = inner.work.place() * size.bytes();
        let entry = ready.wqe.to_long_bytes();
        self.memory.write(at, &entry[..size.bytes()])?;
        // A doorbell carries 64 bytes. The card reads an entry that has more.
        let pushed = (request.push && !ready.wqe.has_rest()).then(|| ready.wqe.to_bytes());
        // From here on the entry is posted: a doorbell that returned an error may have arrived.
        inner.work.push(ready);
        let doorbell = Doorbell {
            qp: self.number(),
            producer: inner.work.producer(),
        };
        let card = &self.core.domain.context.device.card;
        let Shared { page, slot, .. } = *self.core.shared;
        match pushed {
            Some(entry) => card.push(page, &entry, doorbell)?,
            None => card.ring(page, slot, doorbell)?,
        }
        Ok(())
    }
}

impl Drop for QueuePair {
    /// If the card does not release the queue pair, nothing that it may still access is freed.
    fn drop(&mut self) {
        if !self.core.remove() {
            let kept = (self.memory.clone(), Arc::clone(&self.core.shared));
            std::mem::forget((kept, Arc::clone(&self.core.completions)));
        }
    }
}
