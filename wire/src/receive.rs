//! What the receive lane decides about a packet.

use std::fmt;

#[cfg(feature = "hdl")]
use rust_hdl::prelude::*;

use crate::record_enum::record_enum;

record_enum! {
    /// Why a frame or packet was not placed. One counter each (`docs/rx_lane.md`); the order is the index of the counter.
    ///
    /// Precedence among the reasons is not this order but that of the checks.
    pub enum DropReason {
        /// The packet was not dropped.
        None,
        /// The MAC flagged an error (FCS, framing) on the frame.
        MacError,
        /// The receive buffer had no room: the whole frame was dropped. The reference has room for every frame.
        BufferFull,
        /// Not RoCEv2: EtherType, outer next header, or IP protocol is not ours (ARP, TCP, IPv6 extension headers, IPv4 options).
        NotRoce,
        /// IPv4 header checksum.
        BadIpChecksum,
        /// IP total length, UDP length and frame length disagree, or the frame ends inside its headers.
        BadLength,
        /// UDP destination port is not the configured one (4791).
        WrongUdpPort,
        /// Invariant CRC.
        BadIcrc,
        /// Opcode that the receive lane does not execute (SEND, READ, atomics, ACK, CNP ...), or BTH transport version not 0. An RC request among
        /// them is refused with a NAK when its turn comes.
        UnsupportedOpcode,
        /// Destination QP number out of range, or its context was never written.
        UnknownQp,
        /// QP not ready to receive, or in error.
        WrongState,
        /// Opcode family does not fit the QP's mode (RC opcode on an MRC QP or the other way round).
        WrongMode,
        /// P_Key mismatch.
        BadPkey,
        /// Payload length breaks a rule: middle not equal to the path MTU, last or only beyond it, DMALen disagrees, pad without need.
        BadPayloadLength,
        /// RC opcode sequence (middle or last without first, first inside a message).
        BadSequence,
        /// RC: PSN ahead of the expected one (a gap). NAK sequence error.
        PsnGap,
        /// RC or MRC: already received. Acknowledged again, not placed again.
        Duplicate,
        /// MRC: PSN outside the receive window. NACK.
        PsnOutsideWindow,
        /// R_Key unknown, stale or of an invalid region.
        BadKey,
        /// Region belongs to another protection domain.
        WrongPd,
        /// Region or QP does not allow remote writes.
        NoWriteRight,
        /// Address range not inside the region.
        OutOfBounds,
        /// An eMTT entry of the range is invalid.
        InvalidPage,
        /// Control packet (RC ACK, MRC SACK, NACK, probe) from the queue pair's peer: handed to the requester, or answered. It has nothing to place.
        /// This and the following three are found only by lanes with a control path; for others a control packet is an
        /// [`Self::UnsupportedOpcode`].
        Control,
        /// Control packet that does not come from the queue pair's peer.
        ControlForeign,
        /// Control packet for a queue pair without a [peer](crate::rows::PeerRow).
        ControlUnknownQp,
        /// Control packet that found its FIFO full. The reference has room for every one.
        ControlLost,
        /// A page of an on-demand region has no translation yet. Over MRC the packet counts as lost; over RC this is an [`Self::InvalidPage`].
        PageAbsent,
        /// Piece of a larger packet: IPv4 UDP with more-fragments flag or fragment offset, or an IPv6 fragment header. RoCEv2 senders do not
        /// fragment, so if this counter rises, a router on the path has an MTU that is too small for the queue pairs'.
        IpFragment,
        /// The destination MAC or IP address is not the port's own: a switch floods, or a sender has an old address. Covered by the invariant CRC as far
        /// as it is the IP address, so a damaged one is [`Self::BadIcrc`]. Only ports with an address find it.
        ForeignDestination,
        /// RDMA request whose source IP address is none of its queue pair's [peer](crate::rows::PeerRow). Found only by lanes with a control path.
        ForeignSource,
    }
}

impl DropReason {
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

record_enum! {
    /// Where the PSN of an RC packet is, seen from the expected one. MRC packets pass with `NotRc`.
    pub enum RcClass {
        NotRc,
        /// PSN is the expected one.
        Expected,
        /// PSN is behind the expected one.
        Duplicate,
        /// PSN is ahead of the expected one: first packet since the gap opened, to be answered by a NAK.
        Gap,
        /// The PSN is beyond the expected one, as for `Gap`, but a NAK has already been requested.
        GapAgain,
    }
}

record_enum! {
    /// Kind of acknowledgement.
    pub enum AckKind {
        /// RC ACK: AETH with syndrome and MSN.
        Ack,
        /// RC NAK: AETH with syndrome (0x60 PSN sequence error, 0x61 invalid request, 0x62 remote access error).
        Nak,
        /// MRC SACK: SETH with cumulative PSN and bitmap.
        Sack,
        /// MRC NACK: NETH with a reason (11 PSN outside window, 25 unexpected event).
        Nack,
    }
}
