//! Control packets: whose they are, and as hardware records.

use std::net::IpAddr;

use rust_hdl::prelude::*;
use stellar_wire::hw::control;
use stellar_wire::hw::requester::{ControlKind, ControlPacket};
use stellar_wire::hw::tx::TxPacket;
use stellar_wire::hw::tx_frame::TxFrameError;
use stellar_wire::mrc::Entropy;
use stellar_wire::{Bth, Ip, Opcode, RoceFrame};

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

    /// The table entry.
    pub fn to_hw(&self) -> control::ControlPeer {
        let [address0, address1] = self.addresses.map(|address| match address {
            IpAddr::V4(ip) => control::PeerAddress {
                version6: false,
                address: u64::from(u32::from(ip)).to_bits(),
            },
            IpAddr::V6(ip) => {
                let number = u128::from(ip);
                let high: Bits<128> = ((number >> 64) as u64).to_bits();
                control::PeerAddress {
                    version6: true,
                    address: high << 64 | (number as u64).to_bits::<128>(),
                }
            }
        });
        control::ControlPeer {
            valid: true,
            mrc: self.mode == QpMode::Mrc,
            pkey: u64::from(self.pkey).to_bits(),
            qp: u64::from(self.qp).to_bits(),
            address0,
            address1,
        }
    }
}

impl ControlFrame {
    /// What is said about the packet, given the peer of its queue pair: `Control`, or what speaks against it.
    pub fn reason(&self, peer: Option<&ControlPeer>) -> DropReason {
        match peer {
            None => DropReason::ControlUnknownQp,
            Some(peer) if peer.sent(&self.roce) => DropReason::Control,
            Some(_) => DropReason::ControlForeign,
        }
    }

    /// The record the requester takes. Fields of headers the packet does not have are zero.
    ///
    /// # Errors
    /// Those of [`TxPacket::from_frame`]; not for a frame of [`super::parse_control`].
    pub fn to_hw(&self, port: bool) -> Result<ControlPacket, TxFrameError> {
        let Self { roce, ecn_ce } = self;
        let opcode = roce.bth.opcode;
        // Nothing else of it goes through the transmit side's record, which does not hold all that may arrive.
        let bare = RoceFrame {
            bth: Bth {
                opcode,
                ..Bth::default()
            },
            ext: roce.ext,
            ..RoceFrame::default()
        };
        let ext = TxPacket::from_frame(&bare)?.extensions;
        Ok(ControlPacket {
            kind: match opcode {
                Opcode::MrcSack => ControlKind::Sack,
                Opcode::MrcNack => ControlKind::Nack,
                Opcode::MrcProbe => ControlKind::Probe,
                _ => ControlKind::Ack,
            },
            qp: u64::from(roce.bth.dest_qp % 1024).to_bits(),
            port,
            psn: u64::from(roce.bth.psn).to_bits(),
            ecn_ce: *ecn_ce,
            entropy: u64::from(Entropy::of(&roce.ip, &roce.udp).0).to_bits(),
            reflected: ext.reflection.entropy,
            seth: ext.seth,
            cc_state: ext.cc_state,
            neth: ext.neth,
            aeth: ext.aeth,
            peth: ext.peth,
            timestamp: ext.timestamp.value,
        })
    }
}
