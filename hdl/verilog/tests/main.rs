//! The emitter, on small blocks.

mod common;
mod gated;
mod golden;
mod kernels;
mod operators;
mod readable;
