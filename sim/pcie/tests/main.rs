//! The PCIe fabric model.

mod ats;
mod ats_goodput;
mod ats_property;
mod common;
mod completions;
mod config;
mod config_file;
mod faults;
mod functions;
mod gpu_direct;
mod litmus;
mod mixed_traffic;
mod platform;
mod refusals;
mod routing_table;
mod timing;
mod traffic;
