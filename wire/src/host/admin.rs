//! Commands of the admin queue: table rows that the card fetches from host memory.

use super::le64;
use super::registers::TableCommand;
use crate::header::fit;
use crate::rows::{ConfigSelect, EMTT_INDEX_BITS};

/// Translations that one command writes from a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageList {
    /// First row of the eMTT, [`EMTT_INDEX_BITS`] bits.
    pub first: u32,
    /// Rows, 1 to 2^[`EMTT_INDEX_BITS`].
    pub count: u32,
    /// Where the list is in host memory: 8 bytes for each row (`EmttEntry`, packed from bit 0), from a multiple of 64 on. The card reads whole
    /// lines of 64 bytes.
    pub address: u64,
}

impl PageList {
    /// Bits of the count.
    pub const COUNT_BITS: usize = EMTT_INDEX_BITS + 1;
}

/// One command: 128 bytes of a ring that begins at a multiple of 4,096.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdminCommand {
    /// Writes a row, as `TABLE_DATA` and `TABLE_COMMAND` do; bits of the entry from 960 on are zero.
    Row {
        /// The table and the row that the command writes.
        command: TableCommand,
        /// The entry, packed from bit 0.
        entry: [u64; Self::ROW_WORDS],
    },
    /// Writes rows of the eMTT.
    Pages(PageList),
}

impl AdminCommand {
    /// Bytes of a command.
    pub const LEN: usize = 128;
    /// 64-bit words of an entry in it.
    pub const ROW_WORDS: usize = Self::LEN / 8 - 1;
    /// Lowest bit of the operation in the first word, which is a [`TableCommand`] otherwise; 8 bits.
    pub const OPCODE_BIT: usize = 56;
    /// Operation of [`Self::Row`].
    pub const ROW: u8 = 1;
    /// Operation of [`Self::Pages`].
    pub const PAGES: u8 = 2;

    /// Decodes a command. Returns `None` if the bytes are not one.
    pub fn from_bytes(bytes: &[u8; Self::LEN]) -> Option<Self> {
        let words: [u64; Self::LEN / 8] = std::array::from_fn(|at| le64(bytes, 8 * at));
        let low = |word: u64, bits: usize| (word & ((1 << bits) - 1)) as u32;
        let index = low(words[0] >> TableCommand::INDEX_BIT, EMTT_INDEX_BITS);
        match (words[0] >> Self::OPCODE_BIT) as u8 {
            Self::ROW => {
                let mut entry = [0; Self::ROW_WORDS];
                entry.copy_from_slice(&words[1..]);
                let select = (words[0] >> TableCommand::SELECT_BIT) as u8;
                let command = TableCommand { select, index };
                Some(Self::Row { command, entry })
            }
            Self::PAGES => Some(Self::Pages(PageList {
                first: index,
                count: low(words[2], PageList::COUNT_BITS),
                address: words[1],
            })),
            _ => None,
        }
    }

    /// The command's bytes.
    ///
    /// # Panics
    /// If a number does not fit.
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let mut words = [0; Self::LEN / 8];
        match self {
            Self::Row { command, entry } => {
                words[0] = command.to_word() | u64::from(Self::ROW) << Self::OPCODE_BIT;
                words[1..].copy_from_slice(entry);
            }
            Self::Pages(list) => {
                let command = TableCommand {
                    select: ConfigSelect::Emtt.index(),
                    index: list.first,
                };
                words[0] = command.to_word() | u64::from(Self::PAGES) << Self::OPCODE_BIT;
                words[1] = list.address;
                let width = PageList::COUNT_BITS as u32;
                words[2] = fit("page list.count", list.count, width).into();
            }
        }
        let mut bytes = [0; Self::LEN];
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }
}

/// The ring of commands, as written to [`super::registers::ADMIN_RING`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdminRing {
    /// The ring's address in host memory, a multiple of 4,096.
    pub base: u64,
    /// log2 of its commands, 0 to 15.
    pub log2_entries: u8,
}

