//! Frames of AMD's CMAC as beats.

use hdl_macros::hdl;
use hdl_primitives::{ByteMask, MacRxSrc};
use rust_hdl::prelude::*;

use crate::bundles::CmacRxSnk;
use crate::cmac_keep::bytes_of;

/// Counts the bytes of each beat of a CMAC, and makes those beyond the end of a frame zero. On the MAC's clock. Latency 2. LUT levels: 2.
#[derive(LogicBlock, Default)]
pub struct CmacReceive {
    pub clock: Signal<In, Clock>,
    /// Discards the beats inside.
    pub reset: Signal<In, Bit>,
    pub rx_axis: CmacRxSnk,
    pub rx: MacRxSrc<512>,

    // The beat as it came.
    arrives: DFF<Bit>,
    data: DFF<Bits<512>>,
    keep: DFF<Bits<64>>,
    last: DFF<Bit>,
    error: DFF<Bit>,
    valid_bytes: ByteMask<512, 64>,

    offers: DFF<Bit>,
    out_data: DFF<Bits<512>>,
    out_bytes: DFF<Bits<8>>,
    out_last: DFF<Bit>,
    out_error: DFF<Bit>,
}

impl Logic for CmacReceive {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, arrives, data, keep, last, error);
        dff_setup!(self, clock, offers, out_data, out_bytes, out_last, out_error);
        self.arrives.d.next = self.rx_axis.tvalid.val();
        self.data.d.next = self.rx_axis.tdata.val();
        self.keep.d.next = self.rx_axis.tkeep.val();
        self.last.d.next = self.rx_axis.tlast.val();
        self.error.d.next = self.rx_axis.tuser.val();

        self.valid_bytes.data.next = self.data.q.val();
        self.valid_bytes.lanes.next = self.keep.q.val();
        self.offers.d.next = self.arrives.q.val();
        self.out_data.d.next = self.valid_bytes.masked.val();
        self.out_bytes.d.next = bytes_of(self.keep.q.val());
        self.out_last.d.next = self.last.q.val();
        self.out_error.d.next = self.last.q.val() & self.error.q.val();

        self.rx.valid.next = self.offers.q.val();
        self.rx.data.next = self.out_data.q.val();
        self.rx.bytes.next = self.out_bytes.q.val();
        self.rx.last.next = self.out_last.q.val();
        self.rx.error.next = self.out_error.q.val();
        if self.reset.val() {
            self.arrives.d.next = false;
            self.offers.d.next = false;
        }
    }
}
