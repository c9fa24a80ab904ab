//! Steps of a SACK.

use rust_hdl::prelude::*;

/// What `SackFlow` does in a cycle.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum SackStep {
    Idle,
    /// The window processes the SACK.
    ApplyToWindow,
    /// Reports path feedback, once the FIFO has space, and a sample to congestion control, once that is free.
    ReportFeedback,
    /// The SACK responds to a probe: reports that the probed entropy value works.
    ReportProbe,
    /// The probe was marked: reports that too.
    ReportProbeMark,
    /// Looks for packets that are lost.
    DetectEarlyLoss,
    /// The queue pair fails: a message that was completed in the background has failed.
    Fail,
}
