//! The frame end of the transmit lane: each block against its own rust-hdl simulation, the whole against `RoceFrame::emit`.

mod bench;
mod blocks;
mod failed_reads;
mod functional;
mod packets;
mod rate;
mod reference;
mod refusals;
