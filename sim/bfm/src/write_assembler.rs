//! Assembly of memory writes from the beats of a TLP stream.

use sim_pcie::{AddressType, Bdf, MemWrite};

use crate::beat::Beat;
use crate::tlp_error::TlpError;
use crate::tlp_header::WriteFields;

/// A beat of a write TLP.
#[derive(Clone, Debug)]
pub struct WriteBeat {
    /// All bytes of the stream's width: the header tells how many count.
    pub beat: Beat,
    /// Packed `WriteTlpHeader`, with the first beat.
    pub header: Option<Vec<u32>>,
}

/// What a beat adds to a write.
#[derive(Debug, PartialEq, Eq)]
pub struct Accepted {
    /// Address of the write.
    pub address: u64,
    /// The write's address type.
    pub at: AddressType,
    /// Bytes of its payload in this beat, in whole double words.
    pub bytes: usize,
    /// The write, with its last beat.
    pub complete: Option<MemWrite>,
}

/// Collects beats until a write is complete, and checks each as the receiver of the link would: framing, length, address type, byte enables, maximum
/// payload size, and the 4 KiB boundary (PCIe base specification, sections 2.2.2, 2.2.5 and 2.2.7).
pub struct WriteAssembler {
    requester: Bdf,
    max_payload: usize,
    fields: WriteFields,
    /// The incomplete write, and the bytes that it will have.
    open: Option<(MemWrite, usize)>,
    beats: u64,
}

impl WriteAssembler {
    /// The writes come from `requester`, and carry at most `max_payload` bytes.
    pub fn new(requester: Bdf, max_payload: usize) -> Self {
        Self {
            requester,
            max_payload,
            fields: WriteFields::default(),
            open: None,
            beats: 0,
        }
    }

    /// Changes the maximum payload size, in bytes.
    pub fn set_max_payload(&mut self, bytes: usize) {
        self.max_payload = bytes;
    }

    /// Whether the next beat must be a first one.
    pub fn between_writes(&self) -> bool {
        self.open.is_none()
    }

    /// Adds a beat.
    ///
    /// # Errors
    /// [`TlpError`] if the beat, or the write that it completes, breaks a rule.
    pub fn push(&mut self, beat: &WriteBeat) -> Result<Accepted, TlpError> {
        self.beats += 1;
        let (mut write, length) = match (self.open.take(), &beat.header) {
            (Some(open), None) => open,
            (None, Some(words)) => {
                let (write, dwords) = self.fields.write(words, self.requester)?;
                (write, 4 * dwords)
            }
            (_, header) => {
                return Err(TlpError::Framing {
                    beat: self.beats,
                    first: header.is_some(),
                });
            }
        };
        let missing = length - write.data.len();
        let bytes = missing.min(beat.beat.bytes);
        beat.beat.append_to(bytes, &mut write.data);
        let last = beat.beat.last;
        if bytes == 0 || last != (bytes == missing) {
            return Err(TlpError::Length {
                beat: self.beats,
                last,
                dwords: length / 4,
                bytes: write.data.len(),
            });
        }
        let (address, at) = (write.address, write.at);
        let complete = if last {
            self.check(&write)?;
            Some(write)
        } else {
            self.open = Some((write, length));
            None
        };
        Ok(Accepted {
            address,
            at,
            bytes,
            complete,
        })
    }

    fn check(&self, write: &MemWrite) -> Result<(), TlpError> {
        write
            .check(self.max_payload)
            .map_err(|reason| TlpError::Malformed {
                address: write.address,
                bytes: write.data.len(),
                first_be: write.first_be,
                last_be: write.last_be,
                reason,
            })
    }
}

#[cfg(test)]
mod tests;
