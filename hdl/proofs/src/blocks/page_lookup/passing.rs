//! A request in the pipeline, as the properties follow it.

use hdl_emtt::emtt_banks::ReadOrder;
use hdl_emtt::page_lookup::{PageRequest, PageSplit};
use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::tables::{EmttEntry, Owner, PageSize};
use stellar_wire::mtu::{LENGTH_BITS, MAX_PAYLOAD};

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
    /// Address bits 63:12 of its page.
    pub frame: Bits<52>,
}

/// Where a range lies in its pages.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Cut {
    /// Bytes in the first page.
    pub first_length: Bits<LENGTH_BITS>,
    /// There are bytes in the second one, and in the third one.
    pub crosses: Bit,
    pub three: Bit,
}

/// Returns ones for the address bits within a page.
#[hdl_fn]
pub fn within_page(size: PageSize) -> Bits<64> {
    match size {
        PageSize::Size4K => bits::<64>(0xfff),
        PageSize::Size64K => bits::<64>(0xffff),
        PageSize::Size2M => bits::<64>(0x1f_ffff),
        PageSize::Size1G => bits::<64>(0x3fff_ffff),
    }
}

/// Returns the address of the page.
#[hdl_fn]
pub fn page_address(frame: Bits<52>, size: PageSize) -> Bits<64> {
    (bit_cast::<64, 52>(frame) << 12) & !within_page(size)
}

/// Returns where a range is cut: where its page ends, and, if that is one of 4 KiB, 4 KiB behind.
#[hdl_fn]
pub fn cut(request: PageRequest) -> Cut {
    let mask = within_page(request.page_size).get_bits::<32>(0);
    let to_end = mask - (request.va.get_bits::<32>(0) & mask) + 1;
    let length = bit_cast::<32, LENGTH_BITS>(request.length);
    let crosses = length > to_end;
    Cut {
        first_length: if crosses {
            to_end.get_bits::<LENGTH_BITS>(0)
        } else {
            request.length
        },
        crosses,
        three: crosses & (request.page_size == PageSize::Size4K) & (length > to_end + 4096),
    }
}

/// Returns whether the block cuts the range there, if it has no more bytes than a payload.
#[hdl_fn]
pub fn is_cut(request: PageRequest, split: PageSplit) -> Bit {
    let at = cut(request);
    (request.length > (MAX_PAYLOAD as u64))
        | ((split.first_length == at.first_length)
            & (split.crosses == at.crosses)
            & (split.three == at.three))
}

/// Returns whether `entry` is the watched entry as it was when the request entered.
#[hdl_fn]
pub fn is_entry(request: Passing, entry: EmttEntry) -> Bit {
    (request.valid == entry.valid)
        & (request.gpu == (entry.owner == Owner::Gpu))
        & (request.frame == entry.frame)
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
            & (later.frame == earlier.frame)
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
