//! The reference's values as the hardware records of `stellar_wire::hw`, for tests that hold the two against each other.
//!
//! Fields a value does not have (a RETH that is absent, the bitmap of a NACK) become zero: what hardware holds there
//! means nothing and is not to be compared.

use rust_hdl::prelude::*;
use stellar_wire::hw::{ack, core, dma, frame, tables};
use stellar_wire::Position;

use super::{
    AckBody, AckRequest, DropReason, EmttEntry, MrEntry, Owner, PacketHeaders, PageSize, Piece,
    QpContext, QpMode, QpState, RcClass, WriteTlp,
};

/// Converts an enumeration to the hardware's, whose variants have the same names.
macro_rules! same_names {
    ($from:ty => $to:ty { $($variant:ident),+ $(,)? }) => {
        impl From<$from> for $to {
            fn from(value: $from) -> Self {
                match value { $(<$from>::$variant => Self::$variant),+ }
            }
        }
    };
}

same_names!(DropReason => frame::DropReason {
    None, MacError, BufferFull, NotRoce, BadIpChecksum, BadLength, WrongUdpPort, BadIcrc, UnsupportedOpcode, UnknownQp,
    WrongState, WrongMode, BadPkey, BadPayloadLength, BadSequence, PsnGap, Duplicate, PsnOutsideWindow, BadKey, WrongPd,
    NoWriteRight, OutOfBounds, InvalidPage,
    Control, ControlForeign, ControlUnknownQp, ControlLost, PageAbsent,
});
same_names!(QpMode => tables::QpMode { Rc, Mrc });
same_names!(QpState => tables::QpState { Invalid, Init, Ready, Error });
same_names!(PageSize => tables::PageSize { Size4K, Size64K, Size2M, Size1G });
same_names!(Owner => tables::Owner { Host, Gpu });
same_names!(RcClass => core::RcClass { NotRc, Expected, Duplicate, Gap, GapAgain });

const fn position(position: Position) -> frame::Position {
    match position {
        Position::First => frame::Position::First,
        Position::Middle => frame::Position::Middle,
        Position::Last => frame::Position::Last,
        Position::Only => frame::Position::Only,
    }
}

/// A value as a field of `N` bits, which it must fit.
fn bits<const N: usize>(value: impl Into<u64>) -> Bits<N> {
    value.into().to_bits()
}

impl QpContext {
    /// The table entry.
    pub fn to_hw(&self) -> tables::QpContext {
        tables::QpContext {
            state: self.state.into(),
            mode: self.mode.into(),
            pd: bits(self.pd),
            pkey: bits(self.pkey),
            mtu_log2: bits(self.mtu_log2),
            initial_psn: bits(self.initial_psn.value()),
            remote_write: self.remote_write,
        }
    }
}

impl MrEntry {
    /// The table entry.
    pub fn to_hw(&self) -> tables::MrEntry {
        tables::MrEntry {
            valid: self.valid,
            key: bits(self.key),
            pd: bits(self.pd),
            remote_write: self.remote_write,
            remote_read: self.remote_read,
            remote_atomic: self.remote_atomic,
            page_size: self.page_size.into(),
            base_va: bits(self.base_va),
            length: bits(self.length),
            first_emtt: bits(self.first_emtt),
            on_demand: self.on_demand,
        }
    }
}

impl EmttEntry {
    /// The table entry.
    pub fn to_hw(&self) -> tables::EmttEntry {
        tables::EmttEntry {
            valid: self.valid,
            owner: self.owner.into(),
            device: bits(self.device),
            frame: bits(self.frame),
        }
    }
}

impl PacketHeaders {
    /// The parser's record of a good frame.
    pub fn to_hw(&self) -> frame::PacketHeaders {
        let reth = self.reth.unwrap_or_default();
        let meth = self.meth.unwrap_or_default();
        frame::PacketHeaders {
            reason: frame::DropReason::None,
            mrc: self.mode == QpMode::Mrc,
            refused: self.refused,
            probe: false,
            position: position(self.position),
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
            reason: self.reason.into(),
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
            AckBody::Ack { msn, .. } => {
                record.kind = ack::AckKind::Ack;
                record.msn = bits(msn);
            }
            AckBody::Nak { msn, .. } => {
                record.kind = ack::AckKind::Nak;
                record.msn = bits(msn);
            }
            AckBody::Sack {
                cack_psn,
                bitmap_base,
                bitmap,
                ..
            } => {
                record.kind = ack::AckKind::Sack;
                record.cack_psn = bits(cack_psn.value());
                record.bitmap_base = bits(bitmap_base.value());
                record.bitmap = bits(bitmap);
            }
            AckBody::Nack { .. } => record.kind = ack::AckKind::Nack,
        }
        record
    }
}

/// One to three pieces as the record the DMA engine takes; the fields of pieces that there are not are zero.
///
/// # Panics
/// If there is none, or more than three, or the second of three is not as long as the record says without words.
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
    /// The header record beside the payload stream.
    pub fn to_hw(&self) -> dma::WriteTlpHeader {
        dma::WriteTlpHeader {
            address_dw: bits(self.address >> 2),
            at: bits(self.at),
            length_dw: bits(self.length_dw as u64),
            first_be: bits(self.first_be),
            last_be: bits(self.last_be),
        }
    }
}
