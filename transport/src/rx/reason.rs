//! Why a frame is not placed.

use std::fmt;

/// Why a frame or packet was not placed. The order is the hardware's, and the index of the reason's counter.
///
/// [`DropReason::ALL`] lists them; precedence among them is not this order but that of the checks
/// (`docs/rx_lane.md`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum DropReason {
    /// Not dropped.
    #[default]
    None,
    /// The MAC flagged an error on the frame.
    MacError,
    /// The receive buffer had no room. Never found here: the reference has room for every frame.
    BufferFull,
    /// EtherType, IP version, next header or protocol is not ours, or the packet is a fragment or has IP options.
    NotRoce,
    /// IPv4 header checksum.
    BadIpChecksum,
    /// IP, UDP and frame length disagree, or the frame ends inside its headers.
    BadLength,
    /// UDP destination port is not the configured one.
    WrongUdpPort,
    /// Invariant CRC.
    BadIcrc,
    /// Opcode that the receive lane does not execute, or BTH transport version other than 0. An RC request among them is refused with a NAK when
    /// its turn comes.
    UnsupportedOpcode,
    /// No such queue pair.
    UnknownQp,
    /// Queue pair not ready to receive, or in error.
    WrongState,
    /// RC opcode on an MRC queue pair, or the other way round.
    WrongMode,
    /// Partition key.
    BadPkey,
    /// Payload, pad or message length breaks a rule.
    BadPayloadLength,
    /// RC: middle or last without first, or first inside a message.
    BadSequence,
    /// RC: PSN ahead of the expected one.
    PsnGap,
    /// Already received.
    Duplicate,
    /// MRC: PSN ahead of the window.
    PsnOutsideWindow,
    /// R_Key unknown or stale.
    BadKey,
    /// Region of another protection domain.
    WrongPd,
    /// Region or queue pair does not allow remote writes.
    NoWriteRight,
    /// Addresses not inside the region.
    OutOfBounds,
    /// A page of the range has no valid translation.
    InvalidPage,
    /// Control packet from the queue pair's peer, with nothing to place. This and the following are found only by lanes with a control path; for
    /// others a control packet is an [`Self::UnsupportedOpcode`].
    Control,
    /// Control packet that does not come from the queue pair's peer.
    ControlForeign,
    /// Control packet for a queue pair without a peer.
    ControlUnknownQp,
    /// Control packet that found its FIFO full. Never found here.
    ControlLost,
    /// A page of an on-demand region has no translation yet. Over MRC the packet counts as lost; over RC this is an error like
    /// [`Self::InvalidPage`].
    PageAbsent,
}

impl DropReason {
    /// Every reason, in order of index.
    pub const ALL: [Self; 28] = [
        Self::None,
        Self::MacError,
        Self::BufferFull,
        Self::NotRoce,
        Self::BadIpChecksum,
        Self::BadLength,
        Self::WrongUdpPort,
        Self::BadIcrc,
        Self::UnsupportedOpcode,
        Self::UnknownQp,
        Self::WrongState,
        Self::WrongMode,
        Self::BadPkey,
        Self::BadPayloadLength,
        Self::BadSequence,
        Self::PsnGap,
        Self::Duplicate,
        Self::PsnOutsideWindow,
        Self::BadKey,
        Self::WrongPd,
        Self::NoWriteRight,
        Self::OutOfBounds,
        Self::InvalidPage,
        Self::Control,
        Self::ControlForeign,
        Self::ControlUnknownQp,
        Self::ControlLost,
        Self::PageAbsent,
    ];

    /// Counter index and hardware code.
    pub const fn index(self) -> u8 {
        self as u8
    }

    /// Found in the frame or against its queue pair's static context: dropped without an answer.
    pub const fn is_silent(self) -> bool {
        let index = self.index();
        !matches!(self, Self::None)
            && (index <= Self::BadPkey.index() || index >= Self::Control.index())
    }
}

impl fmt::Display for DropReason {
    /// The name of the variant, as reports and counters print it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
