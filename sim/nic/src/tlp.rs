//! Packed headers of PCIe requests and completions.

use rust_hdl::prelude::Synth;
use sim_pcie::{AddressType, Bdf, Completion, MemRead};
use stellar_transport::rx::WriteTlp;
use stellar_wire::hw::dma::WriteTlpHeader;
use stellar_wire::hw::read::{CompletionHeader, ReadTlpHeader};

use crate::field::Field;

/// `AT` of a translated request.
pub const TRANSLATED: u64 = 0b10;

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
}

/// Positions of the header fields.
pub struct Headers {
    write: Request<WriteTlpHeader>,
    read: Request<ReadTlpHeader>,
    read_tag: Field<ReadTlpHeader>,
    tag: Field<CompletionHeader>,
    byte_count: Field<CompletionHeader>,
    lower_address: Field<CompletionHeader>,
    length_dw: Field<CompletionHeader>,
    status: Field<CompletionHeader>,
}

impl Headers {
    /// Looks them up.
    pub fn new() -> Self {
        Self {
            write: Request::new(),
            read: Request::new(),
            read_tag: Field::new("tag"),
            tag: Field::new("tag"),
            byte_count: Field::new("byte_count"),
            lower_address: Field::new("lower_address"),
            length_dw: Field::new("length_dw"),
            status: Field::new("status"),
        }
    }

    /// A write, still without its data.
    pub fn write(&self, words: &[u32]) -> WriteTlp {
        let length_dw = self.write.length_dw.get(words) as usize;
        WriteTlp {
            address: self.write.address_dw.get(words) << 2,
            at: self.write.at.get(words) as u8,
            length_dw,
            first_be: self.write.first_be.get(words) as u8,
            last_be: self.write.last_be.get(words) as u8,
            data: Vec::with_capacity(4 * length_dw),
        }
    }

    /// A read by `requester`.
    pub fn read(&self, words: &[u32], requester: Bdf) -> MemRead {
        MemRead {
            requester,
            tag: self.read_tag.get(words) as u16,
            address: self.read.address_dw.get(words) << 2,
            at: if self.read.at.get(words) == TRANSLATED {
                AddressType::Translated
            } else {
                AddressType::Untranslated
            },
            first_be: self.read.first_be.get(words) as u8,
            last_be: self.read.last_be.get(words) as u8,
            dwords: self.read.length_dw.get(words) as u16,
        }
    }

    /// The header of a completion that is not poisoned.
    pub fn completion(&self, completion: &Completion) -> Vec<u32> {
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
