//! Bundles of the receive lane that blocks of several crates have.

use hdl_macros::bundle;
use rust_hdl::prelude::*;

/// The driving end of a stream of tokens.
#[bundle(keep)]
pub struct TokenSrc<T: Synth> {
    pub valid: Signal<Out, Bit>,
    pub token: Signal<Out, T>,
    pub ready: Signal<In, Bit>,
}

/// The driving end of tokens that cannot be stalled: the stages of the core pass them on at a fixed latency.
#[bundle]
pub struct TokenFlowSrc<T: Synth> {
    pub valid: Signal<Out, Bit>,
    pub token: Signal<Out, T>,
}

/// The reading end of a packet buffer: the beat at an address, and the next one, a fixed number of cycles later.
#[bundle]
pub struct BufferReadSrc<const W: usize> {
    /// Ring address of the beat.
    pub beat: Signal<Out, Bits<12>>,
    pub low: Signal<In, Bits<W>>,
    /// The next beat.
    pub high: Signal<In, Bits<W>>,
}

/// The driving end of what returns space to a packet buffer: its oldest `beats` beats are no longer needed.
#[bundle]
pub struct BufferFreeSrc {
    pub valid: Signal<Out, Bit>,
    pub beats: Signal<Out, Bits<8>>,
}
