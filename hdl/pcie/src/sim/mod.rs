//! What gated models have for the hand-written primitives of this crate ([`hdl_primitives::sim`]).

mod byte_ram;

pub(crate) use byte_ram::byte_ram;
