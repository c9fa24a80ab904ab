//! Descriptors of AMD's PCIe blocks (PCIE4, PCIE4C, PL PCIE5, CPM5; PG213, PG343, PG346): what their AXI streams carry
//! in place of a TLP header. Little-endian: bit 0 of the descriptor is bit 0 of byte 0 of the stream's first beat.
//!
//! Byte enables, and in RQ the tag bits above 7, travel beside the descriptor in `tuser`. Layouts are those of memory,
//! I/O and atomic requests; message requests use the same bits otherwise, and only those of ATS are known ([`InvalidateRequest`]).

mod ats;
mod cc;
mod cq;
mod rc;
mod rq;

use crate::code_enum::code_enum;
use crate::header::fit;
use crate::WireError;

pub use ats::{is_ats_message, InvalidateCompletion, InvalidateRequest};
pub use cc::CompleterCompletion;
pub use cq::CompleterRequest;
pub use rc::RequesterCompletion;
pub use rq::RequesterRequest;

code_enum! {
    /// Request type of RQ and CQ descriptors, 4 bits.
    pub enum RequestType {
        MemRead = 0,
        MemWrite = 1,
        IoRead = 2,
        IoWrite = 3,
        FetchAdd = 4,
        Swap = 5,
        CompareSwap = 6,
    }
}

impl RequestType {
    fn from_field(bits: u64) -> Result<Self, WireError> {
        Self::from_code(bits as u8).ok_or(WireError::BadField {
            field: "descriptor request type",
            value: bits,
        })
    }
}

/// Largest `dword_count`, and largest `byte_count / 4`.
const MAX_DWORDS: u16 = 1024;

/// Bits `high:low` of a descriptor, written as the product guides do.
fn get(descriptor: &[u8], high: usize, low: usize) -> u64 {
    let bytes = &descriptor[low / 8..=high / 8];
    let all = bytes
        .iter()
        .rev()
        .fold(0, |all: u128, byte| all << 8 | u128::from(*byte));
    (all >> (low % 8)) as u64 & ones(high, low)
}

/// A mask of as many low bits as a field has, 1 to 64.
const fn ones(high: usize, low: usize) -> u64 {
    u64::MAX >> (63 - (high - low))
}

/// Sets bits `high:low` of a descriptor.
///
/// # Panics
/// If the value does not fit.
#[track_caller]
fn put(descriptor: &mut [u8], field: &'static str, high: usize, low: usize, value: impl Into<u64>) {
    let value = fit(field, value.into(), (high - low + 1) as u32);
    let shift = low % 8;
    let mut bits = u128::from(value) << shift;
    let mut mask = u128::from(ones(high, low)) << shift;
    for byte in &mut descriptor[low / 8..=high / 8] {
        *byte = *byte & !(mask as u8) | bits as u8;
        (bits, mask) = (bits >> 8, mask >> 8);
    }
}

/// Address and AT share the first 64 bits of RQ and CQ descriptors.
fn put_address(descriptor: &mut [u8], address: u64, address_type: super::AddressType) {
    assert!(
        address.is_multiple_of(4),
        "descriptor address {address:#x} is not a multiple of 4"
    );
    put(descriptor, "descriptor AT", 1, 0, address_type.code());
    put(descriptor, "descriptor address", 63, 2, address >> 2);
}

/// Double words, at most 1024 though the field has room for more.
#[track_caller]
fn put_dword_count(descriptor: &mut [u8], high: usize, low: usize, dword_count: u16) {
    assert!(
        dword_count <= MAX_DWORDS,
        "descriptor dword_count: {dword_count} exceeds {MAX_DWORDS}"
    );
    put(descriptor, "descriptor dword_count", high, low, dword_count);
}

/// Reads a dword count and refuses more than 1024.
fn get_dword_count(descriptor: &[u8], high: usize, low: usize) -> Result<u16, WireError> {
    match get(descriptor, high, low) {
        count if count <= u64::from(MAX_DWORDS) => Ok(count as u16),
        value => Err(WireError::BadField {
            field: "descriptor dword_count",
            value,
        }),
    }
}
