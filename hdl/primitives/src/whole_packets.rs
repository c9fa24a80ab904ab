//! How many packets bytes fill.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

/// Returns `bytes` divided by the path MTU of 2^`mtu_log2` bytes (8 to 13), rounded down. Levels: 2.
#[hdl_fn]
pub fn whole_packets(bytes: Bits<32>, mtu_log2: Bits<4>) -> Bits<24> {
    match mtu_log2.to_u8() {
        8 => bytes.get_bits::<24>(8),
        9 => bit_cast::<24, 23>(bytes.get_bits::<23>(9)),
        10 => bit_cast::<24, 22>(bytes.get_bits::<22>(10)),
        11 => bit_cast::<24, 21>(bytes.get_bits::<21>(11)),
        12 => bit_cast::<24, 20>(bytes.get_bits::<20>(12)),
        _ => bit_cast::<24, 19>(bytes.get_bits::<19>(13)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_divided_by_every_path_mtu() {
        for mtu_log2 in 8..=13_u64 {
            for bytes in [0, 1, 255, 256, 8191, 8192, 1 << 31, u64::from(u32::MAX)] {
                let packets = whole_packets(bytes.to_bits(), mtu_log2.to_bits());
                assert_eq!(
                    packets.to_u64(),
                    bytes >> mtu_log2,
                    "{bytes} by 2^{mtu_log2}"
                );
            }
        }
    }
}
