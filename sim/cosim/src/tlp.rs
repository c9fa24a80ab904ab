//! Assembly of memory writes from beats of the TLP stream.

use sim_pcie::{AddressType, Bdf, MemWrite};
use thiserror::Error;

use crate::lane::{header, TlpBeat};

/// A TLP stream that a PCIe block would not accept.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum TlpError {
    #[error("TLP beat {position}: first = {first} in the middle of a TLP or missing at its start")]
    Framing { position: u64, first: bool },
    #[error("TLP of {dwords} double words ended after {bytes} bytes")]
    Length { dwords: usize, bytes: usize },
    #[error("TLP with reserved or unsupported address type {0:#04b}")]
    AddressType(u8),
}

/// Collects beats until a TLP is complete.
pub struct TlpAssembler {
    requester: Bdf,
    data: Vec<u8>,
    beats: u64,
}

impl TlpAssembler {
    /// The requester of the TLPs.
    pub fn new(requester: Bdf) -> Self {
        Self {
            requester,
            data: vec![],
            beats: 0,
        }
    }

    /// Whether the next beat must be a first one.
    pub fn between_tlps(&self) -> bool {
        self.data.is_empty()
    }

    /// Adds a beat; returns the write when the beat was its last.
    pub fn push(&mut self, beat: &TlpBeat) -> Result<Option<MemWrite>, TlpError> {
        self.beats += 1;
        if beat.first != self.data.is_empty() {
            return Err(TlpError::Framing {
                position: self.beats,
                first: beat.first,
            });
        }
        self.data.extend(&beat.data);
        if !beat.last {
            return Ok(None);
        }
        let fields = header(&beat.header);
        let dwords = fields.u64("length_dw") as usize;
        let beat_bytes = beat.data.len();
        let mut data = std::mem::take(&mut self.data);
        if dwords == 0 || (dwords * 4).div_ceil(beat_bytes) * beat_bytes != data.len() {
            return Err(TlpError::Length {
                dwords,
                bytes: data.len(),
            });
        }
        data.truncate(dwords * 4);
        let at = match fields.u64("at") {
            0b00 => AddressType::Untranslated,
            0b10 => AddressType::Translated,
            other => return Err(TlpError::AddressType(other as u8)),
        };
        Ok(Some(MemWrite {
            requester: self.requester,
            tag: 0,
            address: fields.u64("address_dw") << 2,
            at,
            first_be: fields.u64("first_be") as u8,
            last_be: fields.u64("last_be") as u8,
            data,
        }))
    }
}
