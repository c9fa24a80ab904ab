//! Sideband signals of AMD's requester request stream ([`sideband`]).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::rq::SLOT_BITS;
use stellar_wire::pcie::sideband::request as sideband;

/// Bits of `tuser` that are not zero.
pub const USER: usize = 80;

/// Bits of the fields of all ranks in the widest beat: byte enables, starts or ends, places of starts, places of ends.
pub const BE_BITS: usize = 16;
pub const RANKS: usize = 4;
pub const START_BITS: usize = 8;
pub const END_BITS: usize = 20;

/// A slot as `tuser` names it.
pub const fn start_of(width: usize, slot: usize) -> u64 {
    (slot * SLOT_BITS / 8 / sideband::start_bytes(width)) as u64
}

/// `fields` with `value` in the place of the `rank`-th TLP, which has `N` / [`RANKS`] bits or less, if `here`.
#[hdl_fn]
pub fn with_rank<const N: usize>(
    fields: Bits<N>,
    here: Bit,
    bits_of_one: usize,
    rank: usize,
    value: Bits<N>,
) -> Bits<N> {
    if here {
        fields | (value << ((bits_of_one * rank) as u64))
    } else {
        fields
    }
}

/// The place of the double word `dword` of `slot`, in which a TLP ends.
#[hdl_fn]
pub fn end_of(slot: usize, dword: Bits<3>) -> Bits<END_BITS> {
    bit_cast::<END_BITS, 3>(dword) | bits::<END_BITS>(8 * slot as u64)
}

/// Sideband signals of a beat, from the fields of the TLPs that begin and end in it, by their rank.
#[hdl_fn]
pub fn user_signals<const W: usize>(
    first_be: Bits<BE_BITS>,
    last_be: Bits<BE_BITS>,
    starts: Bits<RANKS>,
    start: Bits<START_BITS>,
    ends: Bits<RANKS>,
    end: Bits<END_BITS>,
) -> Bits<USER> {
    bit_cast::<USER, BE_BITS>(first_be)
        | (bit_cast::<USER, BE_BITS>(last_be) << (sideband::last_be(W, 0) as u64))
        | (bit_cast::<USER, RANKS>(starts) << (sideband::starts(W, 0) as u64))
        | (bit_cast::<USER, START_BITS>(start) << (sideband::start(W, 0) as u64))
        | (bit_cast::<USER, RANKS>(ends) << (sideband::ends(W, 0) as u64))
        | (bit_cast::<USER, END_BITS>(end) << (sideband::end(W, 0) as u64))
}

/// Sideband signals of a beat of one double word that ends a TLP, which is to be dropped.
#[hdl_fn]
pub fn cut_signals<const W: usize>() -> Bits<USER> {
    (bits::<USER>(1) << (sideband::ends(W, 0) as u64))
        | (bits::<USER>(1) << (sideband::discontinue(W) as u64))
}
