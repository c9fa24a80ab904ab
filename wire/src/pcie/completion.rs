//! Header of completions (PCI Express base specification, section 2.2.9).

use super::tlp::{code_length, decode_length, Dw0};
use super::{AddressType, Attributes, TlpType};
use crate::code_enum::code_enum;
use crate::header::{be16, fit};
use crate::WireError;

code_enum! {
    /// How a request ended.
    pub enum CompletionStatus {
        Successful = 0b000,
        UnsupportedRequest = 0b001,
        RequestRetry = 0b010,
        CompleterAbort = 0b100,
    }
}

impl CompletionStatus {
    /// From the 3-bit field.
    pub(super) fn from_field(bits: u8) -> Result<Self, WireError> {
        Self::from_code(bits).ok_or(WireError::BadField {
            field: "completion status",
            value: bits.into(),
        })
    }
}

/// Largest byte count, that of a request for 1024 double words.
const MAX_BYTE_COUNT: u16 = 4096;

/// Completion with or without data, 12 bytes of header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Double words of payload, 1 to 1024; 0 for a completion without data.
    pub length_dw: u16,
    pub completer: u16,
    pub status: CompletionStatus,
    /// BCM: byte count was altered by a PCI-X bridge.
    pub byte_count_modified: bool,
    /// Bytes the request still waits for, these included: 1 to 4096.
    pub byte_count: u16,
    pub requester: u16,
    /// 10 bits.
    pub tag: u16,
    /// Low 7 bits of the address of the first byte enabled.
    pub lower_address: u8,
    /// TC, 3 bits.
    pub traffic_class: u8,
    pub attributes: Attributes,
    /// TD: an ECRC double word ends the TLP.
    pub digest: bool,
    /// EP: the payload is known to be wrong.
    pub poisoned: bool,
}

impl Completion {
    /// Length of the header in bytes.
    pub const LEN: usize = 12;

    /// Format and type.
    pub const fn tlp_type(&self) -> TlpType {
        TlpType::Completion {
            with_data: self.length_dw != 0,
        }
    }

    /// Reads the header from the front of `bytes`. Returns it and the rest.
    ///
    /// # Errors
    /// [`WireError::Truncated`]; [`WireError::BadField`] if it is not a completion or its status is undefined.
    pub fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let TlpType::Completion { with_data } = TlpType::of(bytes)? else {
            return Err(WireError::BadField {
                field: "completion Fmt/Type",
                value: bytes[0].into(),
            });
        };
        let truncated = WireError::Truncated {
            header: "completion",
            need: Self::LEN,
            have: bytes.len(),
        };
        let (b, rest) = bytes.split_at_checked(Self::LEN).ok_or(truncated)?;
        let dw0 = Dw0::parse(b)?;
        let status_and_count = be16(b, 6);
        let byte_count = match status_and_count & 0x0fff {
            0 => MAX_BYTE_COUNT,
            bytes => bytes,
        };
        let completion = Self {
            length_dw: if with_data {
                decode_length(dw0.length)
            } else {
                0
            },
            completer: be16(b, 4),
            status: CompletionStatus::from_field((status_and_count >> 13) as u8)?,
            byte_count_modified: status_and_count & 0x1000 != 0,
            byte_count,
            requester: be16(b, 8),
            tag: u16::from(dw0.tag_high) << 8 | u16::from(b[10]),
            lower_address: b[11] & 0x7f,
            traffic_class: dw0.traffic_class,
            attributes: dw0.attributes,
            digest: dw0.digest,
            poisoned: dw0.poisoned,
        };
        Ok((completion, rest))
    }

    /// Appends the header.
    ///
    /// # Panics
    /// If a field's value does not fit its width, the length exceeds 1024, or the byte count is not 1 to 4096.
    pub fn emit(&self, out: &mut Vec<u8>) {
        assert!(
            (1..=MAX_BYTE_COUNT).contains(&self.byte_count),
            "completion byte_count: {} is not in 1..=4096",
            self.byte_count
        );
        let tag = fit("TLP.tag", self.tag, 10);
        Dw0 {
            tlp_type: self.tlp_type(),
            tag_high: (tag >> 8) as u8,
            traffic_class: self.traffic_class,
            attributes: self.attributes,
            lightweight_notification: false,
            processing_hints: false,
            digest: self.digest,
            poisoned: self.poisoned,
            address_type: AddressType::Untranslated, // AT is reserved in completions
            length: if self.length_dw == 0 {
                0
            } else {
                code_length(self.length_dw)
            },
        }
        .emit(out);
        let status_and_count = u16::from(self.status.code()) << 13
            | u16::from(self.byte_count_modified) << 12
            | (self.byte_count % MAX_BYTE_COUNT);
        out.extend_from_slice(&self.completer.to_be_bytes());
        out.extend_from_slice(&status_and_count.to_be_bytes());
        out.extend_from_slice(&self.requester.to_be_bytes());
        out.push(tag as u8);
        out.push(fit("completion lower_address", self.lower_address, 7));
    }
}
