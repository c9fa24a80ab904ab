//! Base transport header (InfiniBand architecture volume 1, section 9.2), with the two bits MRC 1.0 defines.

use crate::header::{be16, be24, fit, put24, split};
use crate::{Header, Opcode, WireError};

/// BTH, 12 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bth {
    pub opcode: Opcode,
    /// SE: raise an event at the responder when the message completes.
    pub solicited: bool,
    /// M: path migration state.
    pub mig_req: bool,
    /// Bytes of zero after the payload that make it a multiple of four, 2 bits.
    pub pad_count: u8,
    /// Transport header version, 4 bits, always 0.
    pub tver: u8,
    pub pkey: u16,
    /// Forward congestion notification.
    pub fecn: bool,
    /// Backward congestion notification.
    pub becn: bool,
    /// Reserved bits of byte 4, 6 bits, excluded from the iCRC.
    pub resv6: u8,
    /// Destination queue pair, 24 bits.
    pub dest_qp: u32,
    /// A: the responder shall acknowledge this packet.
    pub ack_req: bool,
    /// MRC: this packet is a retransmission (reserved elsewhere).
    pub retransmit: bool,
    /// MRC: a TSETH follows METH (reserved elsewhere).
    pub tseth_present: bool,
    /// The other five reserved bits of byte 8 in place: bits 6 and 3..0.
    pub resv7: u8,
    /// Packet sequence number, 24 bits.
    pub psn: u32,
}

/// Bits of byte 8 that have no defined meaning.
const RESV7_MASK: u8 = 0x4f;

impl Default for Bth {
    /// The default is SEND Only to QP 0 in the default partition 0xffff, with zero in all other fields.
    fn default() -> Self {
        Self {
            opcode: Opcode::RcSendOnly,
            solicited: false,
            mig_req: false,
            pad_count: 0,
            tver: 0,
            pkey: 0xffff,
            fecn: false,
            becn: false,
            resv6: 0,
            dest_qp: 0,
            ack_req: false,
            retransmit: false,
            tseth_present: false,
            resv7: 0,
            psn: 0,
        }
    }
}

impl Header for Bth {
    const LEN: usize = 12;
    const NAME: &'static str = "BTH";

    /// Besides truncation: [`WireError::UnknownOpcode`].
    fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (b, rest) = split::<{ Self::LEN }>(Self::NAME, bytes)?;
        let header = Self {
            opcode: Opcode::from_code(b[0]).ok_or(WireError::UnknownOpcode(b[0]))?,
            solicited: b[1] & 0x80 != 0,
            mig_req: b[1] & 0x40 != 0,
            pad_count: b[1] >> 4 & 3,
            tver: b[1] & 0x0f,
            pkey: be16(b, 2),
            fecn: b[4] & 0x80 != 0,
            becn: b[4] & 0x40 != 0,
            resv6: b[4] & 0x3f,
            dest_qp: be24(b, 5),
            ack_req: b[8] & 0x80 != 0,
            retransmit: b[8] & 0x20 != 0,
            tseth_present: b[8] & 0x10 != 0,
            resv7: b[8] & RESV7_MASK,
            psn: be24(b, 9),
        };
        Ok((header, rest))
    }

    fn emit(&self, out: &mut Vec<u8>) {
        assert!(
            self.resv7 & !RESV7_MASK == 0,
            "BTH.resv7: value {:#x} uses bits that have a name",
            self.resv7
        );
        out.push(self.opcode.code());
        out.push(
            u8::from(self.solicited) << 7
                | u8::from(self.mig_req) << 6
                | fit("BTH.pad_count", self.pad_count, 2) << 4
                | fit("BTH.tver", self.tver, 4),
        );
        out.extend_from_slice(&self.pkey.to_be_bytes());
        out.push(
            u8::from(self.fecn) << 7 | u8::from(self.becn) << 6 | fit("BTH.resv6", self.resv6, 6),
        );
        put24(out, "BTH.dest_qp", self.dest_qp);
        out.push(
            u8::from(self.ack_req) << 7
                | u8::from(self.retransmit) << 5
                | u8::from(self.tseth_present) << 4
                | self.resv7,
        );
        put24(out, "BTH.psn", self.psn);
    }
}
