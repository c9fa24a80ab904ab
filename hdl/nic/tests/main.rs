//! The card's own blocks, its receive lanes, and its Verilog.

mod ack_order_queue;
mod boards;
mod config_register;
mod counters;
mod failure_fork;
mod fence_barrier;
mod fence_control;
mod fetch_share;
mod lanes;
mod nic_config;
mod path_counters;
mod qp_counters;
mod read_faults;
mod reset_tree;
mod rx_blocks;
mod stuck_port;
mod verilog;