impl AdminRing {
    /// Bit that switches the queue on.
    pub const ENABLE_BIT: usize = 8;

    /// The register's value.
    ///
    /// # Panics
    /// If the address is no multiple of 4,096, or the size does not fit 4 bits.
    pub fn to_word(self) -> u64 {
        assert_eq!(self.base % 4096, 0, "admin ring.base is {:#x}", self.base);
        let log2_entries = fit("admin ring.log2_entries", u32::from(self.log2_entries), 4);
        self.base | u64::from(log2_entries) | 1 << Self::ENABLE_BIT
    }
}

/// The decoded value of [`super::registers::ADMIN_STATE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdminState {
    /// Commands done, modulo 2^16.
    pub done: u16,
    /// Why the queue has stopped at the next one.
    pub error: Option<AdminError>,
}

/// Why the queue stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdminError {
    /// A command or a page list could not be read.
    Read,
    /// The operation or the table is not defined.
    Command,
    /// The table does not have this row, or the list runs beyond the end of the eMTT. No row of the list is written.
    Row,
    /// A code that this software does not know.
    Other(u8),
}

impl AdminState {
    /// Lowest bit of the error, 8 bits.
    pub const ERROR_BIT: usize = 32;
    /// Code of [`AdminError::Read`].
    pub const READ: u8 = 1;
    /// Code of [`AdminError::Command`].
    pub const COMMAND: u8 = 2;
    /// Code of [`AdminError::Row`].
    pub const ROW: u8 = 3;

    /// Decodes a value.
    pub const fn from_word(word: u64) -> Self {
        let error = match (word >> Self::ERROR_BIT) as u8 {
            0 => None,
            Self::READ => Some(AdminError::Read),
            Self::COMMAND => Some(AdminError::Command),
            Self::ROW => Some(AdminError::Row),
            other => Some(AdminError::Other(other)),
        };
        Self {
            done: word as u16,
            error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_their_fields_at_the_documented_places() {
        let command = TableCommand {
            select: 13,
            index: 0xa_abcd,
        };
        let mut entry = [0; AdminCommand::ROW_WORDS];
        entry[0] = 0x1122_3344_5566_7788;
        entry[14] = 1;
        let bytes = AdminCommand::Row { command, entry }.to_bytes();
        assert_eq!(bytes[..8], 0x0100_000d_000a_abcdu64.to_le_bytes());
        let row = AdminCommand::from_bytes(&bytes);
        assert_eq!(row, Some(AdminCommand::Row { command, entry }));
        assert_eq!(AdminCommand::from_bytes(&[0; AdminCommand::LEN]), None);
        assert_eq!((bytes[8], bytes[120]), (0x88, 1));
        let list = PageList {
            first: 7,
            count: 1 << EMTT_INDEX_BITS,
            address: 0x10_0000_0040,
        };
        let bytes = AdminCommand::Pages(list).to_bytes();
        assert_eq!(bytes[..8], 0x0200_0002_0000_0007u64.to_le_bytes());
        let pages = AdminCommand::from_bytes(&bytes);
        assert_eq!(pages, Some(AdminCommand::Pages(list)));
        assert_eq!(bytes[8..16], 0x10_0000_0040u64.to_le_bytes());
        assert_eq!(bytes[16..24], (1u64 << EMTT_INDEX_BITS).to_le_bytes());
        let ring = AdminRing {
            base: 0x5000,
            log2_entries: 6,
        };
        assert_eq!(ring.to_word(), 0x5106);
        let state = AdminState::from_word(0x2_0000_1234);
        assert_eq!(state.done, 0x1234);
        assert_eq!(state.error, Some(AdminError::Command));
        assert_eq!(AdminState::from_word(9).error, None);
    }

    #[test]
    #[should_panic(expected = "admin ring.base")]
    fn a_ring_that_is_not_aligned_is_refused() {
        let _ = AdminRing {
            base: 0x5080,
            log2_entries: 6,
        }
        .to_word();
    }
}
