//! Steps of the selection of what a port sends.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

use crate::rc_turn::has_paths;
use crate::records::Op;

/// What `TransmitSelect` does in a cycle.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum SelectStep {
    Idle,
    /// MRC: waits for the spray engine, which may still execute a request of the previous operation, then queries it and the window. RC: waits until the
    /// previous burst has been sent, and with a path policy for the spray engine.
    WaitForUnits,
    /// RC with a path policy: waits for what it tells. Tells it if nothing is in flight while it holds the queue pair. Then sends a probe, or requests a path.
    AskPolicy,
    /// RC with a path policy: waits for the path.
    AwaitPath,
    /// MRC: does to the congestion window what the path policy tells, and tells it if nothing is in flight while it holds the queue pair. Then selects a probe, a lost packet, or
    /// new packets.
    Select,
    /// Waits for the record of a lost packet.
    ReadSentPacket,
    /// `BurstFlow` sends what was selected.
    Burst,
    /// Behind `Select`: asks the window for the record of a lost packet. That one is lost comes late in a cycle, and the window begins in the same.
    AskSentPacket,
}

/// Returns the first step of an operation that may send. RC begins with the message, or with a path policy with what that tells; neither begins beside a burst. Levels: 3.
#[hdl_fn]
pub fn first_step(op: Op, burst_active: Bit, spray_busy: Bit) -> SelectStep {
    let paths = has_paths(op.settings);
    if paths & !burst_active & !spray_busy {
        SelectStep::AskPolicy
    } else if op.settings.rc & !paths & !burst_active {
        SelectStep::Burst
    } else if op.settings.rc | (op.state.path_policy.probes & spray_busy) {
        SelectStep::WaitForUnits
    } else {
        SelectStep::Select
    }
}

/// Returns whether an operation begins with the message, so that this is requested in the first cycle: it does not end at once, and its first step is `Burst`. Said in one, it is shallower. Levels: 3.
#[hdl_fn]
pub fn launches_at_once(op: Op, burst_active: Bit) -> Bit {
    let settings = op.settings;
    let sends = settings.valid & !op.state.failed & !op.state.rc.waits;
    let from_here = (settings.plane == op.port) & !burst_active;
    sends & from_here & settings.rc & !settings.slow_rtt.any()
}

/// Returns whether the operation ends at once: the queue pair has failed or is not configured, or RC sends from the other port or waits. Levels: 4.
#[hdl_fn]
pub fn ends_at_once(op: Op) -> Bit {
    let settings = op.settings;
    let is_other_port = (settings.plane != op.port) & !has_paths(settings);
    op.state.failed | !settings.valid | (settings.rc & (is_other_port | op.state.rc.waits))
}
