//! Keyed permutation of the 64 slots of a plane (`docs/multipath.md`, "Order of a rotation"), as layers over maps of 64 bits.
//!
//! A layer replaces a map `m` by `m[f(0)], m[f(1)], ...` if its bit of the key is set. XOR has one layer per bit. An odd number modulo 64 is `(-1)^n 5^e`, so
//! a multiplication has five layers. Swapping and folding the halves of an index are wiring, and both are their own inverse. Two layers take one LUT level.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

/// Layers that XOR one bit of the place: `FLIP` to `FLIP + 5`.
const FLIP: usize = 0;
/// Layers that multiply the place by 5, 5^2, 5^4, 5^8.
const TIMES: usize = 6;
/// Layer that negates the place.
const NEGATE: usize = 10;
/// Wiring that XORs the low half of the place with the high one.
const FOLD: usize = 11;
/// Wiring that swaps the halves of the place.
const SWAP: usize = 12;

/// Returns the place from which a layer takes the bit at `place`.
const fn source(layer: usize, place: u64) -> u64 {
    let from = match layer {
        FLIP..TIMES => place ^ 1 << (layer - FLIP),
        TIMES..NEGATE => place * 5_u64.pow(1 << (layer - TIMES)),
        NEGATE => 64 - place,
        FOLD => place ^ place >> 3,
        _ => place << 3 | place >> 3,
    };
    from % 64
}

/// For each distance `by` that occurs in a layer, returns the places whose bit moves there from `by` places above, modulo 64.
fn moves(layer: usize) -> Vec<(u64, u64)> {
    let places = |by| {
        let comes = |&place: &u64| (source(layer, place) + 64 - place) % 64 == by;
        (0..64).filter(comes).fold(0, |map, place| map | 1 << place)
    };
    let all = (0..64).map(|by| (by, places(by)));
    all.filter(|&(_, places)| places != 0).collect()
}

#[hdl_fn]
fn moved(map: Bits<64>, layer: usize) -> Bits<64> {
    let mut out = bits::<64>(0);
    for (by, places) in moves(layer) {
        let turned = (map >> by) | (map << ((64 - by) % 64));
        out = out | (turned & bits::<64>(places));
    }
    out
}

/// Applies the XOR layers for bits `from` to `below - 1` of the key.
#[hdl_fn]
fn flipped(map: Bits<64>, key: Bits<6>, from: usize, below: usize) -> Bits<64> {
    let mut out = map;
    for i in from..below {
        let other = moved(out, FLIP + i);
        out = if key.get_bit(i) { other } else { out };
    }
    out
}

/// Applies the multiplication layers. `log` comes from [`log_of`].
#[hdl_fn]
fn multiplied(map: Bits<64>, log: Bits<5>) -> Bits<64> {
    let mut out = map;
    for i in 0..5 {
        let other = moved(out, TIMES + i);
        out = if log.get_bit(i) { other } else { out };
    }
    out
}

/// Returns bit `bit` of the logarithms of all 32 multipliers, or of their inverses.
fn log_table(bit: usize, inverse: usize) -> u64 {
    let log = |field: u64| {
        let multiplier = 2 * field + 1;
        let fits = |&log: &u64| {
            let power = 5_u64.pow(log as u32 % 16) % 64;
            let signed = if log < 16 { power } else { 64 - power };
            match inverse {
                0 => signed == multiplier,
                _ => signed * multiplier % 64 == 1,
            }
        };
        (0..32)
            .find(fits)
            .expect("5 and -1 generate the odd numbers modulo 64")
    };
    (0..32).fold(0, |table, field| table | (log(field) >> bit & 1) << field)
}

/// Returns the multiplier `2 * field + 1` of a key, or its inverse modulo 64, as `(-1)^log[4] * 5^log[3:0]`. 1 level.
#[hdl_fn]
fn log_of(field: Bits<5>, inverse: usize) -> Bits<5> {
    let mut log = bits::<5>(0);
    for bit in 0..5 {
        let table = bits::<32>(log_table(bit, inverse));
        log = log.replace_bit(bit, table.get_bit(field.index()));
    }
    log
}

