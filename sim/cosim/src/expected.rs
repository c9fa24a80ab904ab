//! The expected contents of a memory.

use std::collections::BTreeMap;

const PAGE: usize = 4096;

struct Page {
    bytes: [u8; PAGE],
    written: [bool; PAGE],
}

/// Expected bytes, by page.
#[derive(Default)]
pub(crate) struct Expected {
    pages: BTreeMap<u64, Box<Page>>,
}

impl Expected {
    /// Records that `bytes` are expected at `address`.
    pub(crate) fn write(&mut self, address: u64, bytes: &[u8]) {
        let mut at = 0;
        while at < bytes.len() {
            let now = address + at as u64;
            let within = (now % PAGE as u64) as usize;
            let count = (PAGE - within).min(bytes.len() - at);
            let page = self.pages.entry(now / PAGE as u64).or_insert_with(|| {
                Box::new(Page {
                    bytes: [0; PAGE],
                    written: [false; PAGE],
                })
            });
            page.bytes[within..within + count].copy_from_slice(&bytes[at..at + count]);
            page.written[within..within + count].fill(true);
            at += count;
        }
    }

    /// Number of different bytes that are expected.
    pub(crate) fn count(&self) -> u64 {
        self.pages
            .values()
            .map(|p| p.written.iter().filter(|w| **w).count() as u64)
            .sum()
    }

    /// Address, found value and expected value of the first byte that differs from the result of `read(address, length)`.
    pub(crate) fn difference(&self, read: impl Fn(u64, usize) -> Vec<u8>) -> Option<(u64, u8, u8)> {
        self.pages.iter().find_map(|(number, page)| {
            let base = number * PAGE as u64;
            let found = read(base, PAGE);
            (0..PAGE)
                .find(|i| page.written[*i] && found[*i] != page.bytes[*i])
                .map(|i| (base + i as u64, found[i], page.bytes[i]))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_over_page_ends_are_counted_once_and_compared() {
        let mut expected = Expected::default();
        expected.write(4090, &[1; 12]);
        expected.write(4092, &[2; 4]);
        assert_eq!(expected.count(), 12);
        let memory = |address: u64, length: usize| -> Vec<u8> {
            (address..address + length as u64)
                .map(|a| if (4092..4096).contains(&a) { 2 } else { 1 })
                .collect()
        };
        assert_eq!(expected.difference(memory), None);
        assert_eq!(expected.difference(|_, n| vec![1; n]), Some((4092, 1, 2)));
    }
}
