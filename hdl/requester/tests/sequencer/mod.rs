//! The sequencer and its flows.

mod blocks;
mod doorbells;
mod pass_head;
mod schedules;
mod wakes;
