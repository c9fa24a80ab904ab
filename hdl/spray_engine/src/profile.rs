//! Port group that writes entropy profiles.

use hdl_macros::bundle;
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::{EntropyProfileEntry, PROFILE_BITS};

/// The driving end of a stream of writes of entropy profiles.
#[bundle]
pub struct ProfileSrc {
    pub valid: Signal<Out, Bit>,
    pub index: Signal<Out, Bits<PROFILE_BITS>>,
    pub record: Signal<Out, EntropyProfileEntry>,
}
