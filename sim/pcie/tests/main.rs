//! The PCIe fabric model.

mod common;
mod completions;
mod config;
mod config_file;
mod faults;
mod functions;
mod gpu_direct;
mod litmus;
mod mixed_traffic;
mod refusals;
mod routing_table;
mod timing;
mod traffic;
