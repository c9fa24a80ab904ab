//! Acknowledgement requests to the transmit side.

use stellar_wire::mrc::{Entropy, NackReason};
use stellar_wire::{NakCode, Syndrome};

use super::{AckKind, DropReason, Psn};

/// The acknowledgement to send, with the fields of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckBody {
    /// RC ACK of everything up to and including `psn`, with unlimited credits. `msn` has 24 bits.
    Ack { psn: Psn, msn: u32 },
    /// RC NAK.
    Nak { psn: Psn, msn: u32, code: NakCode },
    /// MRC SACK of the packet `psn`.
    Sack {
        psn: Psn,
        /// Highest PSN before the first gap.
        cack_psn: Psn,
        /// PSN of bit 0 of the bitmap, a multiple of 64.
        bitmap_base: Psn,
        /// Bit i set: `bitmap_base + i` has been received.
        bitmap: u64,
    },
    /// MRC NACK of the packet `psn`.
    Nack { psn: Psn, reason: NackReason },
}

impl AckBody {
    /// The acknowledgement's kind.
    pub const fn kind(&self) -> AckKind {
        match self {
            Self::Ack { .. } => AckKind::Ack,
            Self::Nak { .. } => AckKind::Nak,
            Self::Sack { .. } => AckKind::Sack,
            Self::Nack { .. } => AckKind::Nack,
        }
    }

    /// PSN that goes into the BTH (RC) or that names the packet answered (MRC).
    pub const fn psn(&self) -> Psn {
        match *self {
            Self::Ack { psn, .. }
            | Self::Nak { psn, .. }
            | Self::Sack { psn, .. }
            | Self::Nack { psn, .. } => psn,
        }
    }

    /// AETH syndrome (RC) or NETH reason (NACK) as on the wire; a SACK has none.
    pub fn syndrome(&self) -> Option<u8> {
        match *self {
            Self::Ack { .. } => Some(
                Syndrome::Ack {
                    credits: Syndrome::UNLIMITED_CREDITS,
                }
                .to_byte(),
            ),
            Self::Nak { code, .. } => Some(Syndrome::Nak(code).to_byte()),
            Self::Sack { .. } => None,
            Self::Nack { reason, .. } => Some(reason.to_byte()),
        }
    }
}

/// One acknowledgement request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckRequest {
    pub body: AckBody,
    /// Why a NAK, NACK or repeated acknowledgement is requested; `None` for a packet accepted.
    pub reason: DropReason,
    /// Local queue pair.
    pub qp: u32,
    /// The packet arrived with congestion experienced.
    pub ecn_ce: bool,
    /// Entropy value to reflect.
    pub entropy: Entropy,
    /// Timestamp to reflect, if the packet carried one.
    pub timestamp: Option<u16>,
}
