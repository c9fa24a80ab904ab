//! Header of memory requests (PCI Express base specification, section 2.2.7).

use super::tlp::{code_length, decode_length, Dw0};
use super::{AddressType, Attributes, DwSpan, MemOp, TlpType};
use crate::header::{be16, be32, be64, fit};
use crate::WireError;

/// Requests below this address have a 3DW header, all others a 4DW header.
const FOUR_GIB: u64 = 1 << 32;

/// Memory read, write or atomic request. The header is 12 bytes below 4 GiB and 16 bytes from there on, as the
/// specification demands, so the address decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemRequest {
    pub op: MemOp,
    /// Multiple of 4.
    pub address: u64,
    /// AT.
    pub address_type: AddressType,
    /// Double words to read, or of payload: 1 to 1024.
    pub length_dw: u16,
    /// Byte enables of the first double word, 4 bits.
    pub first_be: u8,
    /// Byte enables of the last double word, 4 bits.
    pub last_be: u8,
    pub requester: u16,
    /// 10 bits.
    pub tag: u16,
    /// TC, 3 bits.
    pub traffic_class: u8,
    pub attributes: Attributes,
    /// LN (deprecated by PCI Express 6.0).
    pub lightweight_notification: bool,
    /// TH: `processing_hint` is valid.
    pub processing_hints: bool,
    /// PH, 2 bits.
    pub processing_hint: u8,
    /// TD: an ECRC double word ends the TLP.
    pub digest: bool,
    /// EP: the payload is known to be wrong.
    pub poisoned: bool,
}

impl MemRequest {
    /// A request for `span` with tag 0, traffic class 0 and no attributes.
    pub fn new(op: MemOp, span: DwSpan, address_type: AddressType, requester: u16) -> Self {
        Self {
            op,
            address: span.address,
            address_type,
            length_dw: span.length_dw,
            first_be: span.first_be,
            last_be: span.last_be,
            requester,
            tag: 0,
            traffic_class: 0,
            attributes: Attributes::default(),
            lightweight_notification: false,
            processing_hints: false,
            processing_hint: 0,
            digest: false,
            poisoned: false,
        }
    }

    /// Address, length and byte enables.
    pub const fn span(&self) -> DwSpan {
        DwSpan {
            address: self.address,
            length_dw: self.length_dw,
            first_be: self.first_be,
            last_be: self.last_be,
        }
    }

    /// Format and type.
    pub const fn tlp_type(&self) -> TlpType {
        TlpType::MemRequest {
            op: self.op,
            four_dw: self.address >= FOUR_GIB,
        }
    }

    /// Length of the header in bytes: 12 or 16.
    pub const fn header_len(&self) -> usize {
        if self.address >= FOUR_GIB {
            16
        } else {
            12
        }
    }

    /// Reads the header from the front of `bytes`. Returns it and the rest. Byte enables are not checked; [`DwSpan::byte_range`] says whether they
    /// are valid.
    ///
    /// # Errors
    /// [`WireError::Truncated`]; [`WireError::BadField`] if it is not a memory request, or is one with a 64-bit
    /// header for an address below 4 GiB.
    pub fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let tlp_type = TlpType::of(bytes)?;
        let TlpType::MemRequest { op, four_dw } = tlp_type else {
            return Err(WireError::BadField {
                field: "memory request Fmt/Type",
                value: bytes[0].into(),
            });
        };
        let need = if four_dw { 16 } else { 12 };
        let truncated = WireError::Truncated {
            header: "memory request",
            need,
            have: bytes.len(),
        };
        let (b, rest) = bytes.split_at_checked(need).ok_or(truncated)?;
        let dw0 = Dw0::parse(b)?;
        let address_and_hint = if four_dw {
            be64(b, 8)
        } else {
            be32(b, 8).into()
        };
        let address = address_and_hint & !3;
        if four_dw && address < FOUR_GIB {
            return Err(WireError::BadField {
                field: "4DW memory request address",
                value: address,
            });
        }
        let request = Self {
            op,
            address,
            address_type: dw0.address_type,
            length_dw: decode_length(dw0.length),
            first_be: b[7] & 0x0f,
            last_be: b[7] >> 4,
            requester: be16(b, 4),
            tag: u16::from(dw0.tag_high) << 8 | u16::from(b[6]),
            traffic_class: dw0.traffic_class,
            attributes: dw0.attributes,
            lightweight_notification: dw0.lightweight_notification,
            processing_hints: dw0.processing_hints,
            processing_hint: (address_and_hint & 3) as u8,
            digest: dw0.digest,
            poisoned: dw0.poisoned,
        };
        Ok((request, rest))
    }

    /// Appends the header.
    ///
    /// # Panics
    /// If a field's value does not fit its width, the length is not 1 to 1024, or the address is not a multiple of 4.
    pub fn emit(&self, out: &mut Vec<u8>) {
        assert!(
            self.address.is_multiple_of(4),
            "memory request address {:#x} is not a multiple of 4",
            self.address
        );
        let tag = fit("TLP.tag", self.tag, 10);
        Dw0 {
            tlp_type: self.tlp_type(),
            tag_high: (tag >> 8) as u8,
            traffic_class: self.traffic_class,
            attributes: self.attributes,
            lightweight_notification: self.lightweight_notification,
            processing_hints: self.processing_hints,
            digest: self.digest,
            poisoned: self.poisoned,
            address_type: self.address_type,
            length: code_length(self.length_dw),
        }
        .emit(out);
        out.extend_from_slice(&self.requester.to_be_bytes());
        out.push(tag as u8);
        out.push(fit("TLP.last_be", self.last_be, 4) << 4 | fit("TLP.first_be", self.first_be, 4));
        let address_and_hint =
            self.address | u64::from(fit("TLP.processing_hint", self.processing_hint, 2));
        let unused_high_bytes = 16 - self.header_len();
        out.extend_from_slice(&address_and_hint.to_be_bytes()[unused_high_bytes..]);
    }
}
