//! The shape every header codec has, and the few byte helpers they share.

use crate::WireError;

/// A fixed-length header.
pub trait Header: Sized {
    /// Length on the wire in bytes.
    const LEN: usize;
    /// Name used in errors, as the field's standard writes it.
    const NAME: &'static str;

    /// Reads the header from the front of `bytes`. Returns it and the rest.
    ///
    /// # Errors
    /// [`WireError::Truncated`] if `bytes` is shorter than [`Self::LEN`]; others as the header's own page says.
    fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError>;

    /// Appends the header to `out`.
    ///
    /// # Panics
    /// If a field's value does not fit its width.
    fn emit(&self, out: &mut Vec<u8>);

    /// The header alone, as bytes.
    fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(Self::LEN);
        self.emit(&mut out);
        out
    }
}

/// Splits the `N` bytes of header `name` off `bytes`.
pub(crate) fn split<'a, const N: usize>(
    name: &'static str,
    bytes: &'a [u8],
) -> Result<(&'a [u8; N], &'a [u8]), WireError> {
    bytes.split_first_chunk::<N>().ok_or(WireError::Truncated {
        header: name,
        need: N,
        have: bytes.len(),
    })
}

pub(crate) fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

pub(crate) fn be24(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([0, bytes[at], bytes[at + 1], bytes[at + 2]])
}

pub(crate) fn be32(bytes: &[u8], at: usize) -> u32 {
    u32::from(be16(bytes, at)) << 16 | u32::from(be16(bytes, at + 2))
}

pub(crate) fn be64(bytes: &[u8], at: usize) -> u64 {
    u64::from(be32(bytes, at)) << 32 | u64::from(be32(bytes, at + 4))
}

/// Appends the low three bytes of `value`, which must fit 24 bits.
pub(crate) fn put24(out: &mut Vec<u8>, field: &'static str, value: u32) {
    out.extend_from_slice(&fit(field, value, 24).to_be_bytes()[1..]);
}

/// Returns `value` if it fits `width` bits.
///
/// # Panics
/// If it does not fit. A truncated value would be sent without notice.
#[track_caller]
pub(crate) fn fit<T: Copy + Into<u64>>(field: &'static str, value: T, width: u32) -> T {
    let wide: u64 = value.into();
    assert!(
        wide >> width == 0,
        "{field}: value {wide:#x} does not fit {width} bits"
    );
    value
}
