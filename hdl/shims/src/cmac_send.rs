//! Beats to AMD's CMAC.

use hdl_macros::hdl;
use hdl_primitives::StreamSkid;
use rust_hdl::prelude::*;

use crate::bundles::{CmacTxSrc, FrameTxSnk};
use crate::cmac_keep::keep_of;

/// A beat as the CMAC takes it.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct KeptBeat {
    pub data: Bits<512>,
    pub keep: Bits<64>,
    pub last: Bit,
    pub error: Bit,
}

/// Offers each beat to a CMAC from registers, with `tkeep`. On the MAC's clock. Latency 1. LUT levels: 2.
#[derive(LogicBlock, Default)]
pub struct CmacSend {
    pub clock: Signal<In, Clock>,
    /// Discards the beats inside.
    pub reset: Signal<In, Bit>,
    pub tx: FrameTxSnk<512>,
    pub tx_axis: CmacTxSrc,
    out: StreamSkid<KeptBeat>,
}

impl Logic for CmacSend {
    #[hdl]
    fn update(&mut self) {
        self.out.clock.next = self.clock.val();
        self.out.reset.next = self.reset.val();
        self.out.in_.valid.next = self.tx.valid.val();
        self.out.in_.data.next = KeptBeat {
            data: self.tx.data.val(),
            keep: keep_of(self.tx.bytes.val()),
            last: self.tx.last.val(),
            error: self.tx.error.val(),
        };
        self.tx.ready.next = self.out.in_.ready.val();
        let beat = self.out.out.data.val();
        self.tx_axis.tvalid.next = self.out.out.valid.val();
        self.tx_axis.tdata.next = beat.data;
        self.tx_axis.tkeep.next = beat.keep;
        self.tx_axis.tlast.next = beat.last;
        self.tx_axis.tuser.next = beat.error;
        self.out.out.ready.next = self.tx_axis.tready.val();
    }
}
