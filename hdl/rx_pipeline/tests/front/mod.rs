//! The front end of the receive lane: each block against its own rust-hdl simulation, and the whole against the reference of `stellar_transport`.

mod bench;
mod equivalence;
pub mod frames;
mod overflow;
mod rate;
mod reference;
mod stimulus;
mod waiting;
