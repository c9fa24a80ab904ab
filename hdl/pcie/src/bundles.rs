//! Port groups of the PCIe blocks.

use hdl_macros::bundle;
use rust_hdl::prelude::*;
use stellar_wire::hw::completer::BarAccess;

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

/// The driving end of accesses to BARs, in order. A read follows when the one before it is done.
#[bundle(keep)]
pub struct BarAccessSrc {
    pub valid: Signal<Out, Bit>,
    pub record: Signal<Out, BarAccess>,
    pub ready: Signal<In, Bit>,
}

/// The driving end of the answers to reads of BARs: one for each, in a cycle after the read was taken.
#[bundle]
pub struct BarDataSrc {
    pub valid: Signal<Out, Bit>,
    pub data: Signal<Out, Bits<64>>,
    /// There is nothing that can be read.
    pub unsupported: Signal<Out, Bit>,
}
