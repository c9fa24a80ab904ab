//! The blocks of the pool, as the properties follow them.

use hdl_macros::hdl_fn;
use hdl_tx_window::blocks::{last_place_before, place_of, Block, Place};
use hdl_tx_window::row::WindowRow;
use rust_hdl::prelude::*;
use stellar_wire::hw::QPN_BITS;

/// Blocks of the pool.
pub const BLOCKS: usize = 4;
/// Packets for which it has slots.
pub const PACKETS: u64 = 32 * BLOCKS as u64;

/// Number of a block, as the memories address it.
pub type Number = Bits<2>;
/// Low bits of a place. No list has two blocks of which they are the same.
pub type Low = Bits<2>;

/// Whose a block is.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Followed {
    /// No window holds it. Otherwise queue pair 1 does, or queue pair 0.
    pub free: Bit,
    pub odd: Bit,
    /// Its place in the window; its number in the order of the free blocks.
    pub place: Low,
}

/// Every block.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Pool {
    pub b0: Followed,
    pub b1: Followed,
    pub b2: Followed,
    pub b3: Followed,
}

/// The link of every block.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Links {
    pub b0: Number,
    pub b1: Number,
    pub b2: Number,
    pub b3: Number,
}

/// A list of blocks: their number, the place of the first one, and both ends. `fits`: they are no more than there are.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct List {
    pub free: Bit,
    pub odd: Bit,
    pub fits: Bit,
    pub count: Bits<3>,
    pub first: Low,
    pub head: Block,
    pub tail: Block,
}

#[hdl_fn]
pub fn nth(pool: Pool, n: usize) -> Followed {
    match n {
        0 => pool.b0,
        1 => pool.b1,
        2 => pool.b2,
        _ => pool.b3,
    }
}

#[hdl_fn]
fn nth_link(links: Links, n: usize) -> Number {
    match n {
        0 => links.b0,
        1 => links.b1,
        2 => links.b2,
        _ => links.b3,
    }
}

/// Returns what is known of a block.
#[hdl_fn]
pub fn numbered(pool: Pool, number: Number) -> Followed {
    match number.to_u8() {
        0 => pool.b0,
        1 => pool.b1,
        2 => pool.b2,
        _ => pool.b3,
    }
}

#[hdl_fn]
pub fn link_of(links: Links, number: Number) -> Number {
    match number.to_u8() {
        0 => links.b0,
        1 => links.b1,
        2 => links.b2,
        _ => links.b3,
    }
}

/// Returns the low bits of a place.
#[hdl_fn]
pub fn low_of(place: Place) -> Low {
    place.get_bits::<2>(0)
}

/// Returns whether the window of a queue pair holds this block, at the place with these low bits.
#[hdl_fn]
pub fn holds_low(pool: Pool, block: Block, odd: Bit, place: Low) -> Bit {
    let followed = numbered(pool, block.get_bits::<2>(0));
    !block.get_bits::<8>(2).any()
        & !followed.free
        & (followed.odd == odd)
        & (followed.place == place)
}

/// Returns whether the window of a queue pair holds this block at this place.
#[hdl_fn]
pub fn holds_at(pool: Pool, block: Block, odd: Bit, place: Place, row: WindowRow) -> Bit {
    let first = place_of(row.una);
    holds_low(pool, block, odd, low_of(place))
        & (row.una != row.next_psn)
        & (place - first <= last_place_before(row.next_psn) - first)
}

#[hdl_fn]
fn is_of(followed: Followed, list: List) -> Bit {
    (followed.free == list.free) & (list.free | (followed.odd == list.odd))
}

/// Returns the list of the window of a queue pair. `lacks_last`: its last block has yet to be taken.
#[hdl_fn]
pub fn list_of(row: WindowRow, odd: Bit, lacks_last: Bit) -> List {
    let first = place_of(row.una);
    let places = last_place_before(row.next_psn) - first;
    let is_empty = row.una == row.next_psn;
    let low = bit_cast::<3, 2>(low_of(places));
    List {
        free: false,
        odd,
        fits: is_empty | (places < (BLOCKS as u64)),
        count: if is_empty {
            bits::<3>(0)
        } else if lacks_last {
            low
        } else {
            low + 1
        },
        first: low_of(first),
        head: row.head,
        tail: row.tail,
    }
}

/// Returns whether block `n`, if it is of the list, has its place there and leads to the next one.
#[hdl_fn]
fn is_linked(pool: Pool, links: Links, list: List, n: usize) -> Bit {
    let own = nth(pool, n);
    let next = numbered(pool, nth_link(links, n));
    let is_last = own.place == list.first + list.count.get_bits::<2>(0) - 1;
    let follows = is_of(next, list) & (next.place == own.place + 1);
    !is_of(own, list)
        | ((bit_cast::<3, 2>(own.place - list.first) < list.count) & (is_last | follows))
}

/// Returns whether two blocks have different places if both are of the list.
#[hdl_fn]
fn are_apart(pool: Pool, list: List, n: usize, m: usize) -> Bit {
    let one = nth(pool, n);
    let other = nth(pool, m);
    !is_of(one, list) | !is_of(other, list) | (one.place != other.place)
}

/// Returns whether the links lead through all blocks of the list, each once, from its head to its tail.
#[hdl_fn]
pub fn is_list(pool: Pool, links: Links, list: List) -> Bit {
    let last = list.first + list.count.get_bits::<2>(0) - 1;
    let mut number = bits::<3>(0);
    for n in 0..BLOCKS {
        number = number + bits::<3>(0).replace_bit(0, is_of(nth(pool, n), list));
    }
    let linked = is_linked(pool, links, list, 0)
        & is_linked(pool, links, list, 1)
        & is_linked(pool, links, list, 2)
        & is_linked(pool, links, list, 3);
    let apart = are_apart(pool, list, 0, 1)
        & are_apart(pool, list, 0, 2)
        & are_apart(pool, list, 0, 3)
        & are_apart(pool, list, 1, 2)
        & are_apart(pool, list, 1, 3)
        & are_apart(pool, list, 2, 3);
    let head = numbered(pool, list.head.get_bits::<2>(0));
    let tail = numbered(pool, list.tail.get_bits::<2>(0));
    let ends = is_of(head, list)
        & is_of(tail, list)
        & (head.place == list.first)
        & (tail.place == last)
        & !list.head.get_bits::<8>(2).any()
        & !list.tail.get_bits::<8>(2).any();
    list.fits & linked & apart & (number == list.count) & (!list.count.any() | ends)
}

/// Returns whether block `n` is free and linked to the next one, if it is before `swept`.
#[hdl_fn]
fn is_filled_at(pool: Pool, links: Links, swept: Bits<QPN_BITS>, n: usize) -> Bit {
    let number = bits::<2>(n as u64);
    let own = nth(pool, n);
    let filled = own.free & (own.place == number) & (nth_link(links, n) == number + 1);
    filled | (swept <= (n as u64))
}

/// Returns whether the blocks before `swept` are free and linked in the order of their numbers.
#[hdl_fn]
pub fn is_filled(pool: Pool, links: Links, swept: Bits<QPN_BITS>, list: List) -> Bit {
    let last = swept - 1;
    let good = is_filled_at(pool, links, swept, 0)
        & is_filled_at(pool, links, swept, 1)
        & is_filled_at(pool, links, swept, 2)
        & is_filled_at(pool, links, swept, 3);
    let whole = (list.count == (BLOCKS as u64))
        & !list.first.any()
        & !list.head.any()
        & (list.tail == last.get_bits::<10>(0));
    good & (swept < (BLOCKS as u64)) & (whole | !swept.any())
}
