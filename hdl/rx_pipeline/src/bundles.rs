//! Bundles of the receive front end.

use hdl_macros::bundle;
use rust_hdl::prelude::*;

use crate::beat::BeatInfo;

/// The driving end of frames in beats between the blocks of the front end. They cannot be stalled.
#[bundle]
pub struct BeatFlowSrc<const W: usize> {
    pub valid: Signal<Out, Bit>,
    /// Bytes beyond `beat.bytes` are undefined.
    pub data: Signal<Out, Bits<W>>,
    pub beat: Signal<Out, BeatInfo>,
}
