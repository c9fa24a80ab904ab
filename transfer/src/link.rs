//! An engine's end of its link to a peer: a queue pair for each NIC, and one for messages.

use stellar_driver::{RemoteRegion, WcStatus};
use stellar_wire::transfer::{ControlBlock, MessageImmediate};

use crate::channel::{Channel, Posted, Posting, Queued};
use crate::error::{LinkError, ProtocolError};
use crate::ids::TransferId;
use crate::messages::{Inbox, Letter, Outbox};
use crate::nic::{Access, Memory, Nic, NicError, Payload};
use crate::offer::{LinkOffer, Offered};

/// What the engine has to hear of.
pub enum Effect {
    /// Writes of a transfer have ended.
    Ended {
        id: TransferId,
        pieces: u64,
        /// They may not have arrived.
        lost: bool,
    },
    /// A write with this immediate has arrived.
    Counted(u32),
    /// A message, with its number.
    Message {
        what: MessageImmediate,
        number: u64,
        bytes: Vec<u8>,
    },
    /// The link has gone down.
    Lost(LinkError),
}

/// A link.
pub struct Link<N: Nic> {
    /// One for each NIC, then that of messages.
    pub channels: Vec<Channel<N>>,
    /// What the peer writes here.
    ours: ControlBlock,
    memory: N::Memory,
    /// Keeps it registered.
    _region: N::Region,
    /// What is written there.
    theirs: ControlBlock,
    control: RemoteRegion,
    /// Messages on their way, by slot.
    staging: N::Memory,
    staged: N::Region,
    outbox: Outbox,
    inbox: Inbox,
    depth: usize,
    lost: Option<LinkError>,
}

impl<N: Nic> Link<N> {
    /// Memory for messages to the peer, on the first NIC.
    pub fn stage(
        nic: &N,
        theirs: &LinkOffer<N::Address>,
    ) -> Result<(N::Memory, N::Region), NicError> {
        let memory = nic.allocate(u64::from(theirs.slots) * u64::from(theirs.slot_bytes))?;
        let region = nic.register(&memory, Access::Local)?;
        Ok((memory, region))
    }

    /// A link whose queue pairs are connected.
    pub fn new(
        offered: Offered<N>,
        theirs: &LinkOffer<N::Address>,
        (staging, staged): (N::Memory, N::Region),
        depth: usize,
    ) -> Self {
        let mine = offered.offer;
        let messages = offered.qps.len() - 1;
        let channels = offered.qps.into_iter().enumerate().map(|(index, qp)| {
            if index == messages {
                Channel::new(0, qp, theirs.slots.into(), mine.slots.into())
            } else {
                Channel::new(index, qp, theirs.immediates.into(), mine.immediates.into())
            }
        });
        Self {
            channels: channels.collect(),
            ours: mine.block(),
            memory: offered.memory,
            _region: offered.region,
            theirs: theirs.block(),
            control: theirs.control,
            staging,
            staged,
            outbox: Outbox::new(theirs.slots),
            inbox: Inbox::new(mine.slots),
            depth,
            lost: None,
        }
    }

    /// Why it is down.
    pub const fn lost(&self) -> Option<&LinkError> {
        self.lost.as_ref()
    }

    /// What writes without bytes are addressed to.
    pub const fn control(&self) -> RemoteRegion {
        self.control
    }

    /// Bytes of the peer's slots.
    pub const fn slot_bytes(&self) -> u32 {
        self.theirs.slot_bytes
    }

    /// Whether the NICs owe it nothing any more.
    pub fn is_idle(&self) -> bool {
        self.channels.iter().all(|channel| channel.under_way() == 0)
    }

    fn messages(&self) -> usize {
        self.channels.len() - 1
    }

    /// Writes to be posted when their turn comes.
    pub fn enqueue(&mut self, queued: Queued<N>) {
        self.channels[queued.run.rail].queue.push_back(queued);
    }

    /// A message, likewise.
    pub fn enqueue_letter(&mut self, letter: Letter) {
        self.outbox.push(letter);
    }

    /// The application takes a message, so that its slot is free.
    pub fn take_message(&mut self, number: u64) {
        let taken = self.inbox.take(number);
        let messages = self.messages();
        self.channels[messages].incoming.take_to(taken);
    }

    /// A write has ended.
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

    /// A write with immediate has arrived.
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

    /// The message behind an immediate; `None` if there can be none.
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

    /// Looks at what the peer has written; whether there was news.
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

    /// Posts what may be posted; whether there was anything.
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

    /// Tells the peer how much has been taken, where that is due.
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
    fn post_word(
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

    /// A queue pair has failed.
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

    /// Takes the link down: what waits has ended, the peer is told if that can be, what is posted ends.
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

    /// Tells the peer; returns the queue pair that does.
    fn tell_down(&mut self, nics: &[N]) -> Option<usize> {
        // The control block is registered with the first NIC.
        [self.messages(), 0].into_iter().find(|&channel| {
            self.channels[channel].alive && self.post_word(nics, channel, Posted::Down, 1).is_ok()
        })
    }

    /// Takes a queue pair out of service.
    fn stop(&mut self, nics: &[N], index: usize, effects: &mut Vec<Effect>) {
        let channel = &mut self.channels[index];
        if !std::mem::replace(&mut channel.alive, false) {
            return;
        }
        if nics[channel.rail].stop(&channel.qp).is_err() {
            self.abandon(index, effects);
        }
    }

    /// A NIC has gone: what it was to do will not end by itself.
    pub fn abandon(&mut self, index: usize, effects: &mut Vec<Effect>) {
        for what in self.channels[index].abandon() {
            ended(what, true, effects);
        }
    }
}

fn ended(what: Posted, lost: bool, effects: &mut Vec<Effect>) {
    if let Posted::Piece(id) | Posted::Message(id, _) = what {
        let pieces = 1;
        effects.push(Effect::Ended { id, pieces, lost });
    }
}
