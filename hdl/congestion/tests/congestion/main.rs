//! Congestion control in hardware against its reference.

mod bench;
mod blocks;
mod lockstep;
mod nscc_engine;
