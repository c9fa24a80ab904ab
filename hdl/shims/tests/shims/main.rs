//! The shim of a CMAC at its pins: two clocks without a relation, with metastability, against queues in Rust. The card's reset against a model.
mod bench;
mod blocks;
mod dcmac;
mod dcmac_bench;
mod dcmac_model;
mod dcmac_start;
mod dcmac_steps;
mod endpoint;
mod ends;
mod frames;
mod function_reset;
mod link;
mod model;
mod rate;
mod segments;
mod wire;
