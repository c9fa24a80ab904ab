//! How a completer answers reads (PCIe base specification, sections 2.2.9 and 2.3.1.1).

use std::collections::VecDeque;
use std::ops::Range;

use crate::bdf::Bdf;
use crate::config::CompleterConfig;
use crate::tlp::{Completion, MemRead};
use stellar_wire::pcie::CompletionStatus;

/// Bytes of a read from its first to its last enabled byte, relative to its address. A flush (no byte enabled) has none.
pub fn enabled_bytes(read: &MemRead) -> Range<usize> {
    let last_set = |be: u8| 8 - be.leading_zeros() as usize;
    let len = usize::from(read.dwords) * 4;
    match (read.dwords, read.first_be) {
        (1, 0) => 0..0,
        (1, be) => be.trailing_zeros() as usize..last_set(be),
        (_, be) => be.trailing_zeros() as usize..len - 4 + last_set(read.last_be),
    }
}

/// The enabled bytes as completions count them: a flush has its first byte.
fn enabled_span(read: &MemRead) -> (usize, usize) {
    let enabled = enabled_bytes(read);
    (enabled.start, enabled.end.max(1))
}

/// The completions that carry `data`, all DWs of `read`, in address order.
///
/// They are cut at multiples of the largest completion size: a multiple of the read completion boundary, and no
/// more than `max_payload`.
pub fn successful(
    completer: Bdf,
    config: &CompleterConfig,
    max_payload: usize,
    read: &MemRead,
    mut data: Vec<u8>,
) -> VecDeque<Completion> {
    let chunk = config.max_completion.min(max_payload);
    let (first, end) = enabled_span(read);
    let before = read.address as usize % chunk;
    let count = (before + data.len()).div_ceil(chunk);
    let mut completions = VecDeque::with_capacity(count);
    // From the last one on, so that each takes its payload from the end, and the first keeps the buffer.
    for n in (0..count).rev() {
        let at = (n * chunk).saturating_sub(before);
        let payload = if n == 0 {
            std::mem::take(&mut data)
        } else {
            data.split_off(at)
        };
        let first_byte = at.max(first);
        completions.push_front(Completion {
            completer,
            requester: read.requester,
            tag: read.tag,
            status: CompletionStatus::Successful,
            byte_count: (end - first_byte) as u16,
            lower_address: ((read.address + first_byte as u64) & 0x7f) as u8,
            data: payload,
            poisoned: false,
            damaged: false,
        });
    }
    completions
}

/// The completion of a read that was refused.
pub fn unsupported(completer: Bdf, read: &MemRead) -> Completion {
    unsuccessful(completer, CompletionStatus::UnsupportedRequest, read)
}

/// The completion, without data, of a read that failed with `status`.
pub fn unsuccessful(completer: Bdf, status: CompletionStatus, read: &MemRead) -> Completion {
    let (first, end) = enabled_span(read);
    Completion {
        completer,
        requester: read.requester,
        tag: read.tag,
        status,
        byte_count: (end - first) as u16,
        lower_address: ((read.address + first as u64) & 0x7f) as u8,
        data: Vec::new(),
        poisoned: false,
        damaged: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use stellar_wire::pcie::AddressType;

    fn read(address: u64, len: usize) -> MemRead {
        let nic = Bdf::from_id(0x1700);
        MemRead::of_bytes(nic, 5, address, AddressType::Untranslated, len).unwrap()
    }

    fn answer(read: &MemRead, rcb: usize, max_completion: usize, mps: usize) -> Vec<Completion> {
        let config = CompleterConfig {
            rcb,
            max_completion,
            ..CompleterConfig::default()
        };
        let data = (0..usize::from(read.dwords) * 4)
            .map(|i| (read.address as usize + i) as u8)
            .collect();
        successful(Bdf::from_id(0), &config, mps, read, data).into()
    }

    #[test]
    fn an_unaligned_read_is_cut_at_the_boundary() {
        let completions = answer(&read(0x1003, 200), 64, 64, 256);
        let seen: Vec<_> = completions
            .iter()
            .map(|c| (c.byte_count, c.lower_address, c.data.len()))
            .collect();
        assert_eq!(
            seen,
            [
                (200, 0x03, 64),
                (139, 0x40, 64),
                (75, 0x00, 64),
                (11, 0x40, 12)
            ]
        );
    }

    #[test]
    fn a_flush_gets_one_dword_and_byte_count_one() {
        let completions = answer(&read(0x1040, 0), 64, 256, 256);
        assert_eq!(completions.len(), 1);
        let completion = &completions[0];
        assert_eq!((completion.byte_count, completion.data.len()), (1, 4));
    }

    #[test]
    fn a_refused_read_keeps_its_tag_and_byte_count() {
        let completion = unsupported(Bdf::from_id(8), &read(0x1041, 6));
        assert_eq!(completion.status, CompletionStatus::UnsupportedRequest);
        assert_eq!((completion.tag, completion.byte_count), (5, 6));
        assert!(completion.data.is_empty());
    }

    proptest! {
        #[test]
        fn a_requester_can_reassemble_by_byte_count_and_lower_address(
            address in 0u64..4096, want in 1usize..4096, rcb in prop_oneof![Just(64usize), Just(128)],
            scale in 0u32..5, mps in 7u32..13,
        ) {
            let len = want.min(4096 - address as usize);
            let read = read(address, len);
            let (limit, mps) = (rcb << scale, 1 << mps);
            let completions = answer(&read, rcb, limit, mps);
            let mut got = Vec::new();
            for (n, c) in completions.iter().enumerate() {
                prop_assert!(c.data.len() <= mps && c.data.len() <= limit);
                prop_assert_eq!(usize::from(c.byte_count), len - got.len());
                prop_assert_eq!(u64::from(c.lower_address), (address + got.len() as u64) & 0x7f);
                let skip = usize::from(c.lower_address) % 4;
                let payload = (c.data.len() - skip).min(len - got.len());
                got.extend_from_slice(&c.data[skip..skip + payload]);
                if n + 1 < completions.len() {
                    prop_assert_eq!((address as usize + got.len()) % rcb, 0, "cut only at the boundary");
                }
            }
            let expect: Vec<u8> = (0..len).map(|i| (address as usize + i) as u8).collect();
            prop_assert_eq!(got, expect);
        }
    }
}
