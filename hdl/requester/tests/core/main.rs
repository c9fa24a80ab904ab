//! The requester core against the reference requester, operation by operation.

mod lockstep;
mod memory;
mod peer;
mod rig;
