//! Addresses and bytes of registers.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::host::registers::{self as map, Access, Register};

/// Places of the chosen registers, in units of registers.
pub fn places(choose: fn(&Register) -> bool) -> Vec<u64> {
    let chosen = map::ALL.iter().filter(|register| choose(register));
    chosen
        .flat_map(|register| register.index()..register.index() + u64::from(register.count))
        .collect()
}

/// Chooses every register.
pub fn any(_: &Register) -> bool {
    true
}

/// Chooses the read-only registers.
pub fn read_only(register: &Register) -> bool {
    register.access == Access::ReadOnly
}

/// Chooses the command registers.
pub fn command(register: &Register) -> bool {
    register.access == Access::Command
}

/// Whether the address is this place, in units of registers.
#[hdl_fn]
pub fn is_at(address: Bits<16>, place: u64) -> Bit {
    address == (place * 8)
}

/// One if the address is this place.
#[hdl_fn]
pub fn hit(address: Bits<16>, place: u64) -> Bits<1> {
    if address == (place * 8) {
        bits::<1>(1)
    } else {
        bits::<1>(0)
    }
}

/// `value` if `here` is set, otherwise zero.
#[hdl_fn]
pub fn shown(here: Bit, value: Bits<64>) -> Bits<64> {
    if here {
        value
    } else {
        bits::<64>(0)
    }
}

/// A mask of the bits in the enabled bytes.
#[hdl_fn]
pub fn byte_mask(enable: Bits<8>) -> Bits<64> {
    let mut mask = bits::<64>(0);
    for byte in 0..8u64 {
        let lane = shown(
            enable.get_bit(byte as usize),
            bits::<64>(0xff << (8 * byte)),
        );
        mask = mask | lane;
    }
    mask
}

/// `old` with the bits of `mask` from `new`.
#[hdl_fn]
pub fn merged(old: Bits<64>, new: Bits<64>, mask: Bits<64>) -> Bits<64> {
    (old & !mask) | (new & mask)
}
