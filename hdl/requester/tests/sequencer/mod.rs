//! The sequencer and its flows.

mod blocks;
mod wakes;
