//! Congestion window in hardware: NSCC in fixed point (`docs/multipath.md`).
//!
//! | block | what | latency in clocks |
//! |---|---|---|
//! | [`NsccEngine`] | the windows of all queue pairs, one request at a time | `MAX_CLOCKS` of the module, by operation |
//! | [`Multiply`] | its one multiplier, three DSPs | 3 |
//! | [`DspMultiply`] | a product that one DSP makes | 2 |
//! | [`ReciprocalRom`] | the table of both divisions | 1 |
#![forbid(unsafe_code)]

mod arithmetic;
pub mod dsp_multiply;
pub mod multiply;
pub mod nscc_engine;
pub mod reciprocal_rom;
mod records;
mod sample;
mod step;

pub use dsp_multiply::DspMultiply;
pub use multiply::Multiply;
pub use nscc_engine::NsccEngine;
pub use reciprocal_rom::ReciprocalRom;
