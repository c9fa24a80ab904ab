//! What all TLP headers share: the first double word (PCI Express base specification, section 2.2.1, non-flit mode).

use super::AddressType;
use crate::header::{be32, fit};
use crate::WireError;

/// Largest payload of one TLP in double words.
pub const MAX_LENGTH_DW: u16 = 1024;

/// Operation of a memory request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemOp {
    Read,
    Write,
    FetchAdd,
    Swap,
    CompareSwap,
}

/// Format and type of a TLP, as far as this project speaks it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TlpType {
    /// Memory request; `four_dw` if its header holds a 64-bit address.
    MemRequest { op: MemOp, four_dw: bool },
    /// Completion with or without data.
    Completion { with_data: bool },
}

/// Fmt bit: header of four double words.
const FMT_4DW: u8 = 0x20;
/// Fmt bit: payload follows.
const FMT_DATA: u8 = 0x40;
/// Type of a completion.
const TYPE_COMPLETION: u8 = 0x0a;

impl TlpType {
    /// First byte of a TLP: Fmt in bits 7:5, Type in bits 4:0.
    pub const fn to_byte(self) -> u8 {
        match self {
            Self::MemRequest { op, four_dw } => {
                let short = match op {
                    MemOp::Read => 0x00,
                    MemOp::Write => FMT_DATA,
                    MemOp::FetchAdd => FMT_DATA | 0x0c,
                    MemOp::Swap => FMT_DATA | 0x0d,
                    MemOp::CompareSwap => FMT_DATA | 0x0e,
                };
                if four_dw {
                    short | FMT_4DW
                } else {
                    short
                }
            }
            Self::Completion { with_data: false } => TYPE_COMPLETION,
            Self::Completion { with_data: true } => FMT_DATA | TYPE_COMPLETION,
        }
    }

    /// From the first byte of a TLP.
    ///
    /// # Errors
    /// [`WireError::BadField`] for types this project does not speak (messages, I/O, configuration, locked reads).
    pub const fn from_byte(byte: u8) -> Result<Self, WireError> {
        let op = match byte & !FMT_4DW {
            0x00 => MemOp::Read,
            0x40 => MemOp::Write,
            0x4c => MemOp::FetchAdd,
            0x4d => MemOp::Swap,
            0x4e => MemOp::CompareSwap,
            _ => match byte {
                0x0a => return Ok(Self::Completion { with_data: false }),
                0x4a => return Ok(Self::Completion { with_data: true }),
                _ => {
                    return Err(WireError::BadField {
                        field: "TLP Fmt/Type",
                        value: byte as u64,
                    })
                }
            },
        };
        Ok(Self::MemRequest {
            op,
            four_dw: byte & FMT_4DW != 0,
        })
    }

    /// Returns the type of the TLP that begins with these bytes.
    ///
    /// # Errors
    /// [`WireError::Truncated`] if there are none; those of [`Self::from_byte`].
    pub fn of(bytes: &[u8]) -> Result<Self, WireError> {
        let first = bytes.first().ok_or(WireError::Truncated {
            header: "TLP",
            need: 1,
            have: 0,
        })?;
        Self::from_byte(*first)
    }

    /// Whether a payload follows the header.
    pub const fn has_data(self) -> bool {
        self.to_byte() & FMT_DATA != 0
    }
}

/// Ordering and snooping attributes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Attributes {
    /// IDO: order only against TLPs of the same requester.
    pub id_based_ordering: bool,
    /// RO: may pass earlier writes.
    pub relaxed_ordering: bool,
    /// NS: caches need not be kept coherent.
    pub no_snoop: bool,
}

impl Attributes {
    /// Converts to three bits: IDO, RO, NS from high to low.
    pub const fn bits(self) -> u8 {
        (self.id_based_ordering as u8) << 2
            | (self.relaxed_ordering as u8) << 1
            | self.no_snoop as u8
    }

    /// Converts from three bits: IDO, RO, NS from high to low.
    pub const fn from_bits(bits: u8) -> Self {
        Self {
            id_based_ordering: bits & 4 != 0,
            relaxed_ordering: bits & 2 != 0,
            no_snoop: bits & 1 != 0,
        }
    }
}

/// First double word of a header. The two high tag bits live here, away from the rest of the tag.
pub(super) struct Dw0 {
    pub tlp_type: TlpType,
    /// Tag bits 9 and 8.
    pub tag_high: u8,
    pub traffic_class: u8,
    pub attributes: Attributes,
    pub lightweight_notification: bool,
    pub processing_hints: bool,
    pub digest: bool,
    pub poisoned: bool,
    pub address_type: AddressType,
    /// Length of the payload in double words as coded in the header: 10 bits, 0 for 1,024.
    pub length: u16,
}

impl Dw0 {
    pub fn parse(bytes: &[u8]) -> Result<Self, WireError> {
        let word = be32(bytes, 0);
        let bit = |at: u32| word >> at & 1 != 0;
        Ok(Self {
            tlp_type: TlpType::from_byte(bytes[0])?,
            tag_high: (word >> 23 & 1) as u8 * 2 + (word >> 19 & 1) as u8,
            traffic_class: (word >> 20 & 7) as u8,
            attributes: Attributes::from_bits((word >> 18 & 1) as u8 * 4 + (word >> 12 & 3) as u8),
            lightweight_notification: bit(17),
            processing_hints: bit(16),
            digest: bit(15),
            poisoned: bit(14),
            address_type: AddressType::from_bits((word >> 10) as u8),
            length: (word & 0x3ff) as u16,
        })
    }

    pub fn emit(&self, out: &mut Vec<u8>) {
        let attributes = u32::from(self.attributes.bits());
        let tag_high = u32::from(self.tag_high);
        let word = u32::from(self.tlp_type.to_byte()) << 24
            | (tag_high >> 1) << 23
            | u32::from(fit("TLP.traffic_class", self.traffic_class, 3)) << 20
            | (tag_high & 1) << 19
            | (attributes >> 2) << 18
            | u32::from(self.lightweight_notification) << 17
            | u32::from(self.processing_hints) << 16
            | u32::from(self.digest) << 15
            | u32::from(self.poisoned) << 14
            | (attributes & 3) << 12
            | u32::from(self.address_type.code()) << 10
            | u32::from(self.length);
        out.extend_from_slice(&word.to_be_bytes());
    }
}

/// Length field for 1 to 1024 double words.
pub(super) fn code_length(length_dw: u16) -> u16 {
    assert!(
        (1..=MAX_LENGTH_DW).contains(&length_dw),
        "TLP.length_dw: {length_dw} is not in 1..=1024"
    );
    length_dw % MAX_LENGTH_DW
}

/// Double words a length field means.
pub(super) const fn decode_length(coded: u16) -> u16 {
    if coded == 0 {
        MAX_LENGTH_DW
    } else {
        coded
    }
}
