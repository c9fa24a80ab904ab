//! Steps of the schedule of a port.

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
