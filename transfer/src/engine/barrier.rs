//! Barriers.

use std::collections::BTreeSet;

use super::Engine;
use crate::counters::Senders;
use crate::error::{PeerLost, SubmitError};
use crate::event::Notify;
use crate::ids::{PeerId, TransferId};
use crate::nic::Nic;
use crate::plan::{Piece, Pieces, Run};

/// A barrier that this engine has entered.
pub struct Barrier {
    immediate: u32,
    peers: Vec<PeerId>,
    /// Transfers that must end before the peers are notified.
    before: BTreeSet<TransferId>,
    /// All peers were notified.
    told: bool,
    /// All peers have notified this engine.
    heard: bool,
    notify: Notify,
}

impl Barrier {
    /// The immediate that it counts.
    pub const fn immediate(&self) -> u32 {
        self.immediate
    }
}

/// The two parts of a barrier.
pub enum Part {
    /// The peers have been notified.
    Told,
    /// The peers' notifications have arrived.
    Heard,
}

impl<N: Nic> Engine<N> {
    /// Enters a barrier with these peers. Each of them must enter a barrier with the same immediate and all others of the group. The barrier ends
    /// when all have entered. Then everything that this engine wrote to the peers before is in their memory.
    ///
    /// The same immediate may be used for the next barrier of the group.
    ///
    /// # Errors
    /// [`SubmitError`]; then it was not entered.
    pub fn barrier(&mut self, immediate: u32, peers: &[PeerId]) -> Result<TransferId, SubmitError> {
        self.enter(immediate, peers, Notify::Event)
    }

    /// Does what [`Self::barrier`] does, but [`Self::progress`] or the [`crate::Worker`]'s thread calls `left` at its end.
    ///
    /// # Errors
    /// [`SubmitError`]; then it was not entered.
    pub fn barrier_with(
        &mut self,
        immediate: u32,
        peers: &[PeerId],
        left: impl FnOnce(Result<(), PeerLost>) + Send + 'static,
    ) -> Result<TransferId, SubmitError> {
        self.enter(immediate, peers, Notify::Call(Box::new(left)))
    }

    fn enter(
        &mut self,
        immediate: u32,
        peers: &[PeerId],
        notify: Notify,
    ) -> Result<TransferId, SubmitError> {
        self.check_room()?;
        let distinct: BTreeSet<PeerId> = peers.iter().copied().collect();
        if distinct.is_empty() || distinct.len() < peers.len() {
            return Err(SubmitError::Barrier);
        }
        for peer in peers {
            self.check_peer(*peer)?;
        }
        if self.counters.is_expected(immediate) {
            return Err(SubmitError::Expected(immediate));
        }
        let id = self.new_id();
        let goes_there = |peer: &PeerId| distinct.contains(peer);
        let before = self.transfers.iter();
        let before = before.filter(|(_, transfer)| transfer.peers.iter().any(goes_there));
        let barrier = Barrier {
            immediate,
            before: before.map(|(id, _)| *id).collect(),
            peers: peers.to_vec(),
            told: false,
            heard: false,
            notify,
        };
        let starts = barrier.before.is_empty();
        self.barriers.insert(id, barrier);
        let senders = Senders::These(peers.to_vec());
        let count = peers.len() as u64;
        let waiter = Notify::Barrier(id);
        if let Some(notify) = self.counters.expect(immediate, count, senders, waiter) {
            self.reached(immediate, notify, Ok(()));
        }
        if starts {
            self.tell_peers(id);
        }
        Ok(id)
    }

    /// Notifies the peers of a barrier that it was entered.
    fn tell_peers(&mut self, id: TransferId) {
        let Some(barrier) = self.barriers.get(&id) else {
            return;
        };
        let run = |peer: &PeerId| {
            let link = self.check_peer(*peer)?;
            let empty = Piece {
                source: 0,
                target: 0,
                length: 0,
            };
            Ok(Run {
                peer: *peer,
                rail: 0,
                source: None,
                to: link.control(),
                immediate: Some(barrier.immediate),
                pieces: Pieces::One(empty),
            })
        };
        match barrier.peers.iter().map(run).collect() {
            Ok(runs) => {
                let told = self.new_id();
                self.enqueue(told, runs, Notify::Barrier(id));
            }
            Err(SubmitError::Lost(lost)) => self.barrier_part(id, Part::Told, Err(lost)),
            // The peer is no longer connected, so it was lost, and the barrier has ended with it.
            Err(_) => {}
        }
    }

    /// Continues the barriers that waited for a transfer, which has ended.
    pub(super) fn passed(&mut self, transfer: TransferId) {
        let waited =
            |barrier: &mut Barrier| barrier.before.remove(&transfer) && barrier.before.is_empty();
        let go_on: Vec<TransferId> = self
            .barriers
            .iter_mut()
            .filter_map(|(id, barrier)| waited(barrier).then_some(*id))
            .collect();
        for id in go_on {
            self.tell_peers(id);
        }
    }

    /// Handles the end of a part of a barrier, with or without success.
    pub(super) fn barrier_part(
        &mut self,
        id: TransferId,
        part: Part,
        result: Result<(), PeerLost>,
    ) {
        let Some(barrier) = self.barriers.get_mut(&id) else {
            return;
        };
        match part {
            Part::Told => barrier.told = true,
            Part::Heard => barrier.heard = true,
        }
        if result.is_ok() && !(barrier.told && barrier.heard) {
            return;
        }
        if let Some(barrier) = self.barriers.remove(&id) {
            if !barrier.heard {
                self.counters.cancel(barrier.immediate);
            }
            self.finish(id, barrier.notify, result);
        }
    }
}
