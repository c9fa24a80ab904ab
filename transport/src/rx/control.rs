//! Control packets: whether they come from the peer of their queue pair (hardware block `control_check`).

use std::net::IpAddr;

use super::{pkeys_match, ControlFrame, ControlPacket, DropReason, QpMode};

/// The peer of a queue pair, as its control packets name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlPeer {
    pub mode: QpMode,
    pub pkey: u16,
    /// Queue pair number, 24 bits; MRC headers carry its low 16 as source context.
    pub qp: u32,
    /// IP addresses of the two ports of the peer. A peer with one port has its address twice.
    pub addresses: [IpAddr; 2],
    /// An RC queue pair has a path policy. So it accepts probes and their answers, which are packets of MRC.
    pub probes: bool,
}

impl ControlPeer {
    /// Whether a control packet for a queue pair comes from its peer: its mode, or a probe or its answer if it has those; its partition, one of its addresses, and in MRC packets both
    /// queue pair numbers as contexts.
    pub fn sent(&self, packet: &ControlPacket) -> bool {
        let expected = (self.qp as u16, packet.dest_qp as u16);
        let is_accepted = if packet.body.opcode().is_mrc() {
            self.mode == QpMode::Mrc || self.probes && packet.body.concerns_probe()
        } else {
            self.mode == QpMode::Rc
        };
        is_accepted
            && pkeys_match(packet.pkey, self.pkey)
            && self.addresses.contains(&packet.source)
            && packet.body.contexts().is_none_or(|found| found == expected)
    }
}

impl ControlFrame {
    /// The packet as a record; `None` if it is no control packet, which [`super::parse_control`] does not return.
    pub fn packet(&self) -> Option<ControlPacket> {
        let packet = ControlPacket::of(&self.roce)?;
        Some(ControlPacket {
            ecn_ce: self.ecn_ce,
            ..packet
        })
    }

    /// Reason of the packet, given the peer of its queue pair: `Control`, or the reason against it.
    pub fn reason(&self, peer: Option<&ControlPeer>) -> DropReason {
        match peer {
            None => DropReason::ControlUnknownQp,
            Some(peer) if self.packet().is_some_and(|packet| peer.sent(&packet)) => {
                DropReason::Control
            }
            Some(_) => DropReason::ControlForeign,
        }
    }
}
