//! BTH opcodes: reliable connection, the unreliable ones seen in captures, congestion notification, and MRC.

#[cfg(feature = "hdl")]
use rust_hdl::prelude::*;

use crate::code_enum::code_enum;
use crate::ext::ExtKind::{self, *};
use crate::record_enum::record_enum;

code_enum! {
    /// BTH opcode (InfiniBand architecture volume 1, section 9.2.1; MRC 1.0 for `Mrc...`).
    pub enum Opcode {
        RcSendFirst = 0x00,
        RcSendMiddle = 0x01,
        RcSendLast = 0x02,
        RcSendLastImm = 0x03,
        RcSendOnly = 0x04,
        RcSendOnlyImm = 0x05,
        RcWriteFirst = 0x06,
        RcWriteMiddle = 0x07,
        RcWriteLast = 0x08,
        RcWriteLastImm = 0x09,
        RcWriteOnly = 0x0a,
        RcWriteOnlyImm = 0x0b,
        RcReadRequest = 0x0c,
        RcReadResponseFirst = 0x0d,
        RcReadResponseMiddle = 0x0e,
        RcReadResponseLast = 0x0f,
        RcReadResponseOnly = 0x10,
        RcAck = 0x11,
        RcAtomicAck = 0x12,
        RcCompareSwap = 0x13,
        RcFetchAdd = 0x14,
        RcSendLastInvalidate = 0x16,
        RcSendOnlyInvalidate = 0x17,
        UcSendFirst = 0x20,
        UcSendMiddle = 0x21,
        UcSendLast = 0x22,
        UcSendLastImm = 0x23,
        UcSendOnly = 0x24,
        UcSendOnlyImm = 0x25,
        UcWriteFirst = 0x26,
        UcWriteMiddle = 0x27,
        UcWriteLast = 0x28,
        UcWriteLastImm = 0x29,
        UcWriteOnly = 0x2a,
        UcWriteOnlyImm = 0x2b,
        UdSendOnly = 0x64,
        UdSendOnlyImm = 0x65,
        /// Congestion notification packet: BECN set, 16 zero bytes of payload.
        Cnp = 0x81,
        MrcWriteFirst = 0xc6,
        MrcWriteMiddle = 0xc7,
        MrcWriteLast = 0xc8,
        MrcWriteLastImm = 0xc9,
        MrcWriteOnly = 0xca,
        MrcWriteOnlyImm = 0xcb,
        MrcAck = 0xd1,
        /// Endpoint request, addressed to QP 2. Its ERTH (16 bytes) has no published layout: it stays in the payload.
        MrcEndpointRequest = 0xd8,
        /// Endpoint response. Its EETH (36 bytes) has no published layout: it stays in the payload.
        MrcEndpointResponse = 0xd9,
        MrcSack = 0xdc,
        MrcNack = 0xdd,
        MrcProbe = 0xde,
    }
}

/// Transport service an opcode belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transport {
    /// Reliable connection.
    Rc,
    /// Unreliable connection.
    Uc,
    /// Unreliable datagram.
    Ud,
    /// Congestion notification.
    Cnp,
    /// OCP multipath reliable connection.
    Mrc,
}

record_enum! {
    /// Place of a packet in its message.
    pub enum Position {
        First,
        Middle,
        Last,
        Only,
    }
}

impl Position {
    /// The packet begins a message.
    pub const fn starts(self) -> bool {
        matches!(self, Self::First | Self::Only)
    }

    /// The packet completes a message.
    pub const fn ends(self) -> bool {
        matches!(self, Self::Last | Self::Only)
    }
}

impl Opcode {
    /// Transport service, from the top three bits.
    pub const fn transport(self) -> Transport {
        match self.code() >> 5 {
            0 => Transport::Rc,
            1 => Transport::Uc,
            3 => Transport::Ud,
            4 => Transport::Cnp,
            _ => Transport::Mrc,
        }
    }

    /// Any MRC packet.
    #[inline]
    pub const fn is_mrc(self) -> bool {
        matches!(self.transport(), Transport::Mrc)
    }

    /// RDMA WRITE of any transport and position, with or without immediate.
    pub const fn is_write(self) -> bool {
        matches!(
            self.transport(),
            Transport::Rc | Transport::Uc | Transport::Mrc
        ) && matches!(self.code() & 0x1f, 0x06..=0x0b)
    }

    /// SEND of any transport and position, with or without immediate or invalidate.
    pub const fn is_send(self) -> bool {
        matches!(
            self.transport(),
            Transport::Rc | Transport::Uc | Transport::Ud
        ) && matches!(self.code() & 0x1f, 0x00..=0x05 | 0x16 | 0x17)
    }

    /// RC READ response.
    pub const fn is_read_response(self) -> bool {
        matches!(self.code(), 0x0d..=0x10)
    }

