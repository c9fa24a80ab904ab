//! Virtual devices: their control path on a recording mock of the card, and all of them on Verilated cards.

mod common;
mod control_queue;
mod hypervisor;
mod isolation;
mod life;
mod paths;
mod requests;
mod verilated;
