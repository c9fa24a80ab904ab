//! Virtual time of tenants (reference: `stellar_transport::endpoint::scheduler`).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

/// log2 of the buckets of the wheel.
pub const BUCKET_BITS: usize = 5;
/// Bits of virtual time in buckets.
pub const TURN_BITS: usize = 14;

/// Virtual time at which a tenant is served next: 32 bits in units of 1/256 byte of weight 1, modulo 2^32.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Tag {
    /// Within a bucket of 1 KiB.
    pub within: Bits<{ 32 - TURN_BITS }>,
    /// Number of the bucket, which the wheel has modulo 32.
    pub turn: Bits<TURN_BITS>,
}

/// The tag of a tenant that comes back: its own if it is in debt, otherwise the present virtual time. Levels: a carry chain and 3.
#[hdl_fn]
pub fn present(tag: Tag, now: Bits<TURN_BITS>) -> Tag {
    let ahead = tag.turn - now;
    let far = ahead >> (BUCKET_BITS as u64);
    if far.any() {
        Tag {
            within: bits::<{ 32 - TURN_BITS }>(0),
            turn: now,
        }
    } else {
        tag
    }
}

/// The tag after a burst that takes this virtual time. Levels: a carry chain.
#[hdl_fn]
pub fn charged(tag: Tag, virtual_time: Bits<32>) -> Tag {
    let before: Bits<32> = tag.into();
    let after = before + virtual_time;
    Tag {
        within: after.get_bits::<{ 32 - TURN_BITS }>(0),
        turn: after.get_bits::<TURN_BITS>(32 - TURN_BITS),
    }
}

/// The lowest bit of eight that is set. 2 levels.
#[hdl_fn]
fn lowest(octet: Bits<8>) -> Bits<3> {
    let mut place = bits::<3>(7);
    for i in (0..7).rev() {
        place = if octet.get_bit(i) {
            bits::<3>(i as u64)
        } else {
            place
        };
    }
    place
}

/// Virtual time of the first bucket with tenants, from `now` on. Levels: 7 (rotation 3, the first of 32 3 or 4), then a carry chain.
#[hdl_fn]
pub fn first_from(occupied: Bits<32>, now: Bits<TURN_BITS>) -> Bits<TURN_BITS> {
    let twice = bit_cast::<64, 32>(occupied) | (bit_cast::<64, 32>(occupied) << 32);
    let rotated = (twice >> now.get_bits::<BUCKET_BITS>(0)).get_bits::<32>(0);
    let mut ahead = bits::<TURN_BITS>(0);
    for i in (0..4).rev() {
        let octet = rotated.get_bits::<8>(8 * i);
        let within = bits::<TURN_BITS>(8 * i as u64) | bit_cast::<TURN_BITS, 3>(lowest(octet));
        ahead = if octet.any() { within } else { ahead };
    }
    now + ahead
}
