//! `tkeep` of AMD's CMAC, and numbers of bytes.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

/// Number of valid bytes, of ones from bit 0 up to the first zero. 2 LUT levels.
#[hdl_fn]
pub fn bytes_of(keep: Bits<64>) -> Bits<8> {
    let ends = keep & !(keep >> 1);
    let mut bytes = bits::<8>(0);
    for i in 0..64 {
        let length = if ends.get_bit(i) {
            bits::<8>(i as u64 + 1)
        } else {
            bits::<8>(0)
        };
        bytes = bytes | length;
    }
    bytes
}

/// As many ones from bit 0 as there are valid bytes. 2 LUT levels.
#[hdl_fn]
pub fn keep_of(bytes: Bits<8>) -> Bits<64> {
    let mut keep = bits::<64>(0);
    for i in 0..64 {
        keep = keep.replace_bit(i, bytes > (i as u64));
    }
    keep
}
