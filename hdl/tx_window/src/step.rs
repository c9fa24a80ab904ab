//! Steps of an operation.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::window::WindowOp;

use crate::visit::VisitEnd;

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

/// What the step after a step depends on, beside the visit of a block.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Endings {
    /// `Sweep`: the last row and the last block are swept.
    pub swept: Bit,
    /// `Idle`: there is a request.
    pub accepts: Bit,
    /// `Seek`: the requested PSN is in the window, and in the block that has been read; its record comes in the next cycle.
    pub inside: Bit,
    pub found_there: Bit,
    pub record_due: Bit,
    /// `ReadRecord`: the record has come.
    pub loses: Bit,
    /// `Allocate`: packets lie in a second block.
    pub goes_beyond: Bit,
    /// `Visit`: a SACK is accepted, and there is something that it may acknowledge.
    pub taken: Bit,
    /// `Visit`: all records of the block are addressed.
    pub read: Bit,
    /// Records have not come yet.
    pub drains: Bit,
    /// `Respond`: it does.
    pub responds: Bit,
}

/// Returns the step after `step`.
#[hdl_fn]
pub fn next_step(step: Step, op: WindowOp, endings: Endings, end: VisitEnd) -> Step {
    match step {
        Step::Sweep => {
            if endings.swept {
                Step::Idle
            } else {
                Step::Sweep
            }
        }
        Step::Idle => {
            if endings.accepts {
                Step::Fetch
            } else {
                Step::Idle
            }
        }
        Step::Fetch => match op {
            WindowOp::Sack => Step::CheckSack,
            WindowOp::Allocate => Step::Allocate,
            WindowOp::Query | WindowOp::Configure => Step::Respond,
            _ => Step::Seek,
        },
        Step::Seek => {
            if !endings.inside {
                Step::Respond
            } else if !endings.found_there {
                Step::Seek
            } else {
                match op {
                    WindowOp::MarkRetransmitted | WindowOp::NextInFlight => Step::Visit,
                    WindowOp::MarkLost => Step::ReadRecord,
                    _ => {
                        if endings.record_due {
                            Step::Respond
                        } else {
                            Step::Drain
                        }
                    }
                }
            }
        }
        Step::ReadRecord => {
            if endings.loses {
                Step::Respond
            } else {
                Step::ReadRecord
            }
        }
        Step::Allocate => {
            if endings.goes_beyond {
                Step::AllocateEnd
            } else {
                Step::Respond
            }
        }
        Step::AllocateEnd => Step::Respond,
        Step::CheckSack => Step::Visit,
        Step::Visit => {
            if (op == WindowOp::Sack) & !endings.taken {
                Step::Respond
            } else if !endings.read | end.more {
                // Whether the visit ends depends on whether another one follows, so it is not asked.
                Step::Visit
            } else if (op == WindowOp::NextInFlight) & end.any_wanted {
                Step::ReadFound
            } else if endings.drains {
                Step::Drain
            } else {
                Step::Respond
            }
        }
        Step::ReadFound => Step::Drain,
        Step::Drain => {
            if endings.drains {
                Step::Drain
            } else {
                Step::Respond
            }
        }
        Step::Respond => {
            if endings.responds {
                Step::Idle
            } else {
                Step::Respond
            }
        }
    }
}
