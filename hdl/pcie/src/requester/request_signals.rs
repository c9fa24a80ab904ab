//! Sideband signals of AMD's requester request stream ([`sideband`]).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::rq::SLOT_BITS;
use stellar_wire::pcie::sideband::request as sideband;

/// Bits of `tuser` that are not zero.
pub const USER: usize = 80;

/// A slot as `tuser` names it.
const fn start_of(width: usize, slot: usize) -> u64 {
    (slot * SLOT_BITS / 8 / sideband::start_bytes(width)) as u64
}

/// Sideband signals of the TLP that begins in `slot`, the `rank`-th in its beat.
#[hdl_fn]
pub fn start_signals<const W: usize>(
    slot: usize,
    rank: usize,
    first_be: Bits<4>,
    last_be: Bits<4>,
) -> Bits<USER> {
    (bit_cast::<USER, 4>(first_be) << (sideband::first_be(rank) as u64))
        | (bit_cast::<USER, 4>(last_be) << (sideband::last_be(W, rank) as u64))
        | (bits::<USER>(1) << (sideband::starts(W, rank) as u64))
        | (bits::<USER>(start_of(W, slot)) << (sideband::start(W, rank) as u64))
}

/// Sideband signals of the TLP that ends in `slot`, the `rank`-th in its beat, with this double word of it.
#[hdl_fn]
pub fn end_signals<const W: usize>(slot: usize, rank: usize, dword: Bits<3>) -> Bits<USER> {
    let end = bit_cast::<5, 3>(dword) | bits::<5>(8 * slot as u64);
    (bits::<USER>(1) << (sideband::ends(W, rank) as u64))
        | (bit_cast::<USER, 5>(end) << (sideband::end(W, rank) as u64))
}

/// Sideband signals of a beat of one double word that ends a TLP, which is to be dropped.
#[hdl_fn]
pub fn cut_signals<const W: usize>() -> Bits<USER> {
    end_signals::<W>(0, 0, bits::<3>(0)) | (bits::<USER>(1) << (sideband::discontinue(W) as u64))
}
