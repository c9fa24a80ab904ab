//! Arithmetic of pages: numbers, ends and final addresses, for the four page sizes.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::tables::PageSize;

/// Bits of a page number that matter: two addresses of one region are less than 2^48 apart, so their page numbers differ
/// by at most 2^36, and the difference modulo 2^37 is the difference.
pub const PAGE_NUMBER_BITS: usize = 37;

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

/// The address is in the last 4 KiB of its page. Packets are at most 4 KiB long, so from elsewhere none leaves its page.
#[hdl_fn]
pub fn in_last_4k(va: Bits<64>, size: PageSize) -> Bit {
    match size {
        PageSize::Size4K => true,
        PageSize::Size64K => va.get_bits::<4>(12).all(),
        PageSize::Size2M => va.get_bits::<9>(12).all(),
        PageSize::Size1G => va.get_bits::<18>(12).all(),
    }
}

/// Bytes from the address to the next multiple of 4 KiB, 1 to 4,096.
#[hdl_fn]
pub fn bytes_to_4k(va: Bits<64>) -> Bits<13> {
    bits::<13>(4096) - bit_cast::<13, 12>(va.get_bits::<12>(0))
}

/// Bus address: the page's address bits above the page size, the virtual address's below.
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
