//! Control packets: how their frames differ from those of data.

use stellar_wire::ethernet::{ETHERTYPE_IPV4, ETHERTYPE_IPV6, ETHERTYPE_VLAN};
use stellar_wire::ip::{PROTO_IPV4, PROTO_IPV6};
use stellar_wire::{Ethernet, Header, Ipv4, Ipv6, Opcode, Udp, Vlan};

/// Whether a frame has the opcode of a control packet (RC ACK; MRC Transport ACK, SACK, NACK, probe) at the place of the BTH. The transmit side and the responder
/// process control packets; all other frames go to the receive lane. Only the opcode is read here, and the frame is parsed and checked later.
pub(super) fn looks_like_control(frame: &[u8]) -> bool {
    opcode_of(frame).is_some_and(Opcode::is_control)
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
