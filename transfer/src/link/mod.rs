//! An engine's end of its link to a peer: a queue pair for each NIC, and one for messages.

mod arrive;
mod down;
mod post;

use stellar_driver::RemoteRegion;
use stellar_wire::transfer::{ControlBlock, MessageImmediate};

use crate::channel::{Channel, Posted, Queued};
use crate::error::LinkError;
use crate::ids::TransferId;
use crate::messages::{Inbox, Letter, Outbox};
use crate::nic::{Access, Nic, NicError};
use crate::offer::{LinkOffer, Offered};

/// Events of a link for the engine.
pub enum Effect {
    /// Writes of a transfer have ended.
    Ended {
        id: TransferId,
        pieces: u64,
        /// Whether the writes may not have arrived.
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

/// Queue pairs and memory that connect this engine with one peer.
pub struct Link<N: Nic> {
    /// One channel for each NIC, then the channel of messages.
    pub channels: Vec<Channel<N>>,
    /// The memory to which the peer writes.
    ours: ControlBlock,
    memory: N::Memory,
    /// Keeps that memory registered.
    _region: N::Region,
    /// The peer's memory to which this link writes.
    theirs: ControlBlock,
    control: RemoteRegion,
    /// Messages in flight, by slot.
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

    /// The reason, if the link is down.
    pub const fn lost(&self) -> Option<&LinkError> {
        self.lost.as_ref()
    }

    /// The target address of writes without bytes.
    pub const fn control(&self) -> RemoteRegion {
        self.control
    }

    /// Length of the peer's slots in bytes.
    pub const fn slot_bytes(&self) -> u32 {
        self.theirs.slot_bytes
    }

    /// Whether the NICs have finished all of its writes.
    pub fn is_idle(&self) -> bool {
        self.channels.iter().all(|channel| channel.under_way() == 0)
    }

    fn messages(&self) -> usize {
        self.channels.len() - 1
    }

    /// Queues writes.
    pub fn enqueue(&mut self, queued: Queued<N>) {
        self.channels[queued.run.rail].queue.push_back(queued);
    }

    /// Queues a message.
    pub fn enqueue_letter(&mut self, letter: Letter) {
        self.outbox.push(letter);
    }

    /// Frees the slot of a message that the application has consumed.
    pub fn take_message(&mut self, number: u64) {
        let taken = self.inbox.take(number);
        let messages = self.messages();
        self.channels[messages].incoming.take_to(taken);
    }
}

/// Handles the end of a write of a transfer.
fn ended(what: Posted, lost: bool, effects: &mut Vec<Effect>) {
    if let Posted::Piece(id) | Posted::Message(id, _) = what {
        let pieces = 1;
        effects.push(Effect::Ended { id, pieces, lost });
    }
}
