//! What the front of the receive pipeline says about a frame.

use rust_hdl::prelude::*;

/// Why a frame or packet was not placed. One counter each (`docs/rx_lane.md`); the order is the counter index.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum DropReason {
    /// Not dropped.
    None,
    /// The MAC flagged an error (FCS, framing) on the frame.
    MacError,
    /// The receive buffer had no room: the whole frame was dropped.
    BufferFull,
    /// Not RoCEv2: EtherType, outer next header, or IP protocol is not ours (ARP, TCP, IPv6 extension headers, fragments, IPv4 options).
    NotRoce,
    /// IPv4 header checksum.
    BadIpChecksum,
    /// IP total length, UDP length and frame length disagree, or the frame ends inside its headers.
    BadLength,
    /// UDP destination port is not the configured one (4791).
    WrongUdpPort,
    /// Invariant CRC.
    BadIcrc,
    /// Opcode that the receive lane does not execute (SEND, READ, atomics, ACK, CNP ...), or BTH transport version not 0.
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
    /// MRC: PSN outside the window of 1,024 packets. NACK.
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
    Control,
    /// Control packet that does not come from the queue pair's peer.
    ControlForeign,
    /// Control packet for a queue pair without a [peer](super::control::ControlPeer).
    ControlUnknownQp,
    /// Control packet that found its FIFO full.
    ControlLost,
    /// A page of an on-demand region has no translation yet. Over MRC the packet counts as lost; over RC this is an `InvalidPage`.
    PageAbsent,
}

/// Message position of a packet.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Position {
    First,
    Middle,
    Last,
    Only,
}

/// Parsed headers of one frame, from the IP header to the last extension header. Made by `parse`.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct PacketHeaders {
    /// First reason found by the parser, `None` if the headers are good.
    pub reason: DropReason,
    /// MRC opcode (C6-CB, DE); otherwise RC.
    pub mrc: Bit,
    /// RC request the lane does not execute (SEND, READ, atomics): refused when its turn comes. Its payload is not looked at.
    pub refused: Bit,
    /// MRC probe: answered with where the window stands, in order with packets. `timestamp` is PETH's.
    pub probe: Bit,
    pub position: Position,
    pub has_immediate: Bit,
    /// RETH present (every MRC packet; RC first and only).
    pub has_reth: Bit,
    pub has_timestamp: Bit,
    pub ack_req: Bit,
    pub solicited: Bit,
    /// MRC RTX bit.
    pub retransmission: Bit,
    pub pkey: Bits<16>,
    pub dest_qp: Bits<24>,
    pub psn: Bits<24>,
    /// RETH.VA, R_Key, DMALen; zero without RETH.
    pub va: Bits<64>,
    pub rkey: Bits<32>,
    pub dma_length: Bits<32>,
    pub immediate: Bits<32>,
    /// METH.MSN and METH.RQMSN (MRC); in a probe, `msn` is its identifier.
    pub msn: Bits<16>,
    pub rqmsn: Bits<16>,
    /// TSETH transmit timestamp.
    pub timestamp: Bits<16>,
    /// Congestion experienced on the inner or the outer IP header.
    pub ecn_ce: Bit,
    /// Entropy value: UDP source port, and for IPv6 the low 16 bits of the flow label above it.
    pub entropy: Bits<32>,
    /// Byte offset of the payload from the start of the IP header.
    pub payload_offset: Bits<8>,
    /// Payload bytes without pad.
    pub payload_length: Bits<14>,
}
