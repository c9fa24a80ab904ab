//! Functions and types for the code that `#[hdl]` and `#[hdl_fn]` (crate `hdl-macros`) generate. It calls them while a block is elaborated.
//!
//! Nothing here is meant to be called by hand, but everything is public because generated code lives in other crates:
//! * [`Elaboration`]: one run of a block's `hdl()`; hands out names of wires that collide with nothing in the module;
//! * [`Local`]: a `let` of the kernel, as the expression that reads it; [`Argument`]: what is passed to an `#[hdl_fn]`;
//! * [`Target`]: the left side of an assignment, whole or a slice;
//! * [`Join`]: connections of signals and bundles;
//! * [`Constant`], [`SynthConstant`], [`IntegerConstant`]: values known at elaboration as literals;
//! * [`FromBits`]: the conversion from bits to a record, which kernels call as `T::from_bits(x)`;
//! * free functions that learn types without running kernel code ([`shape`], [`width`], [`same_type`]).
#![forbid(unsafe_code)]

mod constant;
mod elaboration;
mod from_bits;
mod join;
mod local;
mod statement;
mod target;

pub use constant::{synth_literal, typed_constant, Constant, IntegerConstant, SynthConstant};
pub use elaboration::Elaboration;
pub use from_bits::{BitReader, FromBits};
pub use join::{assign_join, Join};
pub use local::{Argument, Local};
pub use rust_hdl_core as core;
pub use statement::{conditional, select, SelectArm};
pub use target::Target;

use rust_hdl_core::synth::Synth;

/// Returns a default value of the type of `expression`. The expression is type-checked and never run, so an index that is valid only behind a
/// run-time guard cannot panic during elaboration.
pub fn shape<T: Default>(_expression: impl FnOnce() -> T) -> T {
    T::default()
}

/// Width in bits of the type `expression` has; the expression is never run.
pub fn width<T: Synth>(_expression: impl FnOnce() -> T) -> usize {
    T::BITS
}

/// Width in bits of the type of a value.
pub fn width_of<T: Synth>(_value: &T) -> usize {
    T::BITS
}

/// Makes the compiler infer one type for both expressions, as the assignment in `update` does; runs neither.
pub fn same_type<T>(_left: impl FnOnce() -> T, _right: impl FnOnce() -> T) {}
