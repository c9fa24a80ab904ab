//! Steps of an operation.

use rust_hdl::prelude::*;

/// What the unit does in a cycle.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Step {
    /// After a reset: empties all windows and frees all blocks, one of each per cycle.
    Sweep,
    /// Accepts a request, and addresses the row.
    Idle,
    /// The row has been read: addresses the block in which the operation starts.
    Fetch,
    /// The block has been read. Passes on to the next one, or to the newest one, until it is that of the requested PSN.
    Seek,
    /// `MarkLost`: waits for the record of the packet.
    ReadRecord,
    /// Updates the slots of a range that is added: those in its first block.
    Allocate,
    /// Those in the next block.
    AllocateEnd,
    /// Checks the SACK, and determines which slots of the first block are newly acknowledged.
    CheckSack,
    /// Visits a block. Meanwhile the next one is read.
    Visit,
    /// Reads the record of the packet that `NextInFlight` found.
    ReadFound,
    /// Waits for records.
    Drain,
    /// Responds, and writes row and record.
    Respond,
}
