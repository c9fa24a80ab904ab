//! A step of the engine: poll the NICs, post writes, report results.

use std::collections::VecDeque;

use super::barrier::Part;
use super::{Engine, Ready};
use crate::error::{LinkError, PeerLost};
use crate::event::{Event, Notify};
use crate::ids::{PeerId, TransferId};
use crate::link::{Effect, Link};
use crate::nic::{Happened, Nic, NicError, NicEvent};

/// Maximum number of completions that are read from a NIC at once.
const BATCH: usize = 64;

impl<N: Nic> Engine<N> {
    /// Polls the NICs, posts what may be posted, and calls the callbacks of everything that has ended. Returns whether there was anything to do; if
    /// not, call [`Self::relax`] before the next time.
    pub fn progress(&mut self) -> bool {
        let busy = self.step();
        for (call, result) in self.take_ready() {
            call(result);
        }
        busy
    }

    /// Callbacks that are due.
    pub(crate) fn take_ready(&mut self) -> Vec<Ready> {
        std::mem::take(&mut self.ready)
    }

    /// Does what [`Self::progress`] does, except for the callbacks.
    pub(crate) fn step(&mut self) -> bool {
        let mut busy = false;
        for rail in 0..self.nics.len() {
            match self.nics[rail].poll(BATCH) {
                Ok(events) => {
                    busy |= !events.is_empty();
                    for event in events {
                        self.take(rail, event);
                    }
                }
                Err(error) => self.lose_nic(rail, &error),
            }
        }
        let peers: Vec<PeerId> = self.links.keys().copied().collect();
        for peer in peers {
            busy |= self.with_link(peer, |link, nics, effects| {
                link.look(nics, effects) | link.pump(nics, effects)
            });
        }
        self.reap();
        busy || !self.ready.is_empty()
    }

    /// Calls a function of a link, and processes the consequences.
    fn with_link(
        &mut self,
        peer: PeerId,
        act: impl FnOnce(&mut Link<N>, &[N], &mut Vec<Effect>) -> bool,
    ) -> bool {
        let mut effects = Vec::new();
        let Some(link) = self.links.get_mut(&peer) else {
            return false;
        };
        let busy = act(link, &self.nics, &mut effects);
        self.apply(peer, effects);
        busy
    }

    fn take(&mut self, rail: usize, event: NicEvent) {
        let Some(&(peer, channel)) = self.by_qp.get(&(rail, event.qp)) else {
            return;
        };
        self.with_link(peer, |link, nics, effects| {
            match event.what {
                Happened::Sent { id, status } => link.sent(nics, (channel, id), status, effects),
                Happened::Arrived { immediate, bytes } => {
                    link.arrived(nics, channel, (immediate, bytes), effects);
                }
                Happened::Failed(status) => link.fail_channel(nics, channel, status, effects),
                Happened::Lost => link.fail(nics, LinkError::Lost { channel }, effects),
            }
            true
        });
    }

    /// Gives up a NIC that cannot be polled: its outstanding writes will not end.
    fn lose_nic(&mut self, rail: usize, error: &NicError) {
        let peers: Vec<PeerId> = self.links.keys().copied().collect();
        for peer in peers {
            self.with_link(peer, |link, nics, effects| {
                let error = error.clone();
                link.fail(nics, LinkError::Nic { rail, error }, effects);
                for index in 0..link.channels.len() {
                    if link.channels[index].rail == rail {
                        link.abandon(index, effects);
                    }
                }
                true
            });
        }
    }

    /// Processes the consequences of a link's events.
    pub(super) fn apply(&mut self, peer: PeerId, effects: Vec<Effect>) {
        let mut effects = VecDeque::from(effects);
        while let Some(effect) = effects.pop_front() {
            let done = match effect {
                Effect::Ended { id, pieces, lost } => {
                    self.ended(peer, id, pieces, lost);
                    Ok(())
                }
                Effect::Counted(immediate) => self.counted(immediate),
                Effect::Message {
                    what,
                    number,
                    bytes,
                } => self.received(peer, what, number, bytes),
                Effect::Lost(reason) => {
                    self.lost(PeerLost { peer, reason });
                    Ok(())
                }
            };
            if let (Err(error), Some(link)) = (done, self.links.get_mut(&peer)) {
                let mut more = Vec::new();
                link.fail(&self.nics, error.into(), &mut more);
                effects.extend(more);
            }
        }
    }

    fn counted(&mut self, immediate: u32) -> Result<(), crate::ProtocolError> {
        let reached = self.counters.arrive(immediate);
        if let Some(notify) = reached.map_err(crate::ProtocolError::Unexpected)? {
            self.reached(immediate, notify, Ok(()));
        }
        Ok(())
    }

    /// Writes of a transfer have ended.
    fn ended(&mut self, peer: PeerId, id: TransferId, pieces: u64, lost: bool) {
        let reason = self.links.get(&peer).and_then(Link::lost).cloned();
        let Some(transfer) = self.transfers.get_mut(&id) else {
            return;
        };
        transfer.left -= pieces;
        if let (true, None, Some(reason)) = (lost, &transfer.lost, reason) {
            transfer.lost = Some(PeerLost { peer, reason });
        }
        if transfer.left > 0 {
            return;
        }
        if let Some(transfer) = self.transfers.remove(&id) {
            let result = transfer.lost.map_or(Ok(()), Err);
            self.finish(id, transfer.notify, result);
            self.passed(id);
        }
    }

    /// Reports the end of a transfer or barrier.
    pub(super) fn finish(&mut self, id: TransferId, notify: Notify, result: Result<(), PeerLost>) {
        match notify {
            Notify::Event => self.tell(Event::Done { id, result }),
            Notify::Call(call) => self.ready.push((call, result)),
            Notify::Barrier(barrier) => self.barrier_part(barrier, Part::Told, result),
            Notify::Nobody => {}
        }
    }

    /// Reports the end of an expectation.
    pub(super) fn reached(&mut self, immediate: u32, notify: Notify, result: Result<(), PeerLost>) {
        match notify {
            Notify::Event => self.tell(Event::Reached { immediate, result }),
            Notify::Call(call) => self.ready.push((call, result)),
            Notify::Barrier(barrier) => self.barrier_part(barrier, Part::Heard, result),
            Notify::Nobody => {}
        }
    }

    /// Ends every operation that waits for the peer of a link that has failed.
    fn lost(&mut self, lost: PeerLost) {
        let peer = lost.peer;
        for (immediate, notify) in self.counters.lose(peer) {
            self.reached(immediate, notify, Err(lost.clone()));
        }
        self.requests.retain(|request| request.peer != peer);
        let of_peer = |call: &crate::CallId| call.peer == peer;
        let calls: Vec<_> = self.calls.iter().copied().filter(of_peer).collect();
        for call in calls {
            self.calls.remove(&call);
            let result = Err(lost.clone());
            self.tell(Event::Response { call, result });
        }
        self.tell(Event::Lost(lost));
    }
}
