//! The RC requester of one queue pair: go-back-N (InfiniBand architecture volume 1, section 9.7.5), its state and its end.
//!
//! `transmit` has what it sends, `answers` the effects of acknowledgements and of time, `paths` what a path policy adds.

mod answers;
mod paths;
mod transmit;

use stellar_wire::host::WcStatus;

use super::{Card, Message, Messages, QpIdentity, RcConfig, RequesterCounters};
use crate::rx::Psn;
use crate::spray::SprayError;
use crate::time::Ticks;
use paths::RcPaths;

/// An RC requester.
///
/// PSNs `una` to `sent - 1` may be unreceived; `next` is the one to send, behind `sent` after going back.
#[derive(Clone, Debug)]
pub struct RcRequester {
    qp: QpIdentity,
    config: RcConfig,
    messages: Messages,
    /// Buffer for the messages of a burst, and how many packets it has of each.
    burst: Vec<(Message, u32)>,
    una: Psn,
    next: Psn,
    sent: Psn,
    /// Timeouts and sequence NAKs since the last progress.
    retries: u8,
    /// RNR NAKs that were waited for since the last progress.
    rnr_retries: u8,
    /// The peer was not ready for the packet `una`. Nothing is sent until the deadline, or until there is progress.
    waits: bool,
    /// When the oldest unacknowledged packet was sent or progress was made, whichever is later, and the timeout. If the queue pair waits: when it sends again.
    deadline: Option<Ticks>,
    /// Packets since the last one that requested an acknowledgement.
    silent: u16,
    /// A queue pair with a path policy has it; otherwise source port and plane stay.
    paths: Option<Box<RcPaths>>,
    path_load: [u64; 1],
    counters: RequesterCounters,
    error: Option<WcStatus>,
}

impl RcRequester {
    /// A requester without work whose first packet will be `first`.
    ///
    /// # Errors
    /// [`SprayError`] if the path choice cannot work as configured.
    pub fn new(
        qp: QpIdentity,
        mut config: RcConfig,
        messages: Messages,
        first: Psn,
    ) -> Result<Self, SprayError> {
        let paths = config.paths.take().map(RcPaths::new).transpose()?;
        Ok(Self {
            qp,
            config,
            messages,
            burst: Vec::new(),
            una: first,
            next: first,
            sent: first,
            retries: 0,
            rnr_retries: 0,
            waits: false,
            deadline: None,
            silent: 0,
            paths: paths.map(Box::new),
            path_load: [0],
            counters: RequesterCounters::default(),
            error: None,
        })
    }

    const fn outstanding(&self) -> u32 {
        self.sent.distance_from(self.una)
    }

    /// Fails the message of the oldest unacknowledged packet.
    fn fail_oldest(&mut self, status: WcStatus, card: &mut Card<'_>) {
        let slot = self.messages.holding(self.una);
        self.fail(slot.map(|message| (message.wqe.slot, status)), card);
    }

    fn complete(&mut self, card: &mut Card<'_>) {
        if let Err(failed) = self.messages.complete(self.una, card.cq) {
            self.fail(Some(failed), card);
        }
    }

    /// Records that a message's local buffer cannot be read.
    pub fn local_fault(&mut self, slot: u16, card: &mut Card<'_>) {
        self.messages.fault(slot, WcStatus::LocProtErr);
        self.complete(card);
    }

    /// Puts the queue pair in error and flushes its work, as [`super::MrcRequester::fail`].
    pub fn fail(&mut self, failed: Option<(u16, WcStatus)>, card: &mut Card<'_>) {
        let status = failed.map_or(WcStatus::WrFlushErr, |(_, status)| status);
        self.error.get_or_insert(status);
        self.deadline = None;
        if let Some(paths) = &mut self.paths {
            paths.end();
        }
        self.messages.flush(failed, card.memory, card.cq);
    }

    /// Status that put the queue pair in error.
    pub const fn error(&self) -> Option<WcStatus> {
        self.error
    }

    /// Time before which no timer expires.
    pub fn deadline(&self) -> Option<Ticks> {
        let held = self.paths.as_ref().and_then(|paths| paths.held());
        match (self.deadline, held) {
            (Some(deadline), Some(held)) if deadline.reached(held) => Some(held),
            (deadline, held) => deadline.or(held),
        }
    }

    /// The requester's send queue.
    pub fn messages_mut(&mut self) -> &mut Messages {
        &mut self.messages
    }

    /// Records that a port went up or down. Without a path policy the queue pair stays with its port.
    pub fn set_plane(&mut self, plane: u8, up: bool) {
        if let Some(paths) = &mut self.paths {
            paths.set_plane(plane, up);
        }
    }

    /// Whether it has a path policy, and so probes and their answers.
    pub const fn has_paths(&self) -> bool {
        self.paths.is_some()
    }

    /// Stops counting by path, if it has a path policy.
    pub fn omit_path_loads(&mut self) {
        if let Some(paths) = &mut self.paths {
            paths.omit_loads();
        }
    }

    /// Data packets sent by path: one, or as many as an MRC queue pair has if there is a path policy. Empty if they are not counted.
    pub fn path_loads(&self) -> &[u64] {
        self.paths
            .as_ref()
            .map_or(&self.path_load, |paths| paths.loads())
    }

    /// The requester's counters.
    pub const fn counters(&self) -> &RequesterCounters {
        &self.counters
    }
}
