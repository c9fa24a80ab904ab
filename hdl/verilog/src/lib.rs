//! Rust-HDL tree to readable Verilog-2005.
