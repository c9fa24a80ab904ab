//! The steps of an operation.

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
    /// As `Read`, of a SACK: the answered packet, and whether the SACK is good.
    Check,
    /// Counts the answered packet, and chooses the first word that may have news.
    Pick,
    /// Which slots of the word are news.
    Load,
    /// Clears them, and reads their lengths.
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
