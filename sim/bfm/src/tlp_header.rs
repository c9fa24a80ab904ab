//! Packed headers of PCIe requests and completions at the pins.

use rust_hdl::prelude::Synth;
use sim_pcie::{AddressType, Bdf, Completion, MemRead, MemWrite};
use stellar_wire::hw::dma::WriteTlpHeader;
use stellar_wire::hw::read::{CompletionHeader, ReadTlpHeader};

use crate::field::Field;
use crate::tlp_error::TlpError;

/// Fields that reads and writes share.
struct Request<T> {
    address_dw: Field<T>,
    at: Field<T>,
    length_dw: Field<T>,
    first_be: Field<T>,
    last_be: Field<T>,
}

impl<T: Synth> Request<T> {
    fn new() -> Self {
        Self {
            address_dw: Field::new("address_dw"),
            at: Field::new("at"),
            length_dw: Field::new("length_dw"),
            first_be: Field::new("first_be"),
            last_be: Field::new("last_be"),
        }
    }

    /// Byte address and address type.
    fn target(&self, words: &[u32]) -> Result<(u64, AddressType), TlpError> {
        let address = self.address_dw.get(words) << 2;
        match AddressType::from_bits(self.at.get(words) as u8) {
            at @ (AddressType::Untranslated | AddressType::Translated) => Ok((address, at)),
            at => Err(TlpError::AddressType { address, at }),
        }
    }
}

/// Positions of the fields of a write's header, looked up by name once.
pub struct WriteFields(Request<WriteTlpHeader>);

/// Positions of the fields of a read, looked up by name once.
pub struct ReadFields {
    request: Request<ReadTlpHeader>,
    tag: Field<ReadTlpHeader>,
}

/// Positions of the fields of a completion's header, looked up by name once.
pub struct CompletionFields {
    tag: Field<CompletionHeader>,
    byte_count: Field<CompletionHeader>,
    lower_address: Field<CompletionHeader>,
    length_dw: Field<CompletionHeader>,
    status: Field<CompletionHeader>,
}

impl Default for WriteFields {
    fn default() -> Self {
        Self(Request::new())
    }
}

impl WriteFields {
    /// A write by `requester`, still without its data, and its length in double words.
    ///
    /// # Errors
    /// [`TlpError::AddressType`].
    pub fn write(&self, words: &[u32], requester: Bdf) -> Result<(MemWrite, usize), TlpError> {
        let dwords = self.0.length_dw.get(words) as usize;
        let (address, at) = self.0.target(words)?;
        let write = MemWrite {
            requester,
            tag: 0,
            address,
            at,
            first_be: self.0.first_be.get(words) as u8,
            last_be: self.0.last_be.get(words) as u8,
            data: Vec::with_capacity(4 * dwords),
        };
        Ok((write, dwords))
    }
}

impl Default for ReadFields {
    fn default() -> Self {
        Self {
            request: Request::new(),
            tag: Field::new("tag"),
        }
    }
}

impl ReadFields {
    /// A read by `requester`.
    ///
    /// # Errors
    /// [`TlpError::AddressType`].
    pub fn read(&self, words: &[u32], requester: Bdf) -> Result<MemRead, TlpError> {
        let (address, at) = self.request.target(words)?;
        Ok(MemRead {
            requester,
            tag: self.tag.get(words) as u16,
            address,
            at,
            first_be: self.request.first_be.get(words) as u8,
            last_be: self.request.last_be.get(words) as u8,
            dwords: self.request.length_dw.get(words) as u16,
        })
    }
}

impl Default for CompletionFields {
    fn default() -> Self {
        Self {
            tag: Field::new("tag"),
            byte_count: Field::new("byte_count"),
            lower_address: Field::new("lower_address"),
            length_dw: Field::new("length_dw"),
            status: Field::new("status"),
        }
    }
}

impl CompletionFields {
    /// The packed header of a completion that is not poisoned.
    pub fn pack(&self, completion: &Completion) -> Vec<u32> {
        let mut words = vec![0; CompletionHeader::BITS.div_ceil(32)];
        let dwords = completion.data.len() as u64 / 4;
        self.tag.set(&mut words, completion.tag.into());
        self.byte_count
            .set(&mut words, completion.byte_count.into());
        self.lower_address
            .set(&mut words, completion.lower_address.into());
        self.length_dw.set(&mut words, dwords);
        self.status.set(&mut words, completion.status.code().into());
        words
    }
}
