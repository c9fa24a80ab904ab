//! The card's own blocks, its receive lanes, and its Verilog.

mod ack_order_queue;
mod lanes;
mod rx_blocks;
mod verilog;
