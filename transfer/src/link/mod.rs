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
}

/// A write of a transfer has ended.
fn ended(what: Posted, lost: bool, effects: &mut Vec<Effect>) {
    if let Posted::Piece(id) | Posted::Message(id, _) = what {
        let pieces = 1;
        effects.push(Effect::Ended { id, pieces, lost });
    }
}
