//! Sparse byte memory that records which bytes were written, and by which kind of writer.

use std::collections::BTreeMap;
use std::ops::Range;

use thiserror::Error;

use crate::byte_enables::enabled_ranges;
use crate::config::Window;

const PAGE_BYTES: u64 = 4096;
const PAGE: usize = PAGE_BYTES as usize;

/// A memory access that cannot be served.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MemoryError {
    /// The range is not inside one window of this memory.
    #[error("{len} bytes at {address:#x} are outside this memory; check the address or configure a larger window")]
    OutOfRange {
        /// First byte of the access.
        address: u64,
        /// Length of the access in bytes.
        len: usize,
    },
    /// A byte that was never written.
    #[error("byte at {address:#x} was never written; store a pattern there first or use `read`")]
    Unwritten {
        /// First byte that was never written.
        address: u64,
    },
}

/// One bit per byte of a page.
#[derive(Clone)]
struct ByteSet([u64; PAGE / 64]);

impl ByteSet {
    fn insert(&mut self, range: Range<usize>) {
        let mut at = range.start;
        while at < range.end {
            let (word, bit) = (at / 64, at % 64);
            let count = (64 - bit).min(range.end - at);
            self.0[word] |= u64::MAX >> (64 - count) << bit;
            at += count;
        }
    }

    fn contains(&self, byte: usize) -> bool {
        self.0[byte / 64] >> (byte % 64) & 1 == 1
    }
}

struct Page {
    bytes: [u8; PAGE],
    written: ByteSet,
    touched: ByteSet,
}

/// Byte memory of one or more windows, allocated page by page when written.
///
/// There are two kinds of writers: software ([`store`](Self::store)), and a device ([`write_be`](Self::write_be), [`write`](Self::write)), whose bytes
/// count as *touched*. A test stores a pattern, runs traffic, and compares [`touched_ranges`](Self::touched_ranges) with the expected ranges.
pub struct Memory {
    windows: Vec<Window>,
    pages: BTreeMap<u64, Box<Page>>,
}

impl Memory {
    /// Memory that nobody has written, in these windows.
    pub fn new(windows: Vec<Window>) -> Self {
        Self {
            windows,
            pages: BTreeMap::new(),
        }
    }

    /// Whether all `len` bytes at `address` are in one window of this memory.
    pub fn contains(&self, address: u64, len: usize) -> bool {
        self.windows
            .iter()
            .any(|window| window.contains(address, len as u64))
    }

    /// Reads `len` bytes; bytes that were never written read as 0.
    pub fn read(&self, address: u64, len: usize) -> Result<Vec<u8>, MemoryError> {
        let mut bytes = vec![0; len];
        self.read_into(address, &mut bytes)?;
        Ok(bytes)
    }

    /// As [`Self::read`], into the caller's buffer.
    pub fn read_into(&self, address: u64, into: &mut [u8]) -> Result<(), MemoryError> {
        self.check(address, into.len())?;
        for (page, within, at) in pieces(address, into.len()) {
            let part = &mut into[at..at + within.len()];
            match self.pages.get(&page) {
                Some(page) => part.copy_from_slice(&page.bytes[within]),
                None => part.fill(0),
            }
        }
        Ok(())
    }

    /// Reads `len` bytes, and fails at the first one that neither software nor a device has written.
    pub fn read_written(&self, address: u64, len: usize) -> Result<Vec<u8>, MemoryError> {
        self.check(address, len)?;
        for (number, within, _) in pieces(address, len) {
            let page = self.pages.get(&number);
            let mut unwritten =
                within.filter(|byte| !page.is_some_and(|p| p.written.contains(*byte)));
            if let Some(byte) = unwritten.next() {
                return Err(MemoryError::Unwritten {
                    address: number * PAGE_BYTES + byte as u64,
                });
            }
        }
        self.read(address, len)
    }

    /// A store by software: it does not count as touched by a device.
    pub fn store(&mut self, address: u64, bytes: &[u8]) -> Result<(), MemoryError> {
        self.put(address, bytes, false)
    }