/// A decoded key.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct OrderKey {
    pub flip_1: Bits<6>,
    pub log_1: Bits<5>,
    pub inverse_1: Bits<5>,
    pub flip_2: Bits<6>,
    pub log_2: Bits<5>,
    pub inverse_2: Bits<5>,
    pub flip_3: Bits<6>,
}

/// Decodes a key. 1 level.
#[hdl_fn]
pub fn order_key(key: Bits<28>) -> OrderKey {
    OrderKey {
        flip_1: key.get_bits::<6>(0),
        log_1: log_of(key.get_bits::<5>(6), 0),
        inverse_1: log_of(key.get_bits::<5>(6), 1),
        flip_2: key.get_bits::<6>(11),
        log_2: log_of(key.get_bits::<5>(17), 0),
        inverse_2: log_of(key.get_bits::<5>(17), 1),
        flip_3: key.get_bits::<6>(22),
    }
}

/// First half of the permutation from slots to positions. 7 levels.
#[hdl_fn]
pub fn to_positions_first(slots: Bits<64>, key: OrderKey) -> Bits<64> {
    let flipped_3 = flipped(slots, key.flip_3, 0, 6);
    let multiplied_2 = multiplied(moved(flipped_3, FOLD), key.log_2);
    flipped(multiplied_2, key.flip_2, 0, 3)
}

/// Second half of the permutation from slots to positions. 7 levels.
#[hdl_fn]
pub fn to_positions_second(half: Bits<64>, key: OrderKey) -> Bits<64> {
    let flipped_2 = flipped(half, key.flip_2, 3, 6);
    let multiplied_1 = multiplied(moved(flipped_2, SWAP), key.log_1);
    flipped(multiplied_1, key.flip_1, 0, 6)
}

/// First half of the permutation from positions to slots. 7 levels.
#[hdl_fn]
pub fn to_slots_first(positions: Bits<64>, key: OrderKey) -> Bits<64> {
    let flipped_1 = flipped(positions, key.flip_1, 0, 6);
    let multiplied_1 = multiplied(flipped_1, key.inverse_1);
    flipped(moved(multiplied_1, SWAP), key.flip_2, 0, 3)
}

/// Second half of the permutation from positions to slots. 7 levels.
#[hdl_fn]
pub fn to_slots_second(half: Bits<64>, key: OrderKey) -> Bits<64> {
    let flipped_2 = flipped(half, key.flip_2, 3, 6);
    let multiplied_2 = multiplied(flipped_2, key.inverse_2);
    flipped(moved(multiplied_2, FOLD), key.flip_3, 0, 6)
}

/// Returns bit `bit` of `low * (2 * field + 1)`, for three bits of `low` (address bits 2:0) and every `field` (7:3).
fn product_table(bit: usize) -> Bits<256> {
    (0..256).fold(Bits::default(), |table: Bits<256>, address| {
        let product = (address & 7) * (2 * (address >> 3) + 1);
        table.replace_bit(address, product >> bit & 1 == 1)
    })
}

/// Returns `x * (2 * field + 1)` modulo 64. 4 levels: the low half of `x` by table, the high half in parallel, a sum of three bits.
#[hdl_fn]
pub fn times_odd(x: Bits<6>, field: Bits<5>) -> Bits<6> {
    let low = x.get_bits::<3>(0);
    let high = x.get_bits::<3>(3);
    let address = (bit_cast::<8, 5>(field) << 3) | bit_cast::<8, 3>(low);
    let mut by_low = bits::<6>(0);
    for bit in 0..6 {
        let table = product_table(bit);
        by_low = by_low.replace_bit(bit, table.get_bit(address.index()));
    }
    let high_address = (bit_cast::<8, 2>(field.get_bits::<2>(0)) << 3) | bit_cast::<8, 3>(high);
    let mut by_high = bits::<3>(0);
    for bit in 0..3 {
        let table = product_table(bit);
        by_high = by_high.replace_bit(bit, table.get_bit(high_address.index()));
    }
    by_low + (bit_cast::<6, 3>(by_high) << 3)
}
