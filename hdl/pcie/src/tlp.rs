//! The bundle of memory write TLPs.

use hdl_macros::bundle;
use rust_hdl::prelude::*;
use stellar_wire::hw::dma::WriteTlpHeader;

/// The driving end of memory write TLPs, `W` bits of payload per beat.
#[bundle(keep)]
pub struct TlpSrc<const W: usize> {
    pub valid: Signal<Out, Bit>,
    /// Byte lanes that are not enabled, and those after the last double word, are zero.
    pub data: Signal<Out, Bits<W>>,
    /// The same in every beat of a TLP.
    pub header: Signal<Out, WriteTlpHeader>,
    pub first: Signal<Out, Bit>,
    pub last: Signal<Out, Bit>,
    pub ready: Signal<In, Bit>,
}
