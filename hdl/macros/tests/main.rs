//! What the macros make of blocks.

mod interfaces;
mod kernel_to_ast;
