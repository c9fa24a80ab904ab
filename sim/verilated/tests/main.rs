//! Tests with Verilated models of small designs.

mod building;
mod common;
mod gating;
mod instances;
mod outputs;
mod ports;
mod recording;
mod signals;
