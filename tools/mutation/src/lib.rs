//! Mutation campaigns on the emitted Verilog: one operator, constant, condition or assignment of a block is changed at a time, and the block's
//! tests have to fail. If they do not fail, they have a hole, or the change makes no difference.
//!
//! All mutants are built into the models at once; an environment variable selects the one that runs ([`schema`]). So a model is built once for
//! all mutants in it. The environment variable [`programs::OVERLAY`] names the directory of the changed Verilog, which sim-verilated builds instead.
//!
//! A campaign first runs every test once to see which models it builds ([`discovery`]), chooses mutants of each block ([`plan`]), and runs them
//! against the tests that build the block ([`campaign`]). Tests that compare a block's Verilog with its own Rust do not take part: a mutant
//! stands for a mistake in the Rust source.
#![forbid(unsafe_code)]

pub mod campaign;
pub mod discovery;
pub mod explained;
pub mod lexer;
pub mod operator;
pub mod plan;
pub mod programs;
pub mod report;
pub mod schema;
pub mod syntax;
