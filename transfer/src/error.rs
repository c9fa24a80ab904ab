//! What can go wrong.

use std::io;

use stellar_driver::WcStatus;
use thiserror::Error;

use crate::ids::{EngineId, PeerId};
use crate::nic::NicError;

/// An engine that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{field} is {value}; it can be {least} to {most}")]
pub struct ConfigError {
    /// Which setting.
    pub field: &'static str,
    /// Its value.
    pub value: u64,
    /// Smallest.
    pub least: u64,
    /// Largest.
    pub most: u64,
}

impl ConfigError {
    pub(crate) fn check(
        field: &'static str,
        value: u64,
        least: u64,
        most: u64,
    ) -> Result<(), Self> {
        if (least..=most).contains(&value) {
            Ok(())
        } else {
            Err(Self {
                field,
                value,
                least,
                most,
            })
        }
    }
}

/// Why something was not set up.
#[derive(Debug, Error)]
pub enum SetupError {
    /// Settings.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A NIC.
    #[error("NIC {rail}: {error}")]
    Nic {
        /// Which, from 0.
        rail: usize,
        /// What it says.
        error: NicError,
    },
    /// Not one region for each NIC.
    #[error("{regions} regions for {nics} NICs; register the memory with every one")]
    Regions {
        /// Given.
        regions: usize,
        /// NICs of the engine.
        nics: usize,
    },
    /// The regions are of different memory.
    #[error("the regions have {first:#x} and {other:#x} bytes; they must be the same memory")]
    Lengths {
        /// Bytes with the first NIC.
        first: u64,
        /// Bytes with another.
        other: u64,
    },
}

/// Why a peer was not connected.
#[derive(Debug, Error)]
pub enum ConnectError {
    /// A NIC.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The peer has another number of NICs.
    #[error(
        "{engine} offers {theirs} queue pairs, this one {ours}; give both the same number of NICs"
    )]
    Channels {
        /// Who.
        engine: EngineId,
        /// Its queue pairs.
        theirs: usize,
        /// Those of this engine.
        ours: usize,
    },
    /// The offer cannot be.
    #[error("the offer of {engine} cannot be: {reason}")]
    Offer {
        /// Who.
        engine: EngineId,
        /// Why.
        reason: String,
    },
    /// It is connected.
    #[error("{0} is connected already; disconnect it first")]
    Connected(EngineId),
    /// Its own offer.
    #[error("{0} cannot be connected to itself; give every engine an identifier of its own")]
    Itself(EngineId),
}

/// Why [`crate::join`] failed.
#[derive(Debug, Error)]
pub enum JoinError {
    /// The offers were not exchanged.
    #[error(transparent)]
    Exchange(#[from] stellar_driver::ConnectError),
    /// They do not fit.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// This engine made none.
    #[error(transparent)]
    Setup(#[from] SetupError),
}

impl From<io::Error> for JoinError {
    fn from(error: io::Error) -> Self {
        Self::Exchange(error.into())
    }
}

/// What a peer did that no engine does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ProtocolError {
    /// More than was sent, or less than before.
    #[error("it says to have taken {taken} of the {sent} writes of queue pair {channel}, {before} before")]
    Taken {
        /// Queue pair of the link, from 0.
        channel: usize,
        /// What it says.
        taken: u64,
        /// What was sent.
        sent: u64,
        /// What it said before.
        before: u64,
    },
    /// A message that is none.
    #[error(
        "its message has immediate {immediate:#010x} and {bytes} bytes, which no free slot takes"
    )]
    Message {
        /// Of the write.
        immediate: u32,
        /// Its length.
        bytes: u32,
    },
    /// A response to nothing, or a request that is open.
    #[error("it uses tag {0:#x} of a request that is not under way, or once more")]
    Tag(u32),
    /// Too many immediates that nobody expects.
    #[error("it sent {0} different immediates that nobody expects; expect them, or raise EngineConfig::unexpected")]
    Unexpected(usize),
}

