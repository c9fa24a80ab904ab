//! Errors of the transfer engine.

use std::io;

use stellar_driver::WcStatus;
use thiserror::Error;

use crate::ids::{EngineId, PeerId};
use crate::nic::NicError;

/// An invalid setting of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{field} is {value}; it can be {least} to {most}")]
pub struct ConfigError {
    /// Name of the setting.
    pub field: &'static str,
    /// The setting's value.
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

/// Why an object could not be made.
#[derive(Debug, Error)]
pub enum SetupError {
    /// Invalid settings.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Error of a NIC.
    #[error("NIC {rail}: {error}")]
    Nic {
        /// Number of the NIC, from 0.
        rail: usize,
        /// Its error.
        error: NicError,
    },
    /// The number of regions differs from the number of NICs.
    #[error("{regions} regions for {nics} NICs; register the memory with every one")]
    Regions {
        /// Number of regions.
        regions: usize,
        /// NICs of the engine.
        nics: usize,
    },
    /// The regions belong to different memory.
    #[error("the regions have {first:#x} and {other:#x} bytes; they must be the same memory")]
    Lengths {
        /// Length of the first NIC's region in bytes.
        first: u64,
        /// Length of another NIC's region.
        other: u64,
    },
}

/// Why a peer was not connected.
#[derive(Debug, Error)]
pub enum ConnectError {
    /// Error of a NIC.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The peer has another number of NICs.
    #[error(
        "{engine} offers {theirs} queue pairs, this one {ours}; give both the same number of NICs"
    )]
    Channels {
        /// The peer.
        engine: EngineId,
        /// Number of its queue pairs.
        theirs: usize,
        /// Number of this engine's queue pairs.
        ours: usize,
    },
    /// The offer is invalid.
    #[error("the offer of {engine} cannot be: {reason}")]
    Offer {
        /// The peer.
        engine: EngineId,
        /// The reason.
        reason: String,
    },
    /// The peer is connected already.
    #[error("{0} is connected already; disconnect it first")]
    Connected(EngineId),
    /// The offer is the engine's own.
    #[error("{0} cannot be connected to itself; give every engine an identifier of its own")]
    Itself(EngineId),
}

/// Why [`crate::join`] failed.
#[derive(Debug, Error)]
pub enum JoinError {
    /// The offers were not exchanged.
    #[error(transparent)]
    Exchange(#[from] stellar_driver::ConnectError),
    /// The offers do not match.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// This engine could not make an offer.
    #[error(transparent)]
    Setup(#[from] SetupError),
}

impl From<io::Error> for JoinError {
    fn from(error: io::Error) -> Self {
        Self::Exchange(error.into())
    }
}

/// A violation of the protocol by a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ProtocolError {
    /// It claims to have consumed more than was sent, or less than before.
    #[error("it says to have taken {taken} of the {sent} writes of queue pair {channel}, {before} before")]
    Taken {
        /// Queue pair of the link, from 0.
        channel: usize,
        /// Its total.
        taken: u64,
        /// Number of items sent.
        sent: u64,
        /// Its previous total.
        before: u64,
    },
    /// An invalid message.
    #[error(
        "its message has immediate {immediate:#010x} and {bytes} bytes, which no free slot takes"
    )]
    Message {
        /// Immediate of the write.
        immediate: u32,
        /// Its length.
        bytes: u32,
    },
    /// A response without a request, or a request with a tag that is still open.
    #[error("it uses tag {0:#x} of a request that is not under way, or once more")]
    Tag(u32),
    /// Too many immediates without an expectation.
    #[error("it sent {0} different immediates that nobody expects; expect them, or raise EngineConfig::unexpected")]
    Unexpected(usize),
}

