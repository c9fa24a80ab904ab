//! The responder: each block against its own rust-hdl simulation, the whole against the reference, and its cycles.

mod bench;
mod blocks;
mod coalescing;
mod functional;
mod pair;
mod pending_scan;
mod rate;
mod records;
mod scenario;
