//! Steps of an operation.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

/// What the unit does in a cycle.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Step {
    /// Accepts a request, and addresses the memories.
    Idle,
    /// Row and slots have been read.
    Fetch,
    /// The record of the packet has been read.
    ReadRecord,
    /// Updates the slots of an allocated or removed range: those in the word of the first packet.
    UpdateRange,
    /// Updates those in the next word.
    UpdateRangeEnd,
    /// Checks the SACK. The record of the answered packet has been read; determines which slots of its word are newly acknowledged.
    CheckSack,
    /// Walks the word of the answered packet. Counts the answered packet, and chooses the next word.
    WalkFirst,
    /// Loads the next word: determines which of its slots are newly acknowledged.
    LoadWord,
    /// Walks the word: clears the slots, reads their records, and starts the search for the new `una`.
    WalkWord,
    /// Starts the next search: first unacknowledged slot, first lost on plane 0, first lost on plane 1.
    StartSearch,
    /// Checks the word in which the search started.
    SearchWord,
    /// Reads the word that contains the result.
    SearchFarWord,
    /// Checks that the result is in the window, and reads its record.
    CheckFound,
    WaitRecord,
    /// Responds, and writes row and record.
    Respond,
}

/// Returns the step after a cycle of a walk. The walk continues in the same word (unless `last`) or in the next one. Then follows the search for `una` that
/// was started, or the other searches (`waits`).
#[hdl_fn]
pub fn step_after_walk(last: Bit, more_words: Bit, una_hit: Bit, waits: Bit) -> Step {
    if !last {
        Step::WalkWord
    } else if more_words {
        Step::LoadWord
    } else if una_hit {
        Step::SearchWord
    } else if waits {
        Step::StartSearch
    } else {
        Step::Respond
    }
}
