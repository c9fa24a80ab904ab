//! The reference's values as the hardware records of `stellar_wire::hw`, for tests that compare the two.
//!
//! Fields that a value does not have (a RETH that is absent, the bitmap of a NACK) become zero. The hardware's are undefined there: do
//! not compare them.

use rust_hdl::prelude::*;
use stellar_wire::hw::address::FrameAddress;
use stellar_wire::hw::requester::{ControlKind, ControlPacket};
use stellar_wire::hw::tx::TxPacket;
use stellar_wire::hw::tx_frame::TxFrameError;
use stellar_wire::hw::{ack, control, core, dma, frame};
use stellar_wire::mrc::Entropy;
use stellar_wire::rows::{AddressRow, PeerAddressRow, PeerRow};
use stellar_wire::{Bth, Opcode, RoceFrame};

use super::{
    AckBody, AckRequest, ControlFrame, ControlPeer, DropReason, PacketHeaders, Piece, QpMode,
    WriteTlp,
};

/// A value as a field of `N` bits, which it must fit.
fn bits<const N: usize>(value: impl Into<u64>) -> Bits<N> {
    value.into().to_bits()
}

impl PacketHeaders {
    /// The parser's record of a good frame.
    pub fn to_hw(&self) -> frame::PacketHeaders {
        let reth = self.reth.unwrap_or_default();
        let meth = self.meth.unwrap_or_default();
        frame::PacketHeaders {
            reason: DropReason::None,
            mrc: self.mode == QpMode::Mrc,
            refused: self.refused,
            probe: false,
            position: self.position,
            has_immediate: self.immediate.is_some(),
            has_reth: self.reth.is_some(),
            has_timestamp: self.timestamp.is_some(),
            ack_req: self.ack_req,
            solicited: self.solicited,
            retransmission: self.retransmission,
            pkey: bits(self.pkey),
            dest_qp: bits(self.dest_qp),
            psn: bits(self.psn.value()),
            va: bits(reth.va),
            rkey: bits(reth.rkey),
            dma_length: bits(reth.dma_len),
            immediate: bits(self.immediate.unwrap_or_default()),
            msn: bits(meth.msn),
            rqmsn: bits(meth.rqmsn),
            timestamp: bits(self.timestamp.unwrap_or_default()),
            ecn_ce: self.ecn_ce,
            entropy: bits(self.entropy.0),
            payload_offset: bits(self.payload_offset),
            payload_length: bits(self.payload_length),
        }
    }
}

impl AckRequest {
    /// The record on the acknowledgement stream.
    pub fn to_hw(&self) -> ack::AckRequest {
        let mut record = ack::AckRequest {
            kind: self.body.kind(),
            reason: self.reason,
            qp: bits(self.qp),
            psn: bits(self.body.psn().value()),
            syndrome: bits(self.body.syndrome().unwrap_or_default()),
            ecn_ce: self.ecn_ce,
            entropy: bits(self.entropy.0),
            has_timestamp: self.timestamp.is_some(),
            timestamp: bits(self.timestamp.unwrap_or_default()),
            ..ack::AckRequest::default()
        };
        match self.body {
            AckBody::Ack { msn, .. } | AckBody::Nak { msn, .. } => record.msn = bits(msn),
            AckBody::Sack {
                cack_psn,
                bitmap_base,
                bitmap,
                ..
            } => {
                record.cack_psn = bits(cack_psn.value());
                record.bitmap_base = bits(bitmap_base.value());
                record.bitmap = bits(bitmap);
            }
            AckBody::Nack { .. } => {}
        }
        record
    }
}

/// Converts one to three pieces into the record of the DMA engine. The fields of absent pieces are zero.
///
/// # Panics
/// If there is none, or more than three, or the second of three is not as long as the record implies.
pub fn pieces_to_hw(pieces: &[Piece]) -> core::DmaSegments {
    assert!(
        (1..=3).contains(&pieces.len()),
        "{} pieces: a payload has one to three",
        pieces.len()
    );
    if let [_, second, _] = pieces {
        assert_eq!(
            second.length,
            core::WHOLE_PAGE,
            "the second of three pieces"
        );
    }
    let address = |n: usize| bits(pieces.get(n).map_or(0, |piece| piece.address));
    let translated = |n: usize| pieces.get(n).is_some_and(|piece| piece.translated);
    core::DmaSegments {
        first_length: bits(pieces[0].length as u64),
        first_address: address(0),
        first_translated: translated(0),
        second_address: address(1),
        second_translated: translated(1),
        has_third: pieces.len() == 3,
        third_address: address(2),
        third_translated: translated(2),
    }
}

impl WriteTlp {
    /// The header record beside the payload stream. The fields that are not part of the TLP are zero.
    pub fn to_hw(&self) -> dma::WriteTlpHeader {
        dma::WriteTlpHeader {
            address_dw: bits(self.address >> 2),
            at: bits(self.at),
            length_dw: bits(self.length_dw as u64),
            first_be: bits(self.first_be),
            last_be: bits(self.last_be),
            ..dma::WriteTlpHeader::default()
        }
    }
}

impl ControlPeer {
    /// The table entry, if `vector` is the address vector of the peer's host.
    pub fn to_hw(&self, vector: u16) -> control::QpPeer {
        PeerRow {
            probes: self.probes,
            ..PeerRow::new(self.mode, self.pkey, self.qp, vector)
        }
        .to_hw()
    }

    /// What the receive side reads of that address vector, at each port.
    pub fn addresses_to_hw(&self) -> [FrameAddress; 2] {
        let row = |ip| {
            let PeerAddressRow { version6, address } = PeerAddressRow::from(ip);
            let row = AddressRow {
                version6,
                peer_ip: address,
                ..AddressRow::default()
            };
            row.to_hw()
        };
        self.addresses.map(row)
    }
}

impl ControlFrame {
    /// The record the requester takes, in epoch 0. Fields of headers the packet does not have are zero.
    ///
    /// # Errors
    /// The errors of [`TxPacket::from_frame`]; not for a frame of [`super::parse_control`].
    pub fn to_hw(&self, port: bool) -> Result<ControlPacket, TxFrameError> {
        let Self { roce, ecn_ce } = self;
        let opcode = roce.bth.opcode;
        // Only opcode and extension headers go through the transmit record: it cannot hold every frame that may arrive.
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
                Opcode::MrcAck => ControlKind::TransportAck,
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
            epoch: false,
        })
    }
}
