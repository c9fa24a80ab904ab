//! The requester core against the reference requester, operation by operation.

mod both_ports;
mod cycles;
pub mod departures;
mod hopper;
mod hp3;
mod lockstep;
mod memory;
mod mrc;
mod overlap;
mod packets;
mod path_feedback;
mod path_use;
mod peer;
mod rc;
mod reach;
mod reuse;
mod rig;
mod setup;
mod silent_plane;
mod tail_probe;
mod transmissions;
mod unreadable;
