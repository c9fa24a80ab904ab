//! MRC selective acknowledgement extended transport header.

use super::{CongestionTag, Entropy};
use crate::code_enum::code_enum;
use crate::header::{be16, be24, be32, be64, put24, split};
use crate::{Header, WireError};

code_enum! {
    /// The receiver's feedback on the path of the acknowledged packet (field M).
    pub enum PathHint {
        /// Nothing to report.
        Good = 0,
        /// The packet was ECN-marked: skip the path for the rest of the rotation.
        SkipOnce = 1,
        /// Do not use the path until a probe returns.
        AlwaysSkip = 2,
    }
}

/// SETH, 28 bytes, always followed by the congestion control state its tag names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seth {
    pub path_hint: PathHint,
    /// This answers a probe; `ack_psn_offset` then holds the probe id.
    pub probe_response: bool,
    /// Acknowledged PSN minus `cack_psn`.
    pub ack_psn_offset: i16,
    /// Path of the acknowledged packet, reflected.
    pub entropy: Entropy,
    pub src_context: u16,
    pub dst_context: u16,
    /// Highest PSN before the first gap, 24 bits.
    pub cack_psn: u32,
    pub congestion: CongestionTag,
    /// Receive window in units of 128 packets; 0 = as agreed at set-up.
    pub mpr: u8,
    /// PSN of bitmap bit 0 minus `cack_psn`.
    pub sack_offset: i16,
    /// Bit i (least significant first): the packet with PSN base + i has arrived.
    pub bitmap: u64,
}

impl Default for Seth {
    fn default() -> Self {
        Self {
            path_hint: PathHint::Good,
            probe_response: false,
            ack_psn_offset: 0,
            entropy: Entropy::default(),
            src_context: 0,
            dst_context: 0,
            cack_psn: 0,
            congestion: CongestionTag::default(),
            mpr: 0,
            sack_offset: 0,
            bitmap: 0,
        }
    }
}

impl Header for Seth {
    const LEN: usize = 28;
    const NAME: &'static str = "SETH";

    /// Besides truncation: [`WireError::BadField`] if M is 3.
    fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (b, rest) = split::<{ Self::LEN }>(Self::NAME, bytes)?;
        let m = b[1] >> 5 & 3;
        let header = Self {
            path_hint: PathHint::from_code(m).ok_or(WireError::BadField {
                field: "SETH.M",
                value: m.into(),
            })?,
            probe_response: b[1] & 0x02 != 0,
            ack_psn_offset: be16(b, 2) as i16,
            entropy: Entropy(be32(b, 4)),
            src_context: be16(b, 8),
            dst_context: be16(b, 10),
            cack_psn: be24(b, 13),
            congestion: CongestionTag::from_byte(b[16]),
            mpr: b[17],
            sack_offset: be16(b, 18) as i16,
            bitmap: be64(b, 20),
        };
        Ok((header, rest))
    }

    fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[
            0,
            self.path_hint.code() << 5 | u8::from(self.probe_response) << 1,
        ]);
        out.extend_from_slice(&self.ack_psn_offset.to_be_bytes());
        out.extend_from_slice(&self.entropy.0.to_be_bytes());
        out.extend_from_slice(&self.src_context.to_be_bytes());
        out.extend_from_slice(&self.dst_context.to_be_bytes());
        out.push(0);
        put24(out, "SETH.cack_psn", self.cack_psn);
        out.extend_from_slice(&[self.congestion.to_byte(), self.mpr]);
        out.extend_from_slice(&self.sack_offset.to_be_bytes());
        out.extend_from_slice(&self.bitmap.to_be_bytes());
    }
}
