//! Events of a link's queue pairs, and writes of its peer.

use stellar_driver::WcStatus;
use stellar_wire::transfer::MessageImmediate;

use super::{ended, Effect, Link};
use crate::channel::Posted;
use crate::error::{LinkError, ProtocolError};
use crate::nic::{Memory, Nic, NicError};

impl<N: Nic> Link<N> {
    /// Handles the end of a write.
    pub fn sent(
        &mut self,
        nics: &[N],
        (channel, id): (usize, u64),
        status: WcStatus,
        effects: &mut Vec<Effect>,
    ) {
        let lost = status != WcStatus::Success;
        let what = self.channels[channel].end(id);
        if lost {
            self.fail_channel(nics, channel, Some(status), effects);
        }
        let Some(what) = what else { return };
        match what {
            Posted::Taken(about) if !lost => self.channels[about].incoming.told(),
            Posted::Message(_, number) if !lost => self.outbox.end(number),
            Posted::Down => self.stop(nics, channel, effects),
            _ => {}
        }
        ended(what, lost, effects);
    }

    /// Handles a write with immediate that has arrived.
    pub fn arrived(
        &mut self,
        nics: &[N],
        channel: usize,
        (immediate, bytes): (u32, u32),
        effects: &mut Vec<Effect>,
    ) {
        if self.lost.is_some() {
            return;
        }
        if channel != self.messages() {
            self.channels[channel].incoming.take();
            effects.push(Effect::Counted(immediate));
            return;
        }
        match self.read_message(immediate, bytes) {
            Ok(Some(message)) => effects.push(message),
            Ok(None) => {
                let error = ProtocolError::Message { immediate, bytes };
                self.fail(nics, error.into(), effects);
            }
            Err(error) => {
                let rail = self.channels[channel].rail;
                self.fail(nics, LinkError::Nic { rail, error }, effects);
            }
        }
    }

    /// The message that an immediate announces; `None` if it is invalid.
    fn read_message(&mut self, immediate: u32, length: u32) -> Result<Option<Effect>, NicError> {
        let Ok(what) = MessageImmediate::from_word(immediate) else {
            return Ok(None);
        };
        if length > self.ours.slot_bytes {
            return Ok(None);
        }
        let Some(number) = self.inbox.receive(what.slot) else {
            return Ok(None);
        };
        let mut bytes = vec![0; length as usize];
        self.memory.read(self.ours.slot(what.slot), &mut bytes)?;
        Ok(Some(Effect::Message {
            what,
            number,
            bytes,
        }))
    }

    /// Reads the words that the peer has written; returns whether any changed.
    pub fn look(&mut self, nics: &[N], effects: &mut Vec<Effect>) -> bool {
        if self.lost.is_some() {
            return false;
        }
        match self.read_words() {
            Ok(news) => news,
            Err(error) => {
                self.fail(nics, error, effects);
                true
            }
        }
    }

    fn read_words(&mut self) -> Result<bool, LinkError> {
        let word = |memory: &N::Memory, offset: u64| {
            let nic = |error| LinkError::Nic { rail: 0, error };
            memory.read_word(offset).map_err(nic)
        };
        let mut news = false;
        let messages = self.messages();
        for (index, channel) in self.channels.iter_mut().enumerate() {
            let taken = word(&self.memory, self.ours.taken(index as u32))?;
            let outgoing = if index == messages {
                &mut self.outbox.window
            } else {
                &mut channel.outgoing
            };
            let (before, sent) = (outgoing.taken(), outgoing.sent());
            news |= outgoing.learn(taken).ok_or(ProtocolError::Taken {
                channel: index,
                taken,
                sent,
                before,
            })?;
        }
        if word(&self.memory, self.ours.down())? != 0 {
            return Err(LinkError::GivenUp);
        }
        Ok(news)
    }
}
