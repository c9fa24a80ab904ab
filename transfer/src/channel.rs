//! A queue pair of a link, and its waiting work.

use std::collections::{BTreeMap, VecDeque};

use stellar_driver::RemoteRegion;

use crate::credit::{Incoming, Outgoing};
use crate::ids::TransferId;
use crate::nic::{Nic, NicError, Payload, Write};
use crate::plan::Run;

/// The purpose of a posted write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Posted {
    /// A transfer.
    Piece(TransferId),
    /// A message, with its number.
    Message(TransferId, u64),
    /// Returns credits for this channel.
    Taken(usize),
    /// Notifies the peer that the link is disconnected.
    Down,
}

/// A waiting run.
pub struct Queued<N: Nic> {
    pub transfer: TransferId,
    pub run: Run<N>,
    /// Number of pieces that were posted.
    pub next: usize,
}

impl<N: Nic> Queued<N> {
    /// Number of pieces that were not posted.
    pub fn left(&self) -> u64 {
        (self.run.pieces.count() - self.next) as u64
    }
}

/// A write to be posted.
pub struct Posting<'a, N: Nic> {
    pub what: Posted,
    pub payload: Payload<'a, N::Region>,
    pub to: RemoteRegion,
    /// Offset from the region's start.
    pub offset: u64,
    pub immediate: Option<u32>,
}

/// A queue pair.
pub struct Channel<N: Nic> {
    /// The NIC it is on.
    pub rail: usize,
    pub qp: N::QueuePair,
    /// Credits of its writes with immediate, or of its messages.
    pub outgoing: Outgoing,
    /// The peer's credits.
    pub incoming: Incoming,
    pub queue: VecDeque<Queued<N>>,
    posted: BTreeMap<u64, Posted>,
    next_id: u64,
    /// Whether it works: it has not failed and was not stopped.
    pub alive: bool,
}

impl<N: Nic> Channel<N> {
    /// A connected queue pair: the peer has space for `theirs` writes with immediate, this side for `ours`.
    pub fn new(rail: usize, qp: N::QueuePair, theirs: u64, ours: u64) -> Self {
        Self {
            rail,
            qp,
            outgoing: Outgoing::new(theirs),
            incoming: Incoming::new(ours),
            queue: VecDeque::new(),
            posted: BTreeMap::new(),
            next_id: 0,
            alive: true,
        }
    }

    /// Number of outstanding writes.
    pub fn under_way(&self) -> usize {
        self.posted.len()
    }

    /// Posts a write. If that fails, it is not outstanding.
    pub fn post(&mut self, nic: &N, posting: Posting<'_, N>) -> Result<(), NicError> {
        let write = Write {
            id: self.next_id,
            payload: posting.payload,
            // The address is the peer's. If it is wrong, the peer's NIC refuses the write.
            address: posting.to.address.wrapping_add(posting.offset),
            rkey: posting.to.rkey,
            immediate: posting.immediate,
        };
        let done = nic.post(&self.qp, &write);
        if done.is_ok() {
            self.posted.insert(self.next_id, posting.what);
            self.next_id += 1;
        }
        done
    }

    /// Posts the next piece of the first waiting run.
    pub fn post_piece(&mut self, nic: &N) -> Result<(), NicError> {
        let Some(mut queued) = self.queue.pop_front() else {
            return Ok(());
        };
        let Run {
            source,
            to,
            immediate,
            ..
        } = &queued.run;
        let piece = queued.run.pieces.get(queued.next);
        let payload = match source {
            Some(region) if piece.length > 0 => Payload::Region {
                region: &region.0.regions[self.rail],
                offset: piece.source,
                length: piece.length,
            },
            _ => Payload::Nothing,
        };
        let posting = Posting {
            what: Posted::Piece(queued.transfer),
            payload,
            to: *to,
            offset: piece.target,
            immediate: *immediate,
        };
        let done = self.post(nic, posting);
        if done.is_ok() {
            if immediate.is_some() {
                self.outgoing.send();
            }
            queued.next += 1;
        }
        if queued.left() > 0 {
            self.queue.push_front(queued);
        }
        done
    }

    /// Whether the next piece of the first waiting run may be posted, with at most `depth` outstanding writes.
    pub fn may_post(&self, depth: usize) -> bool {
        let has_room =
            |queued: &Queued<N>| queued.run.immediate.is_none() || self.outgoing.may_send();
        self.alive && self.posted.len() < depth && self.queue.front().is_some_and(has_room)
    }

    /// Records that a write has ended. Returns its purpose, if it is known.
    pub fn end(&mut self, id: u64) -> Option<Posted> {
        self.posted.remove(&id)
    }

    /// Returns the outstanding writes, which will not end.
    pub fn abandon(&mut self) -> impl Iterator<Item = Posted> {
        self.alive = false;
        std::mem::take(&mut self.posted).into_values()
    }
}
