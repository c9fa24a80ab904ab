//! One-sided transfers, and waiting for them.

use super::{Engine, UnderWay};
use crate::channel::Queued;
use crate::counters::Senders;
use crate::error::{PeerLost, SubmitError};
use crate::event::Notify;
use crate::ids::TransferId;
use crate::nic::Nic;
use crate::plan::{Planner, Run};
use crate::request::Transfer;

impl<N: Nic> Engine<N> {
    /// Begins a transfer. [`crate::Event::Done`] reports its end.
    ///
    /// # Errors
    /// [`SubmitError`]; then nothing has begun.
    pub fn submit(&mut self, transfer: &Transfer<'_, N>) -> Result<TransferId, SubmitError> {
        self.begin(transfer, Notify::Event)
    }

    /// Does what [`Self::submit`] does, but [`Self::progress`] or the [`crate::Worker`]'s thread calls `done` at its end.
    ///
    /// # Errors
    /// [`SubmitError`]; then nothing has begun.
    pub fn submit_with(
        &mut self,
        transfer: &Transfer<'_, N>,
        done: impl FnOnce(Result<(), PeerLost>) + Send + 'static,
    ) -> Result<TransferId, SubmitError> {
        self.begin(transfer, Notify::Call(Box::new(done)))
    }

    fn begin(
        &mut self,
        transfer: &Transfer<'_, N>,
        notify: Notify,
    ) -> Result<TransferId, SubmitError> {
        self.check_room()?;
        let planner = Planner {
            engine: self.id(),
            rails: self.nics.len(),
            turn: self.turn,
            peer_of: &|engine| self.peer(engine),
        };
        let runs = planner.plan(transfer)?;
        self.turn += 1;
        let id = self.new_id();
        self.enqueue(id, runs, notify);
        Ok(id)
    }

    pub(super) fn check_room(&self) -> Result<(), SubmitError> {
        let under_way = self.transfers.len() + self.barriers.len() + self.calls.len();
        if under_way < self.config.transfers {
            Ok(())
        } else {
            Err(SubmitError::Busy(under_way))
        }
    }

    pub(super) fn new_id(&mut self) -> TransferId {
        self.next_transfer += 1;
        TransferId(self.next_transfer)
    }

    /// Queues the runs to peers with working links.
    pub(super) fn enqueue(&mut self, id: TransferId, runs: Vec<Run<N>>, notify: Notify) {
        let count = |run: &Run<N>| run.pieces.count() as u64;
        let under_way = UnderWay {
            left: runs.iter().map(count).sum(),
            lost: None,
            peers: runs.iter().map(|run| run.peer).collect(),
            notify,
        };
        self.transfers.insert(id, under_way);
        for run in runs {
            if let Some(link) = self.links.get_mut(&run.peer) {
                let (transfer, next) = (id, 0);
                link.enqueue(Queued {
                    transfer,
                    run,
                    next,
                });
            }
        }
    }

    /// Expects `count` writes with this immediate, including those that have arrived already and that no expectation has used.
    /// [`crate::Event::Reached`] reports that all of their bytes are in memory, or that one of `senders` was lost.
    ///
    /// # Errors
    /// [`SubmitError::Expected`], [`SubmitError::NoCount`], and errors for a sender that is lost or unknown.
    pub fn expect(
        &mut self,
        immediate: u32,
        count: u64,
        senders: Senders,
    ) -> Result<(), SubmitError> {
        self.await_count(immediate, count, senders, Notify::Event)
    }

    /// Does what [`Self::expect`] does, but [`Self::progress`] or the [`crate::Worker`]'s thread calls `reached`.
    ///
    /// # Errors
    /// The same as [`Self::expect`].
    pub fn expect_with(
        &mut self,
        immediate: u32,
        count: u64,
        senders: Senders,
        reached: impl FnOnce(Result<(), PeerLost>) + Send + 'static,
    ) -> Result<(), SubmitError> {
        self.await_count(immediate, count, senders, Notify::Call(Box::new(reached)))
    }

    fn await_count(
        &mut self,
        immediate: u32,
        count: u64,
        senders: Senders,
        notify: Notify,
    ) -> Result<(), SubmitError> {
        if count == 0 {
            return Err(SubmitError::NoCount(immediate));
        }
        if self.counters.is_expected(immediate) {
            return Err(SubmitError::Expected(immediate));
        }
        if let Senders::These(peers) = &senders {
            for peer in peers {
                self.check_peer(*peer)?;
            }
        }
        let reached = self.counters.expect(immediate, count, senders, notify);
        if let Some(notify) = reached {
            self.reached(immediate, notify, Ok(()));
        }
        Ok(())
    }

    /// Cancels an expectation without an event; arrivals stay counted. Returns whether there was one. A barrier cannot be cancelled.
    pub fn cancel(&mut self, immediate: u32) -> bool {
        let is_barriers = self.barriers.values().any(|b| b.immediate() == immediate);
        !is_barriers && self.counters.cancel(immediate).is_some()
    }

    /// Number of writes with this immediate that have arrived and that no expectation has used.
    pub fn arrivals(&self, immediate: u32) -> u64 {
        self.counters.count(immediate)
    }
}