    /// A write of `bytes` by a device.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), MemoryError> {
        self.put(address, bytes, true)
    }

    /// A write TLP of a device: `data` is whole DWs for the DW-aligned `address`, and the byte enables select the bytes to write. Returns the address
    /// ranges written.
    pub fn write_be(
        &mut self,
        address: u64,
        data: &[u8],
        first_be: u8,
        last_be: u8,
    ) -> Result<Vec<Range<u64>>, MemoryError> {
        self.check(address, data.len())?;
        enabled_ranges(data.len() / 4, first_be, last_be)
            .into_iter()
            .map(|range| {
                let start = address + range.start as u64;
                let end = address + range.end as u64;
                self.put(start, &data[range], true)?;
                Ok(start..end)
            })
            .collect()
    }

    /// The first byte that devices have written in `expected`, and that has another value here: its address, the value here, and the expected one.
    pub fn first_difference(&self, expected: &Self) -> Option<(u64, u8, u8)> {
        expected.pages.iter().find_map(|(number, page)| {
            let found = self.pages.get(number);
            let value = |byte: usize| found.map_or(0, |found| found.bytes[byte]);
            (0..PAGE)
                .filter(|&byte| page.touched.contains(byte))
                .find(|&byte| value(byte) != page.bytes[byte])
                .map(|byte| {
                    let address = number * PAGE_BYTES + byte as u64;
                    (address, value(byte), page.bytes[byte])
                })
        })
    }

    /// How many distinct bytes devices have written since the last [`clear_touched`](Self::clear_touched).
    pub fn touched_bytes(&self) -> u64 {
        let words = self.pages.values().flat_map(|page| page.touched.0);
        words.map(|word| u64::from(word.count_ones())).sum()
    }

    /// Every byte devices have written since the last [`clear_touched`](Self::clear_touched), as ascending
    /// maximal ranges.
    pub fn touched_ranges(&self) -> Vec<Range<u64>> {
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for (number, page) in &self.pages {
            for byte in (0..PAGE).filter(|byte| page.touched.contains(*byte)) {
                let address = number * PAGE_BYTES + byte as u64;
                match ranges.last_mut() {
                    Some(last) if last.end == address => last.end += 1,
                    _ => ranges.push(address..address + 1),
                }
            }
        }
        ranges
    }

    /// Forgets which bytes devices have written; contents do not change.
    pub fn clear_touched(&mut self) {
        for page in self.pages.values_mut() {
            page.touched.0.fill(0);
        }
    }

    fn check(&self, address: u64, len: usize) -> Result<(), MemoryError> {
        if self.contains(address, len) {
            Ok(())
        } else {
            Err(MemoryError::OutOfRange { address, len })
        }
    }

    fn put(&mut self, address: u64, bytes: &[u8], by_device: bool) -> Result<(), MemoryError> {
        self.check(address, bytes.len())?;
        for (number, within, at) in pieces(address, bytes.len()) {
            let page = self.pages.entry(number).or_insert_with(|| {
                Box::new(Page {
                    bytes: [0; PAGE],
                    written: ByteSet([0; PAGE / 64]),
                    touched: ByteSet([0; PAGE / 64]),
                })
            });
            page.bytes[within.clone()].copy_from_slice(&bytes[at..at + within.len()]);
            page.written.insert(within.clone());
            if by_device {
                page.touched.insert(within);
            }
        }
        Ok(())
    }
}

/// Cuts a range at page boundaries: page number, range within the page, offset within the whole.
fn pieces(address: u64, len: usize) -> impl Iterator<Item = (u64, Range<usize>, usize)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        if done == len {
            return None;
        }
        let at = done;
        let start = ((address + at as u64) % PAGE_BYTES) as usize;
        let end = PAGE.min(start + len - at);
        done += end - start;
        Some(((address + at as u64) / PAGE_BYTES, start..end, at))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn memory() -> Memory {
        Memory::new(vec![Window {
            base: 0x1000,
            size: 0x10000,
        }])
    }

    #[test]
    fn software_stores_are_not_touched_bytes() {
        let mut memory = memory();
        memory.store(0x1ffc, &[1; 8]).unwrap();
        assert_eq!(memory.touched_bytes(), 0);
        assert_eq!(memory.read_written(0x1ffc, 8).unwrap(), [1; 8]);
    }

    #[test]
    fn unwritten_bytes_read_as_zero_or_are_named() {
        let mut memory = memory();
        memory.store(0x2000, &[7; 4]).unwrap();
        assert_eq!(memory.read(0x2000, 6).unwrap(), [7, 7, 7, 7, 0, 0]);
        assert_eq!(
            memory.read_written(0x2000, 6),
            Err(MemoryError::Unwritten { address: 0x2004 })
        );
    }

    #[test]
    fn a_difference_from_what_devices_should_have_written_is_found() {
        let (mut found, mut expected) = (memory(), memory());
        expected.write(0x1ffa, &[1; 12]).unwrap();
        expected.write(0x1ffc, &[2; 4]).unwrap();
        assert_eq!(expected.touched_bytes(), 12);
        expected.store(0x3000, &[9]).unwrap();
        assert_eq!(found.first_difference(&expected), Some((0x1ffa, 0, 1)));
        found
            .write(0x1ffa, &[1, 1, 2, 2, 2, 2, 1, 1, 1, 3, 1, 1])
            .unwrap();
        assert_eq!(found.first_difference(&expected), Some((0x2003, 3, 1)));
        found.store(0x2003, &[1]).unwrap();
        assert_eq!(found.first_difference(&expected), None);
    }

    #[test]
    fn accesses_outside_the_window_fail() {
        let mut memory = memory();
        assert!(memory.read(0xffc, 8).is_err());
        assert!(memory.store(0x10ffc, &[0; 8]).is_err());
        assert!(memory.read(u64::MAX, 2).is_err());
        assert!(memory.write_be(0x10ffc, &[0; 8], 0xf, 0xf).is_err());
        assert_eq!(memory.touched_bytes(), 0);
    }

    proptest! {
        #[test]
        fn device_writes_change_exactly_the_enabled_bytes(
            dw in 0u64..0x2000, data in proptest::collection::vec(any::<u8>(), 1..64), first in 0u8..16, last in 0u8..16,
        ) {
            let mut memory = memory();
            let address = 0x1000 + dw * 4;
            let data: Vec<u8> = data.iter().flat_map(|b| [*b, b ^ 0x55, b ^ 0xaa, !b]).collect();
            memory.store(address, &vec![0xcc; data.len()]).unwrap();
            memory.write_be(address, &data, first, last).unwrap();
            let after = memory.read(address, data.len()).unwrap();
            let mut count = 0;
            for (i, byte) in after.iter().enumerate() {
                let enabled = if i < 4 { first >> i & 1 == 1 }
                    else if i >= data.len() - 4 { last >> (i % 4) & 1 == 1 } else { true };
                prop_assert_eq!(*byte, if enabled { data[i] } else { 0xcc });
                count += u64::from(enabled);
            }
            prop_assert_eq!(memory.touched_bytes(), count);
            prop_assert_eq!(memory.touched_ranges().iter().map(|r| r.end - r.start).sum::<u64>(), count);
            memory.clear_touched();
            prop_assert_eq!(memory.touched_bytes(), 0);
        }
    }
}
