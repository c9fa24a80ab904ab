//! Completion queue entry.

use super::{le16, le32, le64, put, WcStatus};
use crate::code_enum::code_enum;
use crate::header::fit;
use crate::WireError;

code_enum! {
    /// What completed.
    pub enum CqeOpcode {
        Nop = 0,
        Write = 1,
        WriteImm = 2,
        /// Receive side: a WRITE with immediate arrived (`IBV_WC_RECV_RDMA_WITH_IMM`).
        RecvRdmaWithImm = 0x81,
    }
}

impl CqeOpcode {
    /// Whether this completes something received rather than a work request.
    pub const fn is_receive(self) -> bool {
        self.code() & 0x80 != 0
    }
}

/// Completion queue entry, 32 bytes.
///
/// | bytes | field |
/// |---|---|
/// | 0 | status |
/// | 1 | opcode |
/// | 2 | bit 0 phase |
/// | 3 | reserved |
/// | 4-7 | queue pair, 24 bits |
/// | 8-15 | work request identifier |
/// | 16-19 | bytes |
/// | 20-23 | immediate |
/// | 24-27 | message number, 24 bits |
/// | 28-29 | send queue head |
/// | 30-31 | reserved |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cqe {
    pub status: WcStatus,
    pub opcode: CqeOpcode,
    /// Flips with every round of the ring, 1 in the first: an entry is new if it has the phase of the reader's round.
    pub phase: bool,
    /// Local queue pair, 24 bits.
    pub qp: u32,
    /// Identifier of the work request. It is 0 on the receive side, where a WRITE consumes no work request.
    pub wr_id: u64,
    /// Bytes of the message.
    pub byte_len: u32,
    /// Immediate data, and 0 if there is none.
    pub immediate: u32,
    /// Number of the message among those of its direction, 24 bits. Received by MRC: METH.MSN, 16 bits.
    pub msn: u32,
    /// Send queue entries before this index (modulo 2^16) are free again; 0 on the receive side.
    pub sq_head: u16,
}

impl Cqe {
    /// Bytes of an entry.
    pub const LEN: usize = 32;
    /// Bit of the phase in the first eight bytes, which a reader polls before it reads the rest.
    pub const PHASE_BIT: usize = 16;

    /// The entry's bytes.
    ///
    /// # Panics
    /// If queue pair or message number do not fit 24 bits.
    pub fn to_bytes(self) -> [u8; Self::LEN] {
        let mut out = [0; Self::LEN];
        out[0] = self.status.code();
        out[1] = self.opcode.code();
        out[2] = u8::from(self.phase);
        put(&mut out, 4, fit("CQE.qp", self.qp, 24).to_le_bytes());
        put(&mut out, 8, self.wr_id.to_le_bytes());
        put(&mut out, 16, self.byte_len.to_le_bytes());
        put(&mut out, 20, self.immediate.to_le_bytes());
        put(&mut out, 24, fit("CQE.msn", self.msn, 24).to_le_bytes());
        put(&mut out, 28, self.sq_head.to_le_bytes());
        out
    }

    /// The entry these bytes hold.
    ///
    /// # Errors
    /// [`WireError::BadField`] for an undefined status or opcode.
    pub fn from_bytes(bytes: &[u8; Self::LEN]) -> Result<Self, WireError> {
        let bad = |field, value: u8| WireError::BadField {
            field,
            value: value.into(),
        };
        Ok(Self {
            status: WcStatus::from_code(bytes[0]).ok_or(bad("CQE.status", bytes[0]))?,
            opcode: CqeOpcode::from_code(bytes[1]).ok_or(bad("CQE.opcode", bytes[1]))?,
            phase: bytes[2] & 1 != 0,
            qp: le32(bytes, 4) & 0xff_ffff,
            wr_id: le64(bytes, 8),
            byte_len: le32(bytes, 16),
            immediate: le32(bytes, 20),
            msn: le32(bytes, 24) & 0xff_ffff,
            sq_head: le16(bytes, 28),
        })
    }
}
