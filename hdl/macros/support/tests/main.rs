//! Tests of the code that the macros generate for blocks.

mod interfaces;
mod kernel_to_ast;