    /// RC compare-and-swap or fetch-and-add request.
    pub const fn is_atomic(self) -> bool {
        matches!(self, Self::RcCompareSwap | Self::RcFetchAdd)
    }

    /// Travels from responder to requester (acknowledgements of all kinds and read responses).
    pub const fn is_response(self) -> bool {
        self.is_read_response()
            || matches!(
                self,
                Self::RcAck | Self::RcAtomicAck | Self::MrcAck | Self::MrcSack | Self::MrcNack
            )
    }

    /// Tells of packets, or asks for them, and carries no data: RC ACK; MRC Transport ACK, SACK, NACK and probe.
    pub const fn is_control(self) -> bool {
        matches!(
            self,
            Self::RcAck | Self::MrcAck | Self::MrcSack | Self::MrcNack | Self::MrcProbe
        )
    }

    /// MRC data packet, which has METH and RETH and may have TSETH.
    pub const fn is_mrc_data(self) -> bool {
        self.is_mrc() && self.is_write()
    }

    /// Place in a SEND, WRITE or READ response message; `None` for single-packet operations of other kinds.
    #[inline]
    pub const fn position(self) -> Option<Position> {
        if self.is_read_response() {
            return Some(match self {
                Self::RcReadResponseFirst => Position::First,
                Self::RcReadResponseMiddle => Position::Middle,
                Self::RcReadResponseLast => Position::Last,
                _ => Position::Only,
            });
        }
        if !self.is_write() && !self.is_send() {
            return None;
        }
        Some(match self.code() & 0x1f {
            0x00 | 0x06 => Position::First,
            0x01 | 0x07 => Position::Middle,
            0x02 | 0x03 | 0x08 | 0x09 | 0x16 => Position::Last,
            _ => Position::Only,
        })
    }

    /// A packet of this kind may have payload. (CNP has 16 zero bytes; MRC's endpoint packets have headers of unknown
    /// layout, which count as payload here.)
    pub const fn carries_payload(self) -> bool {
        self.is_write()
            || self.is_send()
            || self.is_read_response()
            || matches!(
                self,
                Self::Cnp | Self::MrcEndpointRequest | Self::MrcEndpointResponse
            )
    }

    /// Carries immediate data.
    #[inline]
    pub fn has_imm(self) -> bool {
        self.ext_kinds().contains(&ImmDt)
    }

    /// Carries a RETH.
    pub fn has_reth(self) -> bool {
        self.ext_kinds().contains(&Reth)
    }

    /// Extension headers after the BTH in wire order. The optional TSETH of MRC data packets is not listed:
    /// its presence is a bit of the BTH, its place is after METH.
    #[inline]
    pub const fn ext_kinds(self) -> &'static [ExtKind] {
        match self {
            Self::RcSendLastImm
            | Self::RcSendOnlyImm
            | Self::RcWriteLastImm
            | Self::UcSendLastImm
            | Self::UcSendOnlyImm
            | Self::UcWriteLastImm => &[ImmDt],
            Self::RcWriteFirst
            | Self::RcWriteOnly
            | Self::RcReadRequest
            | Self::UcWriteFirst
            | Self::UcWriteOnly => &[Reth],
            Self::RcWriteOnlyImm | Self::UcWriteOnlyImm => &[Reth, ImmDt],
            Self::RcReadResponseFirst
            | Self::RcReadResponseLast
            | Self::RcReadResponseOnly
            | Self::RcAck
            | Self::MrcAck => &[Aeth],
            Self::RcAtomicAck => &[Aeth, AtomicAckEth],
            Self::RcCompareSwap | Self::RcFetchAdd => &[AtomicEth],
            Self::RcSendLastInvalidate | Self::RcSendOnlyInvalidate => &[Ieth],
            Self::UdSendOnly => &[Deth],
            Self::UdSendOnlyImm => &[Deth, ImmDt],
            Self::MrcWriteFirst
            | Self::MrcWriteMiddle
            | Self::MrcWriteLast
            | Self::MrcWriteOnly => &[Meth, Reth],
            Self::MrcWriteLastImm | Self::MrcWriteOnlyImm => &[Meth, Reth, ImmDt],
            Self::MrcSack => &[Seth, CcState],
            Self::MrcNack => &[Neth],
            Self::MrcProbe => &[Peth],
            Self::RcSendFirst
            | Self::RcSendMiddle
            | Self::RcSendLast
            | Self::RcSendOnly
            | Self::RcWriteMiddle
            | Self::RcWriteLast
            | Self::RcReadResponseMiddle
            | Self::UcSendFirst
            | Self::UcSendMiddle
            | Self::UcSendLast
            | Self::UcSendOnly
            | Self::UcWriteMiddle
            | Self::UcWriteLast
            | Self::Cnp
            | Self::MrcEndpointRequest
            | Self::MrcEndpointResponse => &[],
        }
    }
}
