//! Port groups of the PCIe blocks.

use hdl_macros::bundle;
use rust_hdl::prelude::*;
use stellar_wire::hw::ats::CqMessage;
use stellar_wire::hw::rq::SlotRun;

/// The driving end of an AXI4 stream of AMD's PCIe blocks: `W` bits of data, which are `N` double words, and `U` bits of `tuser`.
#[bundle]
pub struct AxisSrc<const W: usize, const N: usize, const U: usize> {
    pub tvalid: Signal<Out, Bit>,
    pub tready: Signal<In, Bit>,
    pub tdata: Signal<Out, Bits<W>>,
    /// One bit per double word.
    pub tkeep: Signal<Out, Bits<N>>,
    pub tlast: Signal<Out, Bit>,
    pub tuser: Signal<Out, Bits<U>>,
}

/// A look at a completer request stream, beside the block that takes it.
#[bundle]
pub struct CqLookSrc {
    /// A beat moves in this cycle.
    pub moves: Signal<Out, Bit>,
    pub last: Signal<Out, Bit>,
    /// The beat has `discontinue`.
    pub damaged: Signal<Out, Bit>,
    /// The first 16 bytes of the beat.
    pub message: Signal<Out, CqMessage>,
}

/// The driving end of a stream of runs of slots, `C` bits: slots of 32 bytes from the low end, those beyond the run zero.
#[bundle(keep)]
pub struct SlotsSrc<const C: usize> {
    pub valid: Signal<Out, Bit>,
    pub run: Signal<Out, SlotRun>,
    pub data: Signal<Out, Bits<C>>,
    pub ready: Signal<In, Bit>,
}