/// Why a link is down.
#[derive(Clone, Debug, Error)]
pub enum LinkError {
    /// A queue pair failed.
    #[error("queue pair {channel} of the link failed ({})", status.map_or("reason unknown", WcStatus::name))]
    QueuePair {
        /// Which of the link, from 0: one for each NIC, then that of messages.
        channel: usize,
        /// Why; `None` for a reason nobody gave.
        status: Option<WcStatus>,
    },
    /// A completion was lost.
    #[error("queue pair {channel} of the link lost completions")]
    Lost {
        /// Which.
        channel: usize,
    },
    /// A NIC does not do what it should.
    #[error("NIC {rail}: {error}")]
    Nic {
        /// Which, from 0.
        rail: usize,
        /// What it says.
        error: NicError,
    },
    /// The peer says so.
    #[error("the peer has given the link up")]
    GivenUp,
    /// The peer does what no engine does.
    #[error("the peer breaks the protocol: {0}")]
    Protocol(#[from] ProtocolError),
    /// The application wanted it.
    #[error("it was disconnected")]
    Disconnected,
}

/// A peer that is gone; what depended on it has ended.
#[derive(Clone, Debug, Error)]
#[error("{peer} is lost: {reason}")]
pub struct PeerLost {
    /// Who.
    pub peer: PeerId,
    /// Why.
    pub reason: LinkError,
}

/// Why something was not submitted. Nothing has happened then.
#[derive(Debug, Error)]
pub enum SubmitError {
    /// The target is nobody's that is connected.
    #[error("{0} is not connected; connect it first")]
    UnknownEngine(EngineId),
    /// There never was such a peer, or it was disconnected.
    #[error("{0} is not connected")]
    UnknownPeer(PeerId),
    /// It is gone.
    #[error(transparent)]
    Lost(#[from] PeerLost),
    /// The region belongs to another engine.
    #[error("the source belongs to {0}; register memory with the engine that sends it")]
    OtherEngine(EngineId),
    /// Not all in the region.
    #[error("bytes {begin:#x} to {end:#x} do not lie in the {side} region of {have:#x} bytes")]
    Bounds {
        /// Source or target.
        side: &'static str,
        /// First byte.
        begin: u64,
        /// Behind the last byte.
        end: u64,
        /// Bytes of the region.
        have: u64,
    },
    /// Not as many pages at both ends.
    #[error("{source_pages} pages to be written to {target_pages}; give as many as there are")]
    PageCounts {
        /// Read.
        source_pages: usize,
        /// Written.
        target_pages: usize,
    },
    /// Pages of no bytes, or that overlap where they are written.
    #[error("pages of {bytes} bytes, {stride} apart at the target: {problem}")]
    Pages {
        /// Bytes of a page.
        bytes: u32,
        /// From page to page.
        stride: u64,
        /// What is wrong.
        problem: String,
    },
    /// There is no such NIC, or the target is registered with fewer.
    #[error(
        "NIC {rail} of {have}; NICs are numbered from 0, and a region is registered with each"
    )]
    Rail {
        /// Asked for.
        rail: usize,
        /// How many there are.
        have: usize,
    },
    /// A write of too many bytes.
    #[error("a write of {length} bytes; the longest has {most}: use several, or Sharding::Bytes")]
    TooLong {
        /// Asked for.
        length: u64,
        /// Longest.
        most: u64,
    },
    /// Nothing to do.
    #[error("the transfer has neither bytes nor an immediate")]
    Nothing,
    /// Longer than the peer's slots.
    #[error("a message of {length} bytes; the slots of {peer} have {most}")]
    MessageTooLong {
        /// To whom.
        peer: PeerId,
        /// Asked for.
        length: usize,
        /// Bytes of a slot.
        most: u32,
    },
    /// Too much under way.
    #[error("{0} transfers, messages and barriers are under way, as many as EngineConfig::transfers allows; make progress first")]
    Busy(usize),
    /// Somebody waits for this immediate.
    #[error("immediate {0:#010x} is expected already; use another, or cancel that")]
    Expected(u32),
    /// Waiting for nothing.
    #[error("no arrivals of immediate {0:#010x} to wait for; expect at least one")]
    NoCount(u32),
    /// A barrier of one.
    #[error("a barrier with nobody, or with somebody twice; name every peer once")]
    Barrier,
    /// A request that nobody made, or was answered.
    #[error("{0} has no such request open; a request is answered once")]
    NoRequest(PeerId),
}
