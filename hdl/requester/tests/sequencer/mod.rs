//! The sequencer and its flows.

mod blocks;
mod doorbells;
mod schedules;
mod wakes;
