//! Two lanes with one core, Verilated, compared with the reference.

mod bench;
mod endpoint;
mod independence;
mod order;
mod rate;
mod reference;
mod traffic;