/// Why a link is down.
#[derive(Clone, Debug, Error)]
pub enum LinkError {
    /// A queue pair failed.
    #[error("queue pair {channel} of the link failed ({})", status.map_or("reason unknown", WcStatus::name))]
    QueuePair {
        /// Number of the queue pair in the link, from 0: one for each NIC, then the one for messages.
        channel: usize,
        /// The reason; `None` if it is unknown.
        status: Option<WcStatus>,
    },
    /// A completion was lost.
    #[error("queue pair {channel} of the link lost completions")]
    Lost {
        /// Number of the queue pair.
        channel: usize,
    },
    /// A NIC reported an error.
    #[error("NIC {rail}: {error}")]
    Nic {
        /// Number of the NIC, from 0.
        rail: usize,
        /// Its error.
        error: NicError,
    },
    /// The peer has disconnected.
    #[error("the peer has given the link up")]
    GivenUp,
    /// The peer violated the protocol.
    #[error("the peer breaks the protocol: {0}")]
    Protocol(#[from] ProtocolError),
    /// The application disconnected.
    #[error("it was disconnected")]
    Disconnected,
}

/// A lost peer. Everything that depended on it has ended.
#[derive(Clone, Debug, Error)]
#[error("{peer} is lost: {reason}")]
pub struct PeerLost {
    /// The peer.
    pub peer: PeerId,
    /// The reason.
    pub reason: LinkError,
}

/// Why a call was refused. It had no effect.
#[derive(Debug, Error)]
pub enum SubmitError {
    /// The target belongs to no connected peer.
    #[error("{0} is not connected; connect it first")]
    UnknownEngine(EngineId),
    /// The peer never existed, or was disconnected.
    #[error("{0} is not connected")]
    UnknownPeer(PeerId),
    /// The peer is lost.
    #[error(transparent)]
    Lost(#[from] PeerLost),
    /// The region belongs to another engine.
    #[error("the source belongs to {0}; register memory with the engine that sends it")]
    OtherEngine(EngineId),
    /// A range that is not inside the region.
    #[error("bytes {begin:#x} to {end:#x} do not lie in the {side} region of {have:#x} bytes")]
    Bounds {
        /// Source or target.
        side: &'static str,
        /// Offset of the first byte.
        begin: u64,
        /// Offset behind the last byte.
        end: u64,
        /// Length of the region in bytes.
        have: u64,
    },
    /// The numbers of pages at both ends differ.
    #[error("{source_pages} pages to be written to {target_pages}; give as many as there are")]
    PageCounts {
        /// Pages to read.
        source_pages: usize,
        /// Pages to write.
        target_pages: usize,
    },
    /// Pages without bytes, or target pages that overlap.
    #[error("pages of {bytes} bytes, {stride} apart at the target: {problem}")]
    Pages {
        /// Length of a page in bytes.
        bytes: u32,
        /// Distance between two pages.
        stride: u64,
        /// The reason.
        problem: String,
    },
    /// There is no such NIC, or the target is registered with fewer NICs.
    #[error(
        "NIC {rail} of {have}; NICs are numbered from 0, and a region is registered with each"
    )]
    Rail {
        /// The given number.
        rail: usize,
        /// Number of NICs.
        have: usize,
    },
    /// A write that is too long.
    #[error("a write of {length} bytes; the longest has {most}: use several, or Sharding::Bytes")]
    TooLong {
        /// Its length.
        length: u64,
        /// Longest permitted length.
        most: u64,
    },
    /// The transfer is empty.
    #[error("the transfer has neither bytes nor an immediate")]
    Nothing,
    /// The message is longer than the peer's slots.
    #[error("a message of {length} bytes; the slots of {peer} have {most}")]
    MessageTooLong {
        /// The peer.
        peer: PeerId,
        /// Length of the message.
        length: usize,
        /// Length of a slot.
        most: u32,
    },
    /// Too many outstanding transfers.
    #[error("{0} transfers, messages and barriers are under way, as many as EngineConfig::transfers allows; make progress first")]
    Busy(usize),
    /// There is an expectation for this immediate already.
    #[error("immediate {0:#010x} is expected already; use another, or cancel that")]
    Expected(u32),
    /// An expectation of zero arrivals.
    #[error("no arrivals of immediate {0:#010x} to wait for; expect at least one")]
    NoCount(u32),
    /// A barrier without peers.
    #[error("a barrier with nobody, or with somebody twice; name every peer once")]
    Barrier,
    /// A request that does not exist, or was answered already.
    #[error("{0} has no such request open; a request is answered once")]
    NoRequest(PeerId),
}
