//! Elaborates a rust-hdl block into readable Verilog-2005.
//!
//! rust-hdl's own writer prints nested part selects that Icarus, Yosys and Vivado reject, and binary operators without
//! parentheses, so that Rust's `a & b == c` silently becomes Verilog's `a & (b == c)`. This emitter walks the same public
//! tree (`Block::accept`, `Logic::hdl`) and prints a module per *kind* of block instead of one per instance:
//!
//! - every operator is parenthesised by Rust's meaning, and every operand has its Rust width;
//! - selects of selects are folded, selects of expressions go through a named wire;
//! - flip-flops (`DFF`) become `always @(posedge clock)` in the module that owns them;
//! - each signal has its own `assign` or `always @(*)`, so simulators see no false combinational loops;
//! - a signal that some path leaves unassigned is an error here, not a latch later;
//! - modules with the same text are emitted once, and names do not depend on the order of anything but the source.
//!
//! What it cannot translate (signed arithmetic, in-out ports, black boxes) it refuses with [`EmitError`], naming the place.
//!
//! Nothing here runs a tool. `sim-models` makes Verilated models of a [`Design`]; `hdl-testkit` compares them with the block's own
//! rust-hdl simulation, and runs Verilator's lint, Icarus and Yosys over a design.

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
mod simplify;
mod skeleton;
mod statement;
mod symbols;

pub use design::{emit, emit_as, emit_hiding, Design, Emitter, Module, Port, PortDirection};
pub use error::EmitError;
pub use gate::{Gate, GatedDesign, HeldInputs};
pub use literal::value as literal_value;
