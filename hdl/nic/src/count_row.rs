//! Rows of counts of paths, and what accesses change in them.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::host::PathCount;

use crate::path_accesses::AccessKind;

/// Bits of a count, and of the three counts of a path.
const COUNT: usize = PathCount::BITS;
pub const COUNTS: usize = PathCount::ALL_BITS;
const MARKED: usize = PathCount::MARKED_BIT;
const LOST: usize = PathCount::LOST_BIT;
/// A row of the memory has two paths, so it is as wide as an UltraRAM.
pub const ROW: usize = 2 * COUNTS;

/// Returns the counts of the path with this index. 1 level.
#[hdl_fn]
pub fn counts_of(row: Bits<ROW>, index: Bits<8>) -> Bits<COUNTS> {
    let low = row.get_bits::<COUNTS>(0);
    let high = row.get_bits::<COUNTS>(COUNTS);
    if index.get_bit(0) {
        high
    } else {
        low
    }
}

/// Returns the counts after an access, by the rule of [`PathCount`]. 4 levels.
#[hdl_fn]
pub fn after_access(counts: Bits<COUNTS>, kind: AccessKind) -> Bits<COUNTS> {
    let sent = counts.get_bits::<COUNT>(0);
    let marked = counts.get_bits::<COUNT>(MARKED);
    let lost = counts.get_bits::<COUNT>(LOST);
    let may_count = !(sent.all() | marked.all() | lost.all());
    let one_sent = bit_cast::<COUNT, 1>((may_count & (kind == AccessKind::Sent)).into());
    let one_marked = bit_cast::<COUNT, 1>((may_count & (kind == AccessKind::Marked)).into());
    let one_lost = bit_cast::<COUNT, 1>((may_count & (kind == AccessKind::Lost)).into());
    let counted = bit_cast::<COUNTS, COUNT>(sent + one_sent)
        | (bit_cast::<COUNTS, COUNT>(marked + one_marked) << MARKED as u64)
        | (bit_cast::<COUNTS, COUNT>(lost + one_lost) << LOST as u64);
    if kind == AccessKind::Read {
        bits::<COUNTS>(0)
    } else {
        counted
    }
}

/// Returns the row with other counts of the path with this index. 1 level.
#[hdl_fn]
pub fn with_counts(row: Bits<ROW>, index: Bits<8>, counts: Bits<COUNTS>) -> Bits<ROW> {
    let is_high = index.get_bit(0);
    let low = if is_high {
        row.get_bits::<COUNTS>(0)
    } else {
        counts
    };
    let high = if is_high {
        counts
    } else {
        row.get_bits::<COUNTS>(COUNTS)
    };
    bit_cast::<ROW, COUNTS>(low) | (bit_cast::<ROW, COUNTS>(high) << COUNTS as u64)
}
