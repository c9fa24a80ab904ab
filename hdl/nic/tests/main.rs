//! The card's own blocks, its receive lanes, and its Verilog.

mod ack_order_queue;
mod failure_fork;
mod lanes;
mod rx_blocks;
mod verilog;
