//! Packed headers of PCIe writes at the pins.

use sim_pcie::{AddressType, Bdf, MemWrite};
use stellar_wire::hw::dma::WriteTlpHeader;

use crate::field::Field;
use crate::tlp_error::TlpError;

/// Positions of the fields of a write's header, looked up by name once.
pub struct WriteFields {
    address_dw: Field<WriteTlpHeader>,
    at: Field<WriteTlpHeader>,
    length_dw: Field<WriteTlpHeader>,
    first_be: Field<WriteTlpHeader>,
    last_be: Field<WriteTlpHeader>,
}

impl Default for WriteFields {
    fn default() -> Self {
        Self {
            address_dw: Field::new("address_dw"),
            at: Field::new("at"),
            length_dw: Field::new("length_dw"),
            first_be: Field::new("first_be"),
            last_be: Field::new("last_be"),
        }
    }
}

impl WriteFields {
    /// A write by `requester`, still without its data, and its length in double words.
    ///
    /// # Errors
    /// [`TlpError::AddressType`].
    pub fn write(&self, words: &[u32], requester: Bdf) -> Result<(MemWrite, usize), TlpError> {
        let dwords = self.length_dw.get(words) as usize;
        let address = self.address_dw.get(words) << 2;
        let at = match AddressType::from_bits(self.at.get(words) as u8) {
            at @ (AddressType::Untranslated | AddressType::Translated) => at,
            at => return Err(TlpError::AddressType { address, at }),
        };
        let write = MemWrite {
            requester,
            tag: 0,
            address,
            at,
            first_be: self.first_be.get(words) as u8,
            last_be: self.last_be.get(words) as u8,
            data: Vec::with_capacity(4 * dwords),
        };
        Ok((write, dwords))
    }
}
