//! Page arithmetic for the four page sizes.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::tables::PageSize;
use stellar_wire::mtu::{LENGTH_BITS, MAX_PAYLOAD};

/// Bits of a page number that are needed. Two addresses of one region are less than 2^48 apart, so their page numbers differ by at most
/// 2^36, and a difference modulo 2^37 is exact.
pub const PAGE_NUMBER_BITS: usize = 37;

// With a greater payload, packets would reach the next page from further away, and could touch more pages.
const _: () = assert!(MAX_PAYLOAD == 8192);

/// Page number of an address, modulo 2^37.
#[hdl_fn]
pub fn page_number(va: Bits<64>, size: PageSize) -> Bits<37> {
    match size {
        PageSize::Size4K => va.get_bits::<37>(12),
        PageSize::Size64K => va.get_bits::<37>(16),
        PageSize::Size2M => va.get_bits::<37>(21),
        PageSize::Size1G => bit_cast::<37, 34>(va.get_bits::<34>(30)),
    }
}

/// Whether the address is in the last 8 KiB of its page. A packet has at most 8 KiB, so from elsewhere it does not reach the next page.
#[hdl_fn]
pub fn near_page_end(va: Bits<64>, size: PageSize) -> Bit {
    match size {
        PageSize::Size4K => true,
        PageSize::Size64K => va.get_bits::<3>(13).all(),
        PageSize::Size2M => va.get_bits::<8>(13).all(),
        PageSize::Size1G => va.get_bits::<17>(13).all(),
    }
}

/// Bytes from an address that is [near](near_page_end) the end of its page to that end, 1 to 8,192.
#[hdl_fn]
pub fn bytes_to_page_end(va: Bits<64>, size: PageSize) -> Bits<LENGTH_BITS> {
    if size == PageSize::Size4K {
        bits::<LENGTH_BITS>(4096) - bit_cast::<LENGTH_BITS, 12>(va.get_bits::<12>(0))
    } else {
        bits::<LENGTH_BITS>(8192) - bit_cast::<LENGTH_BITS, 13>(va.get_bits::<13>(0))
    }
}

/// Bus address: the upper bits are those of the page, the bits within the page those of the virtual address.
#[hdl_fn]
pub fn bus_address(frame: Bits<52>, va: Bits<64>, size: PageSize) -> Bits<64> {
    let offset_mask = match size {
        PageSize::Size4K => bits::<64>(0xfff),
        PageSize::Size64K => bits::<64>(0xffff),
        PageSize::Size2M => bits::<64>(0x1f_ffff),
        PageSize::Size1G => bits::<64>(0x3fff_ffff),
    };
    let page = bit_cast::<64, 52>(frame) << 12;
    (page & !offset_mask) | (va & offset_mask)
}
