//! Control packets as records.

use std::net::IpAddr;

use stellar_wire::mrc::{CcState, Entropy, Neth, Peth, Seth};
use stellar_wire::{Aeth, Ecn, ExtHeaders, Ip, Opcode, RoceFrame};

use super::Psn;

/// An RC ACK or an MRC Transport ACK, SACK, NACK or probe, as far as the card that it reaches uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlPacket {
    pub body: ControlBody,
    pub pkey: u16,
    /// 24 bits.
    pub dest_qp: u32,
    pub psn: Psn,
    /// Address of the port it left by.
    pub source: IpAddr,
    /// Entropy value: the path in the fabric.
    pub entropy: Entropy,
    /// Congestion experienced on the inner or the outer IP header.
    pub ecn_ce: bool,
}

/// The extension headers of a control packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlBody {
    /// RC ACK or NAK.
    Ack(Aeth),
    Sack {
        seth: Seth,
        cc: CcState,
    },
    Nack(Neth),
    Probe(Peth),
    /// MRC Transport ACK or NAK.
    TransportAck(Aeth),
}

impl ControlBody {
    /// The opcode that has these headers.
    pub const fn opcode(&self) -> Opcode {
        match self {
            Self::Ack(_) => Opcode::RcAck,
            Self::Sack { .. } => Opcode::MrcSack,
            Self::Nack(_) => Opcode::MrcNack,
            Self::Probe(_) => Opcode::MrcProbe,
            Self::TransportAck(_) => Opcode::MrcAck,
        }
    }

    /// The headers as a set.
    pub fn headers(&self) -> ExtHeaders {
        let mut ext = ExtHeaders::default();
        match *self {
            Self::Ack(aeth) | Self::TransportAck(aeth) => ext.aeth = Some(aeth),
            Self::Sack { seth, cc } => (ext.seth, ext.cc_state) = (Some(seth), Some(cc)),
            Self::Nack(neth) => ext.neth = Some(neth),
            Self::Probe(peth) => ext.peth = Some(peth),
        }
        ext
    }

    /// Whether it is a probe, or the answer to one.
    pub const fn concerns_probe(&self) -> bool {
        match self {
            Self::Probe(_) => true,
            Self::Sack { seth, .. } => seth.probe_response,
            Self::Ack(_) | Self::Nack(_) | Self::TransportAck(_) => false,
        }
    }

    /// Source and destination context. Acknowledgements with an AETH have none.
    pub const fn contexts(&self) -> Option<(u16, u16)> {
        match self {
            Self::Ack(_) | Self::TransportAck(_) => None,
            Self::Sack { seth, .. } => Some((seth.src_context, seth.dst_context)),
            Self::Nack(neth) => Some((neth.src_context, neth.dst_context)),
            Self::Probe(peth) => Some((peth.src_context, peth.dst_context)),
        }
    }
}

impl ControlPacket {
    /// The control packet that a frame is; `None` if it has another opcode, or lacks a header of its opcode.
    pub fn of(frame: &RoceFrame) -> Option<Self> {
        let ext = &frame.ext;
        let body = match frame.bth.opcode {
            Opcode::RcAck => ControlBody::Ack(ext.aeth?),
            Opcode::MrcSack => ControlBody::Sack {
                seth: ext.seth?,
                cc: ext.cc_state?,
            },
            Opcode::MrcNack => ControlBody::Nack(ext.neth?),
            Opcode::MrcProbe => ControlBody::Probe(ext.peth?),
            Opcode::MrcAck => ControlBody::TransportAck(ext.aeth?),
            _ => return None,
        };
        let outer = frame.srv6.map(|outer| outer.ecn);
        Some(Self {
            body,
            pkey: frame.bth.pkey,
            dest_qp: frame.bth.dest_qp,
            psn: Psn::new(frame.bth.psn),
            source: match frame.ip {
                Ip::V4(ip) => IpAddr::V4(ip.src),
                Ip::V6(ip) => IpAddr::V6(ip.src),
            },
            entropy: Entropy::of(&frame.ip, &frame.udp),
            ecn_ce: [Some(frame.ip.ecn()), outer].contains(&Some(Ecn::CongestionExperienced)),
        })
    }
}
