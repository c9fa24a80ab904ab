//! What is wrong with a stream of TLPs.

use sim_pcie::{AddressType, Malformed};
use thiserror::Error;

/// A TLP stream that a PCIe block would not accept. The beats of the stream are counted from 1.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum TlpError {
    /// The mark of a first beat is missing, or is on another beat.
    #[error("beat {beat} of the TLP stream: first = {first} {}", if *.first { "inside of a TLP" } else { "at the start of a TLP" })]
    Framing {
        /// Number of the beat.
        beat: u64,
        /// Its mark.
        first: bool,
    },
    /// A TLP has another number of beats than its length needs.
    #[error("beat {beat} of the TLP stream: last = {last}, with {bytes} bytes of a TLP of {dwords} double words")]
    Length {
        /// Number of the beat.
        beat: u64,
        /// Its mark.
        last: bool,
        /// Length in the header.
        dwords: usize,
        /// Number of data bytes up to this beat, limited to the length.
        bytes: usize,
    },
    /// A beat breaks a rule of a stream in which TLPs share beats.
    #[error("beat {beat} of the requester request stream: {rule}")]
    Straddle {
        /// Number of the beat.
        beat: u64,
        /// What is wrong.
        rule: &'static str,
    },
    /// A request with an address that is neither translated nor untranslated.
    #[error("a memory request at {address:#x} has the address type {at:?}")]
    AddressType {
        /// Address of the request.
        address: u64,
        /// Its address type.
        at: AddressType,
    },
    /// A rule of PCIe for one TLP is broken.
    #[error("a write of {bytes} bytes at {address:#x}, byte enables {first_be:#06b} and {last_be:#06b}, is malformed: {reason}")]
    Malformed {
        /// Address of the write.
        address: u64,
        /// Bytes of its payload.
        bytes: usize,
        /// Byte enables of its first double word.
        first_be: u8,
        /// Byte enables of its last double word.
        last_be: u8,
        /// The rule.
        reason: Malformed,
    },
}
