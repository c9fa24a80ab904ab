//! The requester core against the reference requester, operation by operation.

mod cycles;
mod lockstep;
mod memory;
mod mrc;
mod overlap;
mod packets;
mod peer;
mod rc;
mod reach;
mod rig;
mod setup;
