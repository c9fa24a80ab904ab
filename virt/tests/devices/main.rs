//! Virtual devices: their control path on a function that takes notes, all of them on Verilated cards.

mod common;
mod control_queue;
mod hypervisor;
mod isolation;
mod life;
mod requests;
mod verilated;
