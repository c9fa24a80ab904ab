//! Event queue entry.

use super::{le32, le64, put};
use crate::code_enum::code_enum;
use crate::header::fit;
use crate::WireError;

code_enum! {
    /// What happened.
    pub enum EventKind {
        /// A queue pair moved to the error state; `data` is the [`super::WcStatus`] that caused it.
        QpError = 1,
        /// A completion found its queue full, or no queue, and was lost; `data` is its work request identifier. The queue takes no more completions until it is
        /// configured again, and this is its only event until then. The queue pair moves to the error state, which is another event.
        CqOverrun = 2,
        /// An immediate counter reached its threshold; `data` is its value.
        ImmThreshold = 3,
        /// A doorbell rang for a queue pair of another page; `source` is the page, `data` the queue pair.
        DoorbellRefused = 4,
        /// A packet was not placed, for a page of an on-demand region is not there yet: `source` is the index of the region, `data` the address of the
        /// packet's first byte. The packet touches this page or the next. It may not be reported again before it is retransmitted.
        PageFault = 5,
        /// A payload to send could not be read by PCIe: `source` is the queue pair, `data` the bus address of the first byte of the packet's payload. The queue
        /// pair fails, which is another event.
        PayloadReadFailed = 6,
        /// Send queue entries could not be read by PCIe: `source` is the queue pair, `data` the bus address of the first of up to eight entries. The queue
        /// pair fails, which is another event.
        EntryReadFailed = 7,
        /// A flush read failed, or was not answered in time, so payloads that an endpoint wrote before it may not be in memory: `source` is the endpoint,
        /// 0 or 1, `data` the bus address of the last of these writes. Every queue pair that received one of these payloads fails, each with another event.
        FlushReadFailed = 8,
    }
}

/// Event queue entry, 16 bytes.
///
/// | bytes | field |
/// |---|---|
/// | 0 | kind |
/// | 1 | bit 0 phase |
/// | 2-3 | reserved |
/// | 4-7 | source, 24 bits |
/// | 8-15 | data |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Eqe {
    pub kind: EventKind,
    /// The phase bit, as in a completion.
    pub phase: bool,
    /// Queue pair, doorbell page, region or endpoint, 24 bits.
    pub source: u32,
    /// Data whose meaning depends on the kind.
    pub data: u64,
}

impl Eqe {
    /// Bytes of an entry.
    pub const LEN: usize = 16;
    /// Bit of the phase in the first eight bytes, which a reader polls before it reads the rest.
    pub const PHASE_BIT: usize = 8;

    /// The entry's bytes.
    ///
    /// # Panics
    /// If the source does not fit 24 bits.
    pub fn to_bytes(self) -> [u8; Self::LEN] {
        let mut out = [0; Self::LEN];
        out[0] = self.kind.code();
        out[1] = u8::from(self.phase);
        put(
            &mut out,
            4,
            fit("EQE.source", self.source, 24).to_le_bytes(),
        );
        put(&mut out, 8, self.data.to_le_bytes());
        out
    }

    /// The entry these bytes hold.
    ///
    /// # Errors
    /// [`WireError::BadField`] for an undefined kind.
    pub fn from_bytes(bytes: &[u8; Self::LEN]) -> Result<Self, WireError> {
        Ok(Self {
            kind: EventKind::from_code(bytes[0]).ok_or(WireError::BadField {
                field: "EQE.kind",
                value: bytes[0].into(),
            })?,
            phase: bytes[1] & 1 != 0,
            source: le32(bytes, 4) & 0xff_ffff,
            data: le64(bytes, 8),
        })
    }
}
