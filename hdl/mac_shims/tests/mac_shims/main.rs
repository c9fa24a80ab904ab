//! The shim of a CMAC at its pins: two clocks without a relation, with metastability, against queues in Rust.
mod bench;
mod blocks;
mod frames;
mod link;
mod model;
mod rate;
mod wire;
