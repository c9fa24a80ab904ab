//! The header log of AER.

use std::fmt;

use super::aer::HEADER_WORDS;
use crate::pcie::{Completion, MemOp, MemRequest, TlpType};

/// Header of the TLP of the first error that a function has logged (PCIe base specification 5.0, section 7.8.4.8). All words are zero if the error has no
/// TLP, such as a completion that does not come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeaderLog {
    /// The registers in ascending order. Byte 0 of the header is the highest byte of the first one.
    pub words: [u32; HEADER_WORDS as usize],
}

impl HeaderLog {
    /// The log of a request.
    ///
    /// # Panics
    /// If a field of the header does not fit.
    pub fn of_request(request: &MemRequest) -> Self {
        let mut bytes = Vec::new();
        request.emit(&mut bytes);
        Self::of_bytes(&bytes)
    }

    /// The log of a completion.
    ///
    /// # Panics
    /// If a field of the header does not fit.
    pub fn of_completion(completion: &Completion) -> Self {
        let mut bytes = Vec::new();
        completion.emit(&mut bytes);
        Self::of_bytes(&bytes)
    }

    fn of_bytes(bytes: &[u8]) -> Self {
        let mut words = [0; HEADER_WORDS as usize];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(4)) {
            *word = bytes
                .iter()
                .fold(0, |word, byte| word << 8 | u32::from(*byte));
        }
        Self { words }
    }

    fn bytes(self) -> Vec<u8> {
        let bytes = self.words.iter().flat_map(|word| word.to_be_bytes());
        bytes.collect()
    }

    /// Whether there is no header.
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// The memory request that it is the header of.
    pub fn request(self) -> Option<MemRequest> {
        let bytes = self.bytes();
        let parsed = MemRequest::parse(&bytes).ok();
        parsed
            .map(|(request, _)| request)
            .filter(|_| !self.is_empty())
    }

    /// The completion that it is the header of.
    pub fn completion(self) -> Option<Completion> {
        let bytes = self.bytes();
        let parsed = Completion::parse(&bytes).ok();
        parsed.map(|(completion, _)| completion)
    }
}

impl fmt::Display for HeaderLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return write!(f, "no header");
        }
        let [a, b, c, d] = self.words;
        write!(f, "header {a:08x} {b:08x} {c:08x} {d:08x}")?;
        if let Some(request) = self.request() {
            let what = match request.op {
                MemOp::Read => "memory read",
                MemOp::Write => "memory write",
                MemOp::FetchAdd | MemOp::Swap | MemOp::CompareSwap => "atomic",
            };
            let (address, requester, tag) = (request.address, request.requester, request.tag);
            write!(f, ": {what} at {address:#x} of {requester:04x}, tag {tag}")
        } else if let Some(completion) = self.completion() {
            let TlpType::Completion { with_data } = completion.tlp_type() else {
                return Ok(());
            };
            let what = if with_data { "with" } else { "without" };
            let (completer, requester, tag) =
                (completion.completer, completion.requester, completion.tag);
            write!(
                f,
                ": completion {what} data of {completer:04x} for {requester:04x}, tag {tag}"
            )
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pcie::{AddressType, Attributes, CompletionStatus, DwSpan};

    #[test]
    fn a_request_comes_back_with_its_long_address() {
        let span = DwSpan::new(0x38_2000_0040, 8).unwrap();
        let request = MemRequest {
            tag: 9,
            ..MemRequest::new(MemOp::Read, span, AddressType::Untranslated, 0x0100)
        };
        let log = HeaderLog::of_request(&request);
        // Fmt 001, type 0, two double words; requester, tag, byte enables; address.
        let words = [0x2000_0002, 0x0100_09ff, 0x38, 0x2000_0040];
        assert_eq!(log.words, words);
        assert_eq!((log.request(), log.completion()), (Some(request), None));
        assert_eq!(
            log.to_string(),
            "header 20000002 010009ff 00000038 20000040: memory read at 0x3820000040 of 0100, tag 9"
        );
    }

    #[test]
    fn a_completion_has_three_words() {
        let completion = Completion {
            length_dw: 1,
            completer: 0x0200,
            status: CompletionStatus::Successful,
            byte_count_modified: false,
            byte_count: 4,
            requester: 0x0101,
            tag: 0x3c,
            lower_address: 0x10,
            traffic_class: 0,
            attributes: Attributes::default(),
            digest: false,
            poisoned: true,
        };
        let log = HeaderLog::of_completion(&completion);
        // Fmt 010, type 01010, EP; completer, byte count; requester, tag, lower address.
        assert_eq!(log.words, [0x4a00_4001, 0x0200_0004, 0x0101_3c10, 0]);
        assert_eq!((log.request(), log.completion()), (None, Some(completion)));
        assert_eq!(
            log.to_string(),
            "header 4a004001 02000004 01013c10 00000000: completion with data of 0200 for 0101, tag 60"
        );
    }

    #[test]
    fn an_error_without_a_tlp_has_no_header() {
        let log = HeaderLog::default();
        assert_eq!((log.request(), log.completion()), (None, None));
        assert_eq!(log.to_string(), "no header");
    }
}
