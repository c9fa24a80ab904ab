//! A card of one lane as far as its ports go: for the projects of boards whose card is not the subject.
use hdl_macros::hdl;
use hdl_pcie::bundles::{AxisSnk, AxisSrc};
use hdl_primitives::{MacRxSnk, MacTxSrc};
use hdl_verilog::{emit, Design};
use rust_hdl::prelude::*;

/// The ports of a card of one lane of 512 bits. It answers nothing.
#[derive(LogicBlock, Default)]
pub struct PortsOfOneLane {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub port_up: Signal<In, Bit>,
    pub cq: AxisSnk<512, 16, 183>,
    pub cc: AxisSrc<512, 16, 81>,
    pub msix_enable: Signal<In, Bit>,
    pub msix_mask: Signal<In, Bit>,
    pub pcie_link_down: Signal<In, Bit>,
    pub rx: [MacRxSnk<512>; 1],
    pub rx_dropped: [Signal<In, Bits<32>>; 1],
    pub tx: [MacTxSrc<512>; 1],
    pub rq: [AxisSrc<512, 16, 137>; 1],
    pub rc: [AxisSnk<512, 16, 161>; 1],
    ready: DFF<Bit>,
}

impl Logic for PortsOfOneLane {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, ready);
        self.ready.d.next = !self.reset.val();
        self.cq.tready.next = self.ready.q.val();
        self.cc.tvalid.next = false;
        self.cc.tdata.next = bits(0);
        self.cc.tkeep.next = bits(0);
        self.cc.tlast.next = false;
        self.cc.tuser.next = bits(0);
        for p in 0..1 {
            self.tx[p].valid.next = false;
            self.tx[p].data.next = bits(0);
            self.tx[p].bytes.next = bits(0);
            self.tx[p].last.next = false;
            self.rq[p].tvalid.next = false;
            self.rq[p].tdata.next = bits(0);
            self.rq[p].tkeep.next = bits(0);
            self.rq[p].tlast.next = false;
            self.rq[p].tuser.next = bits(0);
            self.rc[p].tready.next = self.ready.q.val();
        }
    }
}

/// Its Verilog.
pub fn one_lane() -> Design {
    let mut block = Box::<PortsOfOneLane>::default();
    block.connect_all();
    emit(block.as_ref()).unwrap()
}
