//! MRC negative acknowledgement extended transport header.

use super::{CongestionTag, Entropy};
use crate::header::{be16, be24, be32, put24, split};
use crate::{Header, WireError};

/// Why a packet was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NackReason {
    /// 1: a switch cut the payload off.
    Trimmed,
    /// 2: the last switch cut the payload off.
    TrimmedLastHop,
    /// 6: no tracking bitmap free.
    NoBitmap,
    /// 7: no packet buffer free.
    NoPktBuffer,
    /// 10: some other resource is missing.
    NoResource,
    /// 11: the PSN lies beyond the receive window.
    PsnOutOfWindow,
    /// 25: unexpected event; fatal for the connection.
    UnexpectedEvent,
    /// A code that has no name here, kept unchanged.
    Other(u8),
}

impl NackReason {
    /// From the wire.
    pub const fn from_byte(byte: u8) -> Self {
        match byte {
            1 => Self::Trimmed,
            2 => Self::TrimmedLastHop,
            6 => Self::NoBitmap,
            7 => Self::NoPktBuffer,
            10 => Self::NoResource,
            11 => Self::PsnOutOfWindow,
            25 => Self::UnexpectedEvent,
            other => Self::Other(other),
        }
    }

    /// To the wire.
    pub const fn to_byte(self) -> u8 {
        match self {
            Self::Trimmed => 1,
            Self::TrimmedLastHop => 2,
            Self::NoBitmap => 6,
            Self::NoPktBuffer => 7,
            Self::NoResource => 10,
            Self::PsnOutOfWindow => 11,
            Self::UnexpectedEvent => 25,
            Self::Other(code) => code,
        }
    }
}

/// NETH, 20 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neth {
    pub reason: NackReason,
    pub vendor_info: u8,
    /// Path of the refused packet, reflected.
    pub entropy: Entropy,
    pub src_context: u16,
    pub dst_context: u16,
    /// PSN of the refused packet, 24 bits.
    pub nack_psn: u32,
    pub congestion: CongestionTag,
    /// `tx_timestamp` of the refused packet, reflected.
    pub tx_timestamp: u16,
}

impl Default for Neth {
    /// Reason PSN out of window, everything else zero.
    fn default() -> Self {
        Self {
            reason: NackReason::PsnOutOfWindow,
            vendor_info: 0,
            entropy: Entropy::default(),
            src_context: 0,
            dst_context: 0,
            nack_psn: 0,
            congestion: CongestionTag::default(),
            tx_timestamp: 0,
        }
    }
}

impl Header for Neth {
    const LEN: usize = 20;
    const NAME: &'static str = "NETH";

    fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (b, rest) = split::<{ Self::LEN }>(Self::NAME, bytes)?;
        let header = Self {
            reason: NackReason::from_byte(b[2]),
            vendor_info: b[3],
            entropy: Entropy(be32(b, 4)),
            src_context: be16(b, 8),
            dst_context: be16(b, 10),
            nack_psn: be24(b, 13),
            congestion: CongestionTag::from_byte(b[16]),
            tx_timestamp: be16(b, 18),
        };
        Ok((header, rest))
    }

    fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[0, 0, self.reason.to_byte(), self.vendor_info]);
        out.extend_from_slice(&self.entropy.0.to_be_bytes());
        out.extend_from_slice(&self.src_context.to_be_bytes());
        out.extend_from_slice(&self.dst_context.to_be_bytes());
        out.push(0);
        put24(out, "NETH.nack_psn", self.nack_psn);
        out.extend_from_slice(&[self.congestion.to_byte(), 0]);
        out.extend_from_slice(&self.tx_timestamp.to_be_bytes());
    }
}
