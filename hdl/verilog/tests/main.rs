//! Tests of the emitter with small blocks.

mod common;
mod gated;
mod golden;
mod kernels;
mod operators;
mod readable;
