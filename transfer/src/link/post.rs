//! The writes that a link posts.

use stellar_wire::transfer::MessageImmediate;

use super::{ended, Effect, Link};
use crate::channel::{Posted, Posting};
use crate::error::LinkError;
use crate::messages::Letter;
use crate::nic::{Memory, Nic, NicError, Payload};

impl<N: Nic> Link<N> {
    /// Posts everything that may be posted; returns whether there was anything.
    pub fn pump(&mut self, nics: &[N], effects: &mut Vec<Effect>) -> bool {
        let mut posted = false;
        for index in 0..self.channels.len() {
            loop {
                let step = if self.lost.is_some() {
                    Ok(false)
                } else if index == self.messages() {
                    self.post_message(nics, effects)
                } else {
                    self.post_piece(nics, index)
                };
                match step {
                    Ok(true) => posted = true,
                    Ok(false) => break,
                    Err(error) => {
                        let rail = self.channels[index].rail;
                        self.fail(nics, LinkError::Nic { rail, error }, effects);
                        break;
                    }
                }
            }
        }
        posted | self.tell_taken(nics, effects)
    }

    fn post_piece(&mut self, nics: &[N], index: usize) -> Result<bool, NicError> {
        let channel = &mut self.channels[index];
        if !channel.may_post(self.depth) {
            return Ok(false);
        }
        channel.post_piece(&nics[channel.rail])?;
        Ok(true)
    }

    fn post_message(&mut self, nics: &[N], effects: &mut Vec<Effect>) -> Result<bool, NicError> {
        let messages = self.messages();
        if self.channels[messages].under_way() >= self.depth {
            return Ok(false);
        }
        let Some((number, letter)) = self.outbox.pop() else {
            return Ok(false);
        };
        let posted = self.post_letter(&nics[0], number, &letter);
        if posted.is_err() {
            ended(Posted::Message(letter.id, number), true, effects);
        }
        posted.map(|()| true)
    }

    fn post_letter(&mut self, nic: &N, number: u64, letter: &Letter) -> Result<(), NicError> {
        let Letter {
            kind,
            tag,
            bytes,
            id,
        } = letter;
        let slot = self.outbox.slot(number);
        let offset = u64::from(slot) * u64::from(self.theirs.slot_bytes);
        let payload = if bytes.is_empty() {
            Payload::Nothing
        } else {
            self.staging.write(offset, bytes)?;
            Payload::Region {
                region: &self.staged,
                offset,
                length: bytes.len() as u32,
            }
        };
        let what = MessageImmediate {
            kind: *kind,
            slot,
            tag: *tag,
        };
        let posting = Posting {
            what: Posted::Message(*id, number),
            payload,
            to: self.control,
            offset: self.theirs.slot(slot),
            immediate: Some(what.to_word()),
        };
        let messages = self.messages();
        self.channels[messages].post(nic, posting)
    }

    /// Returns credits to the peer, if they are due.
    fn tell_taken(&mut self, nics: &[N], effects: &mut Vec<Effect>) -> bool {
        let mut told = false;
        for index in 0..self.channels.len() {
            let due = self.channels[index].incoming.due();
            let (Some(taken), None) = (due, &self.lost) else {
                continue;
            };
            self.channels[index].incoming.tell(taken);
            let what = Posted::Taken(index);
            if let Err(error) = self.post_word(nics, self.messages(), what, taken) {
                self.fail(nics, LinkError::Nic { rail: 0, error }, effects);
            }
            told = true;
        }
        told
    }

    /// Writes a word of the peer's control block, over a queue pair of the first NIC.
    pub(super) fn post_word(
        &mut self,
        nics: &[N],
        channel: usize,
        what: Posted,
        word: u64,
    ) -> Result<(), NicError> {
        let offset = match what {
            Posted::Taken(about) => self.theirs.taken(about as u32),
            _ => self.theirs.down(),
        };
        let posting = Posting {
            what,
            payload: Payload::Word(word),
            to: self.control,
            offset,
            immediate: None,
        };
        self.channels[channel].post(&nics[0], posting)
    }
}
