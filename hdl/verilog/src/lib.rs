//! Translates a rust-hdl block into readable Verilog-2005.
//!
//! rust-hdl's own writer has two faults. It prints nested part selects, which Icarus, Yosys and Vivado reject. It prints binary operators without
//! parentheses, so that Rust's `a & b == c` silently becomes Verilog's `a & (b == c)`. This emitter walks the same public tree (`Block::accept`,
//! `Logic::hdl`) and prints a module per *kind* of block instead of one per instance:
//!
//! - every operator is parenthesised according to Rust's precedence, and every operand has its Rust width;
//! - a select of a select is printed as one select, and a select of an expression uses a named wire;
//! - flip-flops (`DFF`) become `always @(posedge clock)` in the module that owns them;
//! - each signal has its own `assign` or `always @(*)`, so that simulators see no false combinational loops;
//! - a signal that some path leaves unassigned is an error here, instead of a latch in synthesis;
//! - modules with the same text are emitted once, and names depend on nothing but the source.
//!
//! It refuses with [`EmitError`] what it cannot translate (signed arithmetic, in-out ports, black boxes). The error names the place.
//!
//! This crate runs no tools. `sim-models` makes Verilated models of a [`Design`]. `hdl-testkit` compares them with the block's own rust-hdl
//! simulation, and runs Verilator's lint, Icarus and Yosys on a design.

mod annotation;
mod assign;
mod bundle;
mod collect;
mod constant;
mod design;
mod error;
mod expression;
mod gate;
mod instances;
mod literal;
mod locals;
mod module;
mod names;
mod primitive;
mod program;
mod record;
mod reset_tree;
mod reset_use;
mod simplify;
mod skeleton;
mod statement;
mod symbols;

pub use bundle::{FormalRule, IGNORE_RULES};
pub use design::{
    emit, emit_as, emit_hiding, emit_top, Design, Emitter, Module, Port, PortDirection,
};
pub use error::EmitError;
pub use gate::{Gate, GatedDesign, HeldInputs};
pub use literal::value as literal_value;
