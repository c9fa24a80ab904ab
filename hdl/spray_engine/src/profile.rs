//! Port groups that write entropy profiles and explicit values.

use hdl_macros::bundle;
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::{
    EntropyProfileEntry, ExplicitEntropy, EXPLICIT_ROW_BITS, PROFILE_BITS,
};

/// The driving end of a stream of writes of entropy profiles.
#[bundle]
pub struct ProfileSrc {
    pub valid: Signal<Out, Bit>,
    pub index: Signal<Out, Bits<PROFILE_BITS>>,
    pub record: Signal<Out, EntropyProfileEntry>,
}

/// The driving end of a stream of writes of explicit values.
#[bundle]
pub struct ExplicitSrc {
    pub valid: Signal<Out, Bit>,
    /// Profile and number.
    pub row: Signal<Out, Bits<EXPLICIT_ROW_BITS>>,
    pub record: Signal<Out, ExplicitEntropy>,
}
