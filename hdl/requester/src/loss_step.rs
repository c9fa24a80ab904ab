//! Steps of a NACK or an expired timer.

use rust_hdl::prelude::*;

/// What `LossFlow` does in a cycle.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum LossStep {
    Idle,
    /// Waits for the window: the state of the packet that the NACK names, or the position of the window.
    ReadState,
    /// Requests the next packet in flight.
    FindInFlight,
    /// Receives it, and computes when it expires.
    ComputeExpiry,
    /// Checks whether it has expired.
    CheckExpiry,
    /// Reports the loss to the spray engine, once that is free, and to the window.
    MarkLost,
    /// Reports the loss to congestion control, once that is free.
    ReportLossToCc,
    /// A tail probe is due, or a silent plane is asked: requests a path for the probe, once the spray engine is free.
    RequestPath,
    /// The probe waits for the port of its path.
    TakePath,
    /// The operation is done, but that of a timer with nothing late, which ends when that is known. A step of its own, because much depends on the end in the same cycle.
    End,
}
