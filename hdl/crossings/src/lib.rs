//! Signals, resets and streams from one clock to another (`docs/crossings.md`).
//!
//! | block | what crosses | latency in cycles of the clock that receives |
//! |---|---|---|
//! | [`LevelSynchroniser`] | levels that are independent of each other | its stages, and 1 at most for the phase |
//! | [`CrossingSource`] | the register in front of a synchroniser | - |
//! | [`PulseHandshake`] | one pulse at a time | its stages, and 1 at most for the phase |
//! | [`ResetSynchroniser`] | a reset | its stages and 1 |
//! | [`gray_pointer`] | functions: gray code of a pointer, and back | - |
//! | [`AsyncFifo`] | a stream of records | [`async_fifo::LATENCY`], and 1 at most for the phase |
//! | [`TwoClockRam`] | its memory: written on one clock, read on another | 1 |
//!
//! Every register that sends to another clock, and every first register that receives, has a name that ends in `_crossing`. Constraints find them by it.
#![forbid(unsafe_code)]

pub mod async_fifo;
pub mod crossing_source;
pub mod gray_pointer;
pub mod level_synchroniser;
pub mod pulse_handshake;
pub mod reset_synchroniser;
mod sim;
pub mod two_clock_ram;

pub use async_fifo::{AsyncFifo, BlockAsyncFifo, LutAsyncFifo};
pub use crossing_source::CrossingSource;
pub use level_synchroniser::LevelSynchroniser;
pub use pulse_handshake::PulseHandshake;
pub use reset_synchroniser::ResetSynchroniser;
pub use two_clock_ram::TwoClockRam;
