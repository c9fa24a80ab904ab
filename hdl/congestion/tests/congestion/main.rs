//! Congestion control in hardware against its reference.

mod bench;
mod blocks;
mod nscc_engine;
mod play;
