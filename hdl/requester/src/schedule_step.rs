//! Steps of the schedule of a port.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

/// What `QpSchedule` does in a cycle.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum ScheduleStep {
    /// Clears the queues of tenants, one queue pair per cycle.
    Sweep,
    /// Starts a pending turn or wake-up, the return of a tenant, or a question, and addresses its rows. If no queue pair is present, one that wakes up is the
    /// head in the next cycle.
    Idle,
    /// The row of the head is valid. Addresses the rows of its tenant.
    TurnRead,
    /// Moves the queue pair, or removes it. Multiplies the cost of its burst by the step of the tenant.
    Turn,
    Multiply,
    /// Adds the product to the tag.
    Charge,
    /// The tenant has a limit: it pays from its bucket.
    Pay,
    /// Puts the tenant into the wheel, or among the resting ones.
    Place,
    /// Finds the first bucket with tenants.
    Find,
    /// The first tenant of that bucket has its turn.
    Take,
    /// Removes it from the bucket.
    Pop,
    /// The rows of the queue pair to wake and of its tenant are valid. Addresses the row of the tenant's last queue pair.
    WakeRead,
    /// Links the queue pair in.
    Wake,
    /// Computes the tag of a tenant that comes to the wheel.
    Return,
    /// The row of the first resting tenant is valid. Asks for it.
    AskRead,
}

/// What the step after a step depends on.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Endings {
    /// `Sweep`: all is cleared.
    pub cleared: Bit,
    /// `Idle`: a queue pair wakes up while none is present, or while others are; the head was rotated or deactivated; a resting tenant is moved; one is asked for.
    pub starts: Bit,
    pub wakes: Bit,
    pub turns: Bit,
    pub returns: Bit,
    pub asks: Bit,
    /// `Turn`: the head is removed; it is the only queue pair of its tenant.
    pub leaves: Bit,
    pub alone: Bit,
    /// `Charge`: the tenant has a limit.
    pub limited: Bit,
    /// `Pay`: the answer has come.
    pub paid: Bit,
    /// `Place`: there is a head.
    pub serving: Bit,
    /// `Find`: the wheel has tenants.
    pub wheel_turns: Bit,
    /// `Wake`: the queue pair, or another one of its tenant, is present.
    pub present: Bit,
}

/// Returns the step after `step`.
#[hdl_fn]
pub fn next_step(step: ScheduleStep, endings: Endings) -> ScheduleStep {
    match step {
        ScheduleStep::Sweep => {
            if endings.cleared {
                ScheduleStep::Idle
            } else {
                ScheduleStep::Sweep
            }
        }
        ScheduleStep::Idle => {
            if endings.starts {
                ScheduleStep::Return
            } else if endings.wakes {
                ScheduleStep::WakeRead
            } else if endings.turns {
                ScheduleStep::TurnRead
            } else if endings.returns {
                ScheduleStep::Return
            } else if endings.asks {
                ScheduleStep::AskRead
            } else {
                ScheduleStep::Idle
            }
        }
        ScheduleStep::TurnRead => ScheduleStep::Turn,
        ScheduleStep::Turn => {
            if !endings.leaves {
                ScheduleStep::Multiply
            } else if endings.alone {
                ScheduleStep::Find
            } else {
                ScheduleStep::Idle
            }
        }
        ScheduleStep::Multiply => ScheduleStep::Charge,
        ScheduleStep::Charge => {
            if endings.limited {
                ScheduleStep::Pay
            } else {
                ScheduleStep::Place
            }
        }
        ScheduleStep::Pay => {
            if endings.paid {
                ScheduleStep::Place
            } else {
                ScheduleStep::Pay
            }
        }
        ScheduleStep::Place => {
            if endings.serving {
                ScheduleStep::Idle
            } else {
                ScheduleStep::Find
            }
        }
        ScheduleStep::Find => {
            if endings.wheel_turns {
                ScheduleStep::Take
            } else {
                ScheduleStep::Idle
            }
        }
        ScheduleStep::Take => ScheduleStep::Pop,
        ScheduleStep::Pop => ScheduleStep::Idle,
        ScheduleStep::WakeRead => ScheduleStep::Wake,
        ScheduleStep::Wake => {
            if endings.present {
                ScheduleStep::Idle
            } else {
                ScheduleStep::Return
            }
        }
        ScheduleStep::Return => ScheduleStep::Place,
        ScheduleStep::AskRead => ScheduleStep::Idle,
    }
}

/// Returns whether a wake-up takes effect in this step, if there is one (`waking`): its queue pair is present, or its tenant has got its place.
#[hdl_fn]
pub fn wake_ends(step: ScheduleStep, endings: Endings, waking: Bit) -> Bit {
    match step {
        ScheduleStep::Place => waking & endings.serving,
        ScheduleStep::Pop => waking,
        ScheduleStep::Wake => endings.present,
        _ => false,
    }
}

/// Returns whether the return of a tenant is done with this step, if there is one.
#[hdl_fn]
pub fn return_ends(step: ScheduleStep, endings: Endings) -> Bit {
    match step {
        ScheduleStep::Place => endings.serving,
        ScheduleStep::Find => !endings.wheel_turns,
        ScheduleStep::Pop => true,
        _ => false,
    }
}
