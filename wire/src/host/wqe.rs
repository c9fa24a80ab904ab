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

/// Bytes of the entries of a send queue. A queue pair has one size, from its creation on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WqeSize {
    /// 64 bytes, up to 32 of them inline data.
    #[default]
    Bytes64,
    /// 128 bytes, up to 64 of them inline data.
    Bytes128,
}

impl WqeSize {
    /// Bytes of an entry.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Bytes64 => Wqe::LEN,
            Self::Bytes128 => Wqe::LONG_LEN,
        }
    }

    /// Maximum number of bytes of inline data.
    pub const fn inline(self) -> usize {
        match self {
            Self::Bytes64 => Wqe::LEN - Wqe::SOURCE,
            Self::Bytes128 => Wqe::INLINE,
        }
    }

    /// The smallest size of an entry with this number of bytes of inline data; `None` if there is none.
    pub fn for_inline(bytes: usize) -> Option<Self> {
        [Self::Bytes64, Self::Bytes128]
            .into_iter()
            .find(|size| bytes <= size.inline())
    }
}

/// Work queue entry, of 64 or 128 bytes ([`WqeSize`]).
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
/// | 32-39 | local address, unless inline |
/// | 40-43 | L_Key, unless inline |
/// | 44-63 | reserved, unless inline |
/// | 32-63, 32-95 of 128 bytes | inline data, if inline |
/// | 96-127 of 128 bytes | reserved |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wqe {
    pub opcode: WqeOpcode,
    /// Success makes a completion too; failure always does.
    pub signaled: bool,
    /// The payload is the first `length` bytes of `inline_data`; the entry has no local address and L_Key. Otherwise it has no inline data.
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
    /// Bytes of an entry of [`WqeSize::Bytes64`]. One of [`WqeSize::Bytes128`] begins with them.
    pub const LEN: usize = 64;
    /// Bytes of an entry of [`WqeSize::Bytes128`].
    pub const LONG_LEN: usize = 128;
    /// Byte from which on an entry says where the payload is, or has inline data.
    pub const SOURCE: usize = 32;
    /// Maximum number of payload bytes in an entry of any size.
    pub const INLINE: usize = 64;

    /// The entry with these bytes as its inline data, in place of a local buffer; `None` if there are more than [`Self::INLINE`].
    pub fn with_inline(self, bytes: &[u8]) -> Option<Self> {
        let mut inline_data = [0; Self::INLINE];
        inline_data.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(Self {
            inline: true,
            length: bytes.len() as u32,
            local_va: 0,
            lkey: 0,
            inline_data,
            ..self
        })
    }

    /// Whether it has inline data behind its first 64 bytes.
    pub const fn has_rest(&self) -> bool {
        self.inline && self.length as usize > WqeSize::Bytes64.inline()
    }

    /// The first 64 bytes of the entry. That is all of it, unless there are more than 32 bytes of inline data.
    pub fn to_bytes(self) -> [u8; Self::LEN] {
        let long = self.to_long_bytes();
        std::array::from_fn(|i| long[i])
    }

    /// The bytes of an entry of 128 bytes.
    pub fn to_long_bytes(self) -> [u8; Self::LONG_LEN] {
        let mut out = [0; Self::LONG_LEN];
        out[0] = self.opcode.code();
        out[1] = u8::from(self.signaled) | u8::from(self.inline) << 1 | u8::from(self.fence) << 2;
        put(&mut out, 2, self.slot.to_le_bytes());
        put(&mut out, 4, self.length.to_le_bytes());
        put(&mut out, 8, self.remote_va.to_le_bytes());
        put(&mut out, 16, self.rkey.to_le_bytes());
        put(&mut out, 20, self.immediate.to_le_bytes());
        put(&mut out, 24, self.wr_id.to_le_bytes());
        if self.inline {
            put(&mut out, Self::SOURCE, self.inline_data);
        } else {
            put(&mut out, Self::SOURCE, self.local_va.to_le_bytes());
            put(&mut out, 40, self.lkey.to_le_bytes());
        }
        out
    }

    /// Decodes an entry of 64 bytes.
    ///
    /// # Errors
    /// [`WireError::BadField`] for an undefined opcode. [`Self::wr_id_of`] still finds whose entry it was.
    pub fn from_bytes(bytes: &[u8; Self::LEN]) -> Result<Self, WireError> {
        let mut long = [0; Self::LONG_LEN];
        put(&mut long, 0, *bytes);
        Self::from_long_bytes(&long)
    }

    /// Decodes an entry of 128 bytes.
    ///
    /// # Errors
    /// [`WireError::BadField`] for an undefined opcode. [`Self::wr_id_of`] still finds whose entry it was.
    pub fn from_long_bytes(bytes: &[u8; Self::LONG_LEN]) -> Result<Self, WireError> {
        let inline = bytes[1] & 2 != 0;
        Ok(Self {
            opcode: WqeOpcode::from_code(bytes[0]).ok_or(WireError::BadField {
                field: "WQE.opcode",
                value: bytes[0].into(),
            })?,
            signaled: bytes[1] & 1 != 0,
            inline,
            fence: bytes[1] & 4 != 0,
            slot: le16(bytes, 2),
            length: le32(bytes, 4),
            remote_va: le64(bytes, 8),
            rkey: le32(bytes, 16),
            immediate: le32(bytes, 20),
            wr_id: Self::wr_id_of(bytes),
            local_va: if inline { 0 } else { le64(bytes, Self::SOURCE) },
            lkey: if inline { 0 } else { le32(bytes, 40) },
            inline_data: match inline {
                true => std::array::from_fn(|i| bytes[Self::SOURCE + i]),
                false => [0; Self::INLINE],
            },
        })
    }

    /// Returns the work request identifier of an entry, even if its other fields are invalid.
    pub fn wr_id_of(bytes: &[u8]) -> u64 {
        le64(bytes, 24)
    }
}
