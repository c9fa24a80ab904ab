//! Conversion between a byte range and the fields of a memory request (PCI Express base specification, section 2.2.5).

use crate::WireError;

/// Bytes per double word.
const DW: usize = 4;
/// A request may not cross a multiple of this many bytes.
const BOUNDARY: u64 = 4096;

/// Double words and byte enables of one memory request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DwSpan {
    /// Address of the first double word; a multiple of 4.
    pub address: u64,
    /// 1 to 1024.
    pub length_dw: u16,
    /// Bytes of the first double word, 4 bits, bit 0 for the lowest address.
    pub first_be: u8,
    /// Bytes of the last double word, 4 bits; 0 if there is only one.
    pub last_be: u8,
}

impl DwSpan {
    /// Returns the span of `length` bytes at `address`. A length of zero gives one double word without enabled bytes, which is the zero-length read
    /// that flushes writes.
    ///
    /// # Errors
    /// [`WireError::TlpSpan`] if the bytes cross a 4 KiB boundary.
    pub fn new(address: u64, length: usize) -> Result<Self, WireError> {
        let in_boundary = (address % BOUNDARY) as usize;
        if length > BOUNDARY as usize - in_boundary {
            return Err(WireError::TlpSpan {
                address,
                length,
                problem: "crosses a 4 KiB boundary",
            });
        }
        let offset = in_boundary % DW;
        let end = offset + length;
        let length_dw = end.div_ceil(DW).max(1);
        let from_offset = 0xf << offset & 0xf;
        let to_end = 0xf >> ((DW - end % DW) % DW);
        let (first_be, last_be) = match (length, length_dw) {
            (0, _) => (0, 0),
            (_, 1) => (from_offset & to_end, 0),
            _ => (from_offset, to_end),
        };
        Ok(Self {
            address: address - offset as u64,
            length_dw: length_dw as u16,
            first_be,
            last_be,
        })
    }

    /// First byte's address and number of bytes, if the enabled bytes are one run. `None` if they have gaps (legal
    /// in requests of one or two double words), or if the enables contradict the length.
    pub fn byte_range(&self) -> Option<(u64, usize)> {
        let length_dw = usize::from(self.length_dw);
        let first_offset = self.first_be.trailing_zeros() as usize;
        match (length_dw, self.first_be, self.last_be) {
            (1, 0, 0) => Some((self.address, 0)),
            (1, first, 0) if is_run(first) => Some((
                self.address + first_offset as u64,
                first.count_ones() as usize,
            )),
            (2.., first, last)
                if is_run(first) && first & 8 != 0 && is_run(last) && last & 1 != 0 =>
            {
                let bytes = length_dw * DW - first_offset - (DW - last.count_ones() as usize);
                Some((self.address + first_offset as u64, bytes))
            }
            _ => None,
        }
    }
}

/// Whether the set bits of a nibble are one uninterrupted, non-empty run.
const fn is_run(nibble: u8) -> bool {
    nibble != 0 && nibble < 16 && {
        let shifted = nibble >> nibble.trailing_zeros();
        shifted & (shifted + 1) == 0
    }
}
