//! A request in the pipeline, as the properties follow it.

use hdl_emtt::emtt_banks::ReadOrder;
use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::tables::{EmttEntry, Owner};

use super::inner::OfBanks;

/// What the watched entry was when a request entered.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Passing {
    /// The request passed the region check.
    pub wanted: Bit,
    /// The watched entry was written.
    pub written: Bit,
    /// The first page of the range is the watched entry, or the page before it, or the one before that.
    pub is_first: Bit,
    pub is_second: Bit,
    pub is_third: Bit,
    /// The watched entry is valid, and belongs to a GPU.
    pub valid: Bit,
    pub gpu: Bit,
}

/// Returns whether `entry` is the watched entry as it was when the request entered.
#[hdl_fn]
pub fn is_entry(request: Passing, entry: EmttEntry) -> Bit {
    (request.valid == entry.valid) & (request.gpu == (entry.owner == Owner::Gpu))
}

/// Returns whether the request `later` met the watched entry as the request before it left it: as `entry` if that one was `written` meanwhile.
#[hdl_fn]
pub fn comes_after(later: Passing, earlier: Passing, written: Bit, entry: EmttEntry) -> Bit {
    if written {
        later.written & is_entry(later, entry)
    } else {
        (later.written == earlier.written)
            & (later.valid == earlier.valid)
            & (later.gpu == earlier.gpu)
    }
}

/// Returns whether the request reads the watched entry.
#[hdl_fn]
pub fn reads_watched(request: Passing) -> Bit {
    request.is_first | request.is_second | request.is_third
}

/// Returns whether the banks are read in an order in which the watched entry is where the request expects it, and is not beyond the table.
#[hdl_fn]
pub fn is_ordered(request: Passing, order: ReadOrder, watched: Bits<3>) -> Bit {
    let bank = watched.get_bits::<2>(0);
    (!request.is_first | ((order.bank == bank) & !order.first_beyond))
        & (!request.is_second | ((order.bank + 1 == bank) & !order.second_beyond))
        & (!request.is_third | ((order.bank + 2 == bank) & !order.third_beyond))
}

/// Returns the entry of the bank of the watched entry.
#[hdl_fn]
pub fn in_bank_of(watched: Bits<3>, banks: OfBanks) -> EmttEntry {
    match watched.get_bits::<2>(0).to_u8() {
        0 => banks.zero,
        1 => banks.one,
        2 => banks.two,
        _ => banks.three,
    }
}
