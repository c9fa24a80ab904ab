//! How long an operation takes.

use hdl_macros::hdl_fn;
use hdl_tx_window::blocks::place_of;
use hdl_tx_window::step::Step;
use rust_hdl::prelude::*;
use stellar_wire::hw::window::WindowOp;

use super::operation::Operation;
use super::pool::low_of;
use super::sack::is_taken;

/// Returns the number of bits that are set, and `more`.
#[hdl_fn]
pub fn ones(set: Bits<8>, more: Bits<6>) -> Bits<6> {
    let mut sum = more;
    for i in 0..8 {
        sum = sum + bits::<6>(0).replace_bit(0, set.get_bit(i));
    }
    sum
}

/// Cycles from an operation's first one to its response, at most. The cycles in which the response waits for the memory of the records do not count.
pub const LONGEST: u64 = 11;
/// Those of a SACK.
pub const LONGEST_SACK: u64 = 40;

/// Cycles of a visit, at most.
const VISIT: u64 = 9;

/// Returns whether the operation, which is in its cycle `age`, will respond in time. A SACK is at its block for `stay` cycles; `walks`, `reads`: it reads records.
#[hdl_fn]
pub fn is_in_time(
    now: Operation,
    age: Bits<6>,
    stay: Bits<6>,
    walks: Bit,
    reads: Bit,
    record_read: Bit,
    record_comes: Bit,
) -> Bit {
    let is_sack = now.asked.op == WindowOp::Sack;
    let to_seek = bit_cast::<6, 2>(low_of(place_of(now.asked.psn) - now.place));
    let to_visit = bit_cast::<6, 2>(low_of(now.last_place - now.visit.place));
    let visited = bit_cast::<6, 8>(now.visit.index);
    match now.step {
        Step::Fetch => !age.any(),
        Step::Seek => {
            if now.inside {
                age.any() & (age <= 4) & (age + to_seek <= 4)
            } else {
                age == 1
            }
        }
        Step::ReadRecord => (record_comes & (age <= 6)) | (record_read & (age <= 5)),
        Step::Allocate | Step::CheckSack => age == 1,
        Step::AllocateEnd => age == 2,
        Step::Visit => {
            if is_sack {
                (stay < VISIT)
                    & (is_taken(now) | (age == 2))
                    & (!is_taken(now) | (visited <= 3))
                    & (!is_taken(now) | (age <= (visited << 3) + visited + stay + 2))
            } else {
                (age <= 8) & (age + to_visit <= 8)
            }
        }
        Step::ReadFound => age <= 9,
        Step::Drain => {
            if is_sack {
                !walks & !record_read & (age < LONGEST_SACK) & (!reads | (age < LONGEST_SACK - 1))
            } else {
                age < LONGEST
            }
        }
        Step::Respond => {
            if is_sack {
                age <= LONGEST_SACK
            } else {
                age <= LONGEST
            }
        }
        _ => true,
    }
}
