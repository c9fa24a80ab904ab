//! The steps of an operation.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

/// What the server does in a clock.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Step {
    /// Takes a request; the memories are read.
    Idle,
    /// Row and slots are there.
    Fetch,
    /// The record of the packet sent is there.
    Read,
    /// The slots of new packets: those in the word of the first one.
    Range,
    /// Those in the next word.
    RangeEnd,
    /// As `Read`, of a SACK: the answered packet, whether the SACK is good, and which slots of the answered packet's word are news.
    Check,
    /// As `Walk`, of the first word; counts the answered packet, and chooses the next word that may have news.
    Pick,
    /// Which slots of the next word are news.
    Load,
    /// Clears them, reads their lengths, and looks for the next first slot unacknowledged.
    Walk,
    /// Looks for the next first slot: unacknowledged, lost on plane 0, lost on plane 1.
    Seek,
    /// Whether it is in the word looked at.
    Find,
    /// Looks into the next word.
    Far,
    /// Reads the record of the packet found.
    Locate,
    Wait,
    /// Answers; row and record are written.
    Respond,
}

/// What follows a clock of the walk over a word: more of it (unless `last`), the next word, the search for `una` that has begun, or whatever `waits`.
#[hdl_fn]
pub fn step_after_walk(last: Bit, more_words: Bit, una_hit: Bit, waits: Bit) -> Step {
    if !last {
        Step::Walk
    } else if more_words {
        Step::Load
    } else if una_hit {
        Step::Find
    } else if waits {
        Step::Seek
    } else {
        Step::Respond
    }
}
