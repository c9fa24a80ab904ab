//! Control packets: how they differ from data, and whether they come from the peer.

use stellar_wire::ethernet::{ETHERTYPE_IPV4, ETHERTYPE_IPV6, ETHERTYPE_VLAN};
use stellar_wire::ip::{PROTO_IPV4, PROTO_IPV6};
use stellar_wire::{Ecn, Ethernet, Header, Ipv4, Ipv6, Opcode, RoceFrame, Udp, Vlan};

use super::qp::QueuePair;
use crate::rx::ControlPeer;

/// Whether a frame has the opcode of a control packet (RC ACK, MRC SACK, NACK, probe) at the place of the BTH. The transmit side and the responder
/// process control packets; all other frames go to the receive lane. Only the opcode is read here, and the frame is parsed and checked later.
pub(super) fn looks_like_control(frame: &[u8]) -> bool {
    opcode_of(frame).is_some_and(|opcode| {
        matches!(
            opcode,
            Opcode::RcAck | Opcode::MrcSack | Opcode::MrcNack | Opcode::MrcProbe
        )
    })
}

fn opcode_of(frame: &[u8]) -> Option<Opcode> {
    let ethertype_at = |at: usize| Some(u16::from_be_bytes([*frame.get(at)?, *frame.get(at + 1)?]));
    let mut at = Ethernet::LEN;
    let mut ethertype = ethertype_at(at - 2)?;
    if ethertype == ETHERTYPE_VLAN {
        at += Vlan::LEN;
        ethertype = ethertype_at(at - 2)?;
    }
    if ethertype == ETHERTYPE_IPV6 {
        let inner = match *frame.get(at + 6)? {
            PROTO_IPV4 => Some(ETHERTYPE_IPV4),
            PROTO_IPV6 => Some(ETHERTYPE_IPV6),
            _ => None,
        };
        if let Some(inner) = inner {
            at += Ipv6::LEN;
            ethertype = inner;
        }
    }
    at += match ethertype {
        ETHERTYPE_IPV4 => Ipv4::LEN,
        ETHERTYPE_IPV6 => Ipv6::LEN,
        _ => return None,
    };
    Opcode::from_code(*frame.get(at + Udp::LEN)?)
}

/// Whether a control packet comes from the queue pair's peer.
pub(super) fn is_from_peer(frame: &RoceFrame, qp: &QueuePair) -> bool {
    let peer = ControlPeer {
        mode: qp.mode,
        pkey: qp.pkey,
        qp: qp.peer.qp,
        addresses: qp.peer.planes.map(|plane| plane.ip),
    };
    peer.sent(frame)
}

/// Congestion experienced on the inner or the outer IP header.
pub(super) fn is_marked(frame: &RoceFrame) -> bool {
    let outer = frame.srv6.map(|outer| outer.ecn);
    frame.ip.ecn() == Ecn::CongestionExperienced || outer == Some(Ecn::CongestionExperienced)
}
