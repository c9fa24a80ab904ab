//! The PCIe fabric model.

mod common;
mod config;
mod gpu_direct;
mod refusals;
mod routing_table;
mod timing;
mod traffic;
