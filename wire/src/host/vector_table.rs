//! BAR4: the MSI-X table and its pending bits (PCIe base specification, sections 6.1.4 and 7.7.2). The operating system writes them.
//!
//! Vector v has 16 bytes at [`VectorEntry::BYTES`] · v. Behind the table, and behind the pending bits, is nothing that can be written, and zero is
//! read.

/// Vectors of a card.
pub const VECTORS: u16 = 64;

/// Offset of the pending bits: bit v of the 64-bit word there is vector v. Read-only.
pub const PENDING_OFFSET: u64 = 0x800;

/// One vector of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VectorEntry {
    /// Message address, a multiple of 4: the message is a write of a double word there.
    pub address: u64,
    /// Message data.
    pub data: u32,
    /// The vector's messages are held back. So they are after a reset.
    pub masked: bool,
}

impl VectorEntry {
    /// Bytes of an entry.
    pub const BYTES: u64 = 16;
    /// Bit of the mask in the second 64-bit word of an entry. The message data is below, in bits 31:0; the bits above are reserved.
    pub const MASK_BIT: usize = 32;

    /// Offset of the entry of `vector` in BAR4.
    pub const fn offset(vector: u16) -> u64 {
        vector as u64 * Self::BYTES
    }

    /// The entry as the table has it: two 64-bit words.
    pub const fn to_words(self) -> [u64; 2] {
        let control = (self.masked as u64) << Self::MASK_BIT;
        [self.address, control | self.data as u64]
    }

    /// Decodes an entry.
    pub const fn from_words([address, second]: [u64; 2]) -> Self {
        Self {
            address,
            data: second as u32,
            masked: second >> Self::MASK_BIT & 1 == 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_has_the_layout_of_the_standard() {
        let entry = VectorEntry {
            address: 0x1_fee0_1000,
            data: 0x4031,
            masked: true,
        };
        let bytes: Vec<u8> = entry
            .to_words()
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        // Message address, message upper address, message data, vector control.
        let dwords = [0xfee0_1000_u32, 1, 0x4031, 1].map(u32::to_le_bytes);
        assert_eq!(bytes, dwords.concat());
        assert_eq!(VectorEntry::from_words(entry.to_words()), entry);
        assert!(VectorEntry::offset(VECTORS) <= PENDING_OFFSET);
    }
}
