//! The end of a link.

use stellar_driver::WcStatus;

use super::{ended, Effect, Link};
use crate::channel::Posted;
use crate::error::LinkError;
use crate::nic::Nic;

impl<N: Nic> Link<N> {
    /// Handles the failure of a queue pair.
    pub fn fail_channel(
        &mut self,
        nics: &[N],
        channel: usize,
        status: Option<WcStatus>,
        effects: &mut Vec<Effect>,
    ) {
        self.channels[channel].alive = false;
        self.fail(nics, LinkError::QueuePair { channel, status }, effects);
    }

    /// Takes the link down: waiting work ends, the peer is notified if possible, posted writes end.
    pub fn fail(&mut self, nics: &[N], error: LinkError, effects: &mut Vec<Effect>) {
        if self.lost.is_some() {
            return;
        }
        let tells = !matches!(error, LinkError::GivenUp);
        self.lost = Some(error.clone());
        effects.push(Effect::Lost(error));
        let waiting = self.channels.iter_mut().flat_map(|c| c.queue.drain(..));
        let waiting = waiting.map(|queued| (queued.transfer, queued.left()));
        let letters = self.outbox.drain().map(|letter| (letter.id, 1));
        for (id, pieces) in waiting.chain(letters) {
            let lost = true;
            effects.push(Effect::Ended { id, pieces, lost });
        }
        let teller = tells.then(|| self.tell_down(nics)).flatten();
        for index in 0..self.channels.len() {
            if Some(index) != teller {
                self.stop(nics, index, effects);
            }
        }
    }

    /// Notifies the peer; returns the queue pair that carries the notification.
    fn tell_down(&mut self, nics: &[N]) -> Option<usize> {
        // The control block is registered with the first NIC.
        [self.messages(), 0].into_iter().find(|&channel| {
            self.channels[channel].alive && self.post_word(nics, channel, Posted::Down, 1).is_ok()
        })
    }

    /// Stops a queue pair.
    pub(super) fn stop(&mut self, nics: &[N], index: usize, effects: &mut Vec<Effect>) {
        let channel = &mut self.channels[index];
        if !std::mem::replace(&mut channel.alive, false) {
            return;
        }
        if nics[channel.rail].stop(&channel.qp).is_err() {
            self.abandon(index, effects);
        }
    }

    /// Gives up a NIC that is unusable: its outstanding writes will not end by themselves.
    pub fn abandon(&mut self, index: usize, effects: &mut Vec<Effect>) {
        for what in self.channels[index].abandon() {
            ended(what, true, effects);
        }
    }
}
