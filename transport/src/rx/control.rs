//! Control packets: whether they come from the peer of their queue pair (hardware block `control_check`).

use std::net::IpAddr;

use stellar_wire::{Bth, Ip, RoceFrame};

use super::{pkeys_match, ControlFrame, DropReason, QpMode};

/// The peer of a queue pair, as its control packets name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlPeer {
    pub mode: QpMode,
    pub pkey: u16,
    /// Queue pair number, 24 bits; MRC headers carry its low 16 as source context.
    pub qp: u32,
    /// Of its two ports. A peer with one port has it twice.
    pub addresses: [IpAddr; 2],
}

impl ControlPeer {
    /// Whether a control packet for a queue pair comes from its peer: its mode, its partition, one of its addresses, and in MRC packets both
    /// queue pair numbers as contexts.
    pub fn sent(&self, frame: &RoceFrame) -> bool {
        let Bth {
            opcode,
            pkey,
            dest_qp,
            ..
        } = frame.bth;
        let source = match frame.ip {
            Ip::V4(ip) => IpAddr::V4(ip.src),
            Ip::V6(ip) => IpAddr::V6(ip.src),
        };
        let ext = &frame.ext;
        let contexts = [
            ext.seth.map(|seth| (seth.src_context, seth.dst_context)),
            ext.neth.map(|neth| (neth.src_context, neth.dst_context)),
            ext.peth.map(|peth| (peth.src_context, peth.dst_context)),
        ];
        let expected = (self.qp as u16, dest_qp as u16);
        opcode.is_mrc() == (self.mode == QpMode::Mrc)
            && pkeys_match(pkey, self.pkey)
            && self.addresses.contains(&source)
            && contexts.iter().flatten().all(|&found| found == expected)
    }
}

impl ControlFrame {
    /// Reason of the packet, given the peer of its queue pair: `Control`, or the reason against it.
    pub fn reason(&self, peer: Option<&ControlPeer>) -> DropReason {
        match peer {
            None => DropReason::ControlUnknownQp,
            Some(peer) if peer.sent(&self.roce) => DropReason::Control,
            Some(_) => DropReason::ControlForeign,
        }
    }
}
