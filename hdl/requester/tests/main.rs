//! The requester's core and its blocks.

mod core;
mod qp_schedule;
mod saturation;
mod sequencer;
mod tenant_limits;
mod timer_scan;
