//! Congestion window in hardware: NSCC in fixed point (`docs/multipath.md`).
//!
//! | block | contents | latency in cycles |
//! |---|---|---|
//! | [`NsccEngine`] | the windows of all queue pairs, one request at a time | [`nscc_engine::max_cycles`], by operation |
//! | [`Multiply`] | its multiplier, three DSPs | 3 |
//! | [`DspMultiply`] | a multiplier of one DSP | 2 |
//! | [`ReciprocalRom`] | the table of reciprocals for both divisions | 1 |
#![forbid(unsafe_code)]

mod arithmetic;
pub mod dsp_multiply;
pub mod multiply;
pub mod nscc_engine;
pub mod reciprocal_rom;
mod records;
mod sample;
mod sim;
mod step;

pub use arithmetic::saturated_rtt;
pub use dsp_multiply::DspMultiply;
pub use multiply::Multiply;
pub use nscc_engine::NsccEngine;
pub use reciprocal_rom::ReciprocalRom;
