//! A beat of a frame in the FIFOs of a 512-bit MAC.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

/// Bytes of a beat.
pub const BEAT_BYTES: usize = 64;

/// A beat of a frame. 521 bits, so 512 of them are seven and a half block RAMs.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct FrameBeat {
    pub data: Bits<512>,
    /// Valid bytes: 64 unless `last`, and at least 1.
    pub bytes: Bits<7>,
    pub last: Bit,
    /// With `last`: the frame is damaged, or cut.
    pub error: Bit,
}

/// Number of valid bytes, of ones from bit 0 up to the first zero. 2 LUT levels.
#[hdl_fn]
pub fn bytes_of(keep: Bits<64>) -> Bits<7> {
    let ends = keep & !(keep >> 1);
    let mut bytes = bits::<7>(0);
    for i in 0..64 {
        let length = if ends.get_bit(i) {
            bits::<7>(i as u64 + 1)
        } else {
            bits::<7>(0)
        };
        bytes = bytes | length;
    }
    bytes
}

/// As many ones from bit 0 as there are valid bytes. Two LUT levels.
#[hdl_fn]
pub fn keep_of(bytes: Bits<7>) -> Bits<64> {
    let mut keep = bits::<64>(0);
    for i in 0..64 {
        keep = keep.replace_bit(i, bytes > (i as u64));
    }
    keep
}
