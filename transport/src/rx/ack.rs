//! Acknowledgement requests to the transmit side.

use stellar_wire::mrc::{Entropy, NackReason};
use stellar_wire::{NakCode, Syndrome};

use super::{DropReason, Psn};

/// What is to be sent, with the fields that kind has.
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
    /// Kinds of acknowledgement, in the order of [`AckBody::kind_index`].
    pub const KINDS: [&'static str; 4] = ["Ack", "Nak", "Sack", "Nack"];

    /// Index of the kind: its hardware code.
    pub const fn kind_index(&self) -> usize {
        match self {
            Self::Ack { .. } => 0,
            Self::Nak { .. } => 1,
            Self::Sack { .. } => 2,
            Self::Nack { .. } => 3,
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
    /// Why a NAK, NACK or repeated acknowledgement is asked for; `None` for a packet accepted.
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
