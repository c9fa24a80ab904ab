//! Work queue entry of a send queue.

use super::{le16, le32, le64, put};
use crate::code_enum::code_enum;
use crate::WireError;

code_enum! {
    /// The operation of a work request.
    pub enum WqeOpcode {
        /// No operation. It completes when all earlier work requests have completed.
        Nop = 0,
        /// RDMA WRITE.
        Write = 1,
        /// RDMA WRITE with immediate data.
        WriteImm = 2,
    }
}

/// Work queue entry, 64 bytes.
///
/// | bytes | field |
/// |---|---|
/// | 0 | opcode |
/// | 1 | bit 0 signaled, bit 1 inline, bit 2 fence |
/// | 2-3 | slot |
/// | 4-7 | length |
/// | 8-15 | remote address |
/// | 16-19 | R_Key |
/// | 20-23 | immediate |
/// | 24-31 | work request identifier |
/// | 32-39 | local address |
/// | 40-43 | L_Key |
/// | 44-47 | reserved |
/// | 48-63 | inline data |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wqe {
    pub opcode: WqeOpcode,
    /// Success makes a completion too; failure always does.
    pub signaled: bool,
    /// The payload is `inline_data`. The local address and the L_Key are ignored.
    pub inline: bool,
    /// Starts only after everything before it has completed.
    pub fence: bool,
    /// Producer index of this entry, modulo 2^16. The card executes an entry only where it expects it, so that one left
    /// over from an earlier round of the ring is found out.
    pub slot: u16,
    /// Bytes of the message, 0 to 2^32 - 1.
    pub length: u32,
    /// Address of the first byte at the responder.
    pub remote_va: u64,
    pub rkey: u32,
    /// Sent with [`WqeOpcode::WriteImm`] only.
    pub immediate: u32,
    /// Returned by the completion.
    pub wr_id: u64,
    /// Address of the first byte here, in the region `lkey` names.
    pub local_va: u64,
    pub lkey: u32,
    pub inline_data: [u8; Wqe::INLINE],
}

impl Default for Wqe {
    /// A signaled NOP.
    fn default() -> Self {
        Self {
            opcode: WqeOpcode::Nop,
            signaled: true,
            inline: false,
            fence: false,
            slot: 0,
            length: 0,
            remote_va: 0,
            rkey: 0,
            immediate: 0,
            wr_id: 0,
            local_va: 0,
            lkey: 0,
            inline_data: [0; Self::INLINE],
        }
    }
}

impl Wqe {
    /// Bytes of an entry.
    pub const LEN: usize = 64;
    /// Maximum number of payload bytes in the entry itself.
    pub const INLINE: usize = 16;

    /// The entry's bytes.
    pub fn to_bytes(self) -> [u8; Self::LEN] {
        let mut out = [0; Self::LEN];
        out[0] = self.opcode.code();
        out[1] = u8::from(self.signaled) | u8::from(self.inline) << 1 | u8::from(self.fence) << 2;
        put(&mut out, 2, self.slot.to_le_bytes());
        put(&mut out, 4, self.length.to_le_bytes());
        put(&mut out, 8, self.remote_va.to_le_bytes());
        put(&mut out, 16, self.rkey.to_le_bytes());
        put(&mut out, 20, self.immediate.to_le_bytes());
        put(&mut out, 24, self.wr_id.to_le_bytes());
        put(&mut out, 32, self.local_va.to_le_bytes());
        put(&mut out, 40, self.lkey.to_le_bytes());
        put(&mut out, 48, self.inline_data);
        out
    }

    /// Decodes the entry in these bytes.
    ///
    /// # Errors
    /// [`WireError::BadField`] for an undefined opcode. [`Self::wr_id_of`] still finds whose entry it was.
    pub fn from_bytes(bytes: &[u8; Self::LEN]) -> Result<Self, WireError> {
        Ok(Self {
            opcode: WqeOpcode::from_code(bytes[0]).ok_or(WireError::BadField {
                field: "WQE.opcode",
                value: bytes[0].into(),
            })?,
            signaled: bytes[1] & 1 != 0,
            inline: bytes[1] & 2 != 0,
            fence: bytes[1] & 4 != 0,
            slot: le16(bytes, 2),
            length: le32(bytes, 4),
            remote_va: le64(bytes, 8),
            rkey: le32(bytes, 16),
            immediate: le32(bytes, 20),
            wr_id: Self::wr_id_of(bytes),
            local_va: le64(bytes, 32),
            lkey: le32(bytes, 40),
            inline_data: std::array::from_fn(|i| bytes[48 + i]),
        })
    }

    /// Returns the work request identifier of an entry, even if its other fields are invalid.
    pub fn wr_id_of(bytes: &[u8; Self::LEN]) -> u64 {
        le64(bytes, 24)
    }
}
