//! The requester's core and its blocks.

mod core;
mod qp_schedule;
mod saturation;
mod sequencer;
mod timer_scan;
