//! What gated models have for the hand-written primitives of this crate ([`hdl_primitives::sim`]).

mod dsp_multiply;
mod reciprocal_rom;

pub(crate) use dsp_multiply::dsp_multiply;
pub(crate) use reciprocal_rom::reciprocal_rom;
