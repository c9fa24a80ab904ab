//! Bundles of a frame stream: with `ready` ([`StreamSrc`], [`StreamSnk`]) and without ([`FlowSrc`], [`FlowSnk`]).
//!
//! A frame starts at byte 0 of a beat; byte `i` of a beat is `data[8i + 7 : 8i]`. Every beat but the last is full.
//! With `ready`: a beat moves in a clock with `valid` and `ready`; once `valid`, a source keeps the beat until it moved.

use rust_hdl::prelude::*;

/// The driving end of a stream of `W` bits per beat that its receiver can stall.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "StreamSnk"]
pub struct StreamSrc<const W: usize> {
    pub valid: Signal<Out, Bit>,
    pub data: Signal<Out, Bits<W>>,
    /// Valid bytes of this beat, 1 to `W / 8`.
    pub bytes: Signal<Out, Bits<8>>,
    pub last: Signal<Out, Bit>,
    /// With `last`: the frame is damaged.
    pub error: Signal<Out, Bit>,
    pub ready: Signal<In, Bit>,
}

/// The receiving end of a [`StreamSrc`].
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "StreamSrc"]
pub struct StreamSnk<const W: usize> {
    pub valid: Signal<In, Bit>,
    pub data: Signal<In, Bits<W>>,
    /// Valid bytes of this beat, 1 to `W / 8`.
    pub bytes: Signal<In, Bits<8>>,
    pub last: Signal<In, Bit>,
    /// With `last`: the frame is damaged.
    pub error: Signal<In, Bit>,
    pub ready: Signal<Out, Bit>,
}

/// The driving end of a stream of `W` bits per beat that never stalls.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "FlowSnk"]
pub struct FlowSrc<const W: usize> {
    pub valid: Signal<Out, Bit>,
    pub data: Signal<Out, Bits<W>>,
    /// Valid bytes of this beat, 1 to `W / 8`.
    pub bytes: Signal<Out, Bits<8>>,
    pub last: Signal<Out, Bit>,
    /// With `last`: the frame is damaged.
    pub error: Signal<Out, Bit>,
}

/// The receiving end of a [`FlowSrc`].
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "FlowSrc"]
pub struct FlowSnk<const W: usize> {
    pub valid: Signal<In, Bit>,
    pub data: Signal<In, Bits<W>>,
    /// Valid bytes of this beat, 1 to `W / 8`.
    pub bytes: Signal<In, Bits<8>>,
    pub last: Signal<In, Bit>,
    /// With `last`: the frame is damaged.
    pub error: Signal<In, Bit>,
}
