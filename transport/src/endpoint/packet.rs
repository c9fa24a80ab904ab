//! Packets as records: what the other side sees of a frame, without its bytes.

use stellar_wire::UsidContainer;

use crate::requester::SackView;
use crate::rx::{ControlBody, ControlPacket, PacketHeaders};

/// A packet between two cards. Its payload is not there: no decision depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packet {
    /// An RDMA WRITE packet.
    Data(PacketHeaders),
    Control(ControlPacket),
}

impl Packet {
    /// Destination queue pair, 24 bits.
    #[inline]
    pub const fn dest_qp(&self) -> u32 {
        match self {
            Self::Data(headers) => headers.dest_qp,
            Self::Control(control) => control.dest_qp,
        }
    }

    /// Entropy value: with the port, its path in the fabric.
    #[inline]
    pub const fn entropy(&self) -> stellar_wire::mrc::Entropy {
        match self {
            Self::Data(headers) => headers.entropy,
            Self::Control(control) => control.entropy,
        }
    }

    /// PSN of its BTH.
    pub const fn psn(&self) -> crate::rx::Psn {
        match self {
            Self::Data(headers) => headers.psn,
            Self::Control(control) => control.psn,
        }
    }

    /// The packet that it is about: itself, or the one that it answers.
    pub const fn subject(&self) -> crate::rx::Psn {
        match self {
            Self::Control(ControlPacket {
                body: ControlBody::Sack { seth, .. },
                ..
            }) => SackView::of(seth).acked,
            _ => self.psn(),
        }
    }

    /// Whether it is sent like data: with the data code point, and ECN-capable. Data packets and probes are; acknowledgements are not.
    #[inline]
    pub const fn is_like_data(&self) -> bool {
        match self {
            Self::Data(_) => true,
            Self::Control(control) => matches!(control.body, ControlBody::Probe(_)),
        }
    }

    /// Bytes of payload and pad: what a switch that trims the packet cuts from the frame.
    #[inline]
    pub fn payload_and_pad(&self) -> u16 {
        match self {
            Self::Data(headers) => headers.payload_length.next_multiple_of(4),
            Self::Control(_) => 0,
        }
    }
}

/// A packet that leaves a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// The queue pair that sends it; [`Endpoint::peer`](super::Endpoint::peer) has its destination.
    pub qp: u32,
    /// Bytes of its frame, from the destination MAC address to the iCRC.
    pub frame_length: u16,
    /// Path of the outer header, if the queue pair encapsulates.
    pub outer: Option<UsidContainer>,
    pub packet: Packet,
}

/// What the fabric did to a packet on its way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transit {
    /// A switch marked it: congestion experienced. Only packets that are [like data](Packet::is_like_data) can be.
    pub marked: bool,
    /// A switch cut its payload. Its iCRC is wrong then, and the receiver drops it.
    pub trimmed: bool,
}
