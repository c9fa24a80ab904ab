//! Two lanes on one core, Verilated, beside the reference.

mod bench;
mod independence;
mod order;
mod rate;
mod reference;
mod traffic;
