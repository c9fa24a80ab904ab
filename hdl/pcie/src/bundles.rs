//! Port groups of the PCIe blocks.

use hdl_macros::bundle;
use rust_hdl::prelude::*;

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
