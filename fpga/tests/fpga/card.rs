//! Cards as far as their ports go: for the projects of boards whose card is not the subject.
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

/// The ports of a card of two lanes of 1,024 bits. It answers nothing.
#[derive(LogicBlock, Default)]
pub struct PortsOfTwoLanes {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub port_up: Signal<In, Bits<2>>,
    pub cq: AxisSnk<1024, 32, 465>,
    pub cc: AxisSrc<1024, 32, 165>,
    pub cq1: AxisSnk<1024, 32, 465>,
    pub msix_enable: Signal<In, Bit>,
    pub msix_mask: Signal<In, Bit>,
    pub pcie_link_down: Signal<In, Bits<2>>,
    pub rx: [MacRxSnk<1024>; 2],
    pub rx_dropped: [Signal<In, Bits<32>>; 2],
    pub tx: [MacTxSrc<1024>; 2],
    pub rq: [AxisSrc<1024, 32, 373>; 2],
    pub rc: [AxisSnk<1024, 32, 337>; 2],
    ready: DFF<Bit>,
    /// Everything that comes, so that the checks of crossings see where it comes from.
    came: DFF<Bit>,
}

impl Logic for PortsOfTwoLanes {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, ready, came);
        self.ready.d.next = !self.reset.val();
        let came = self.came.q.val();
        let mut comes = self.cq.tvalid.val()
            ^ self.cq.tdata.val().any()
            ^ self.cq1.tvalid.val()
            ^ self.cq1.tdata.val().any()
            ^ self.cq1.tuser.val().any()
            ^ self.cc.tready.val()
            ^ self.port_up.val().any()
            ^ self.msix_enable.val()
            ^ self.msix_mask.val()
            ^ self.pcie_link_down.val().any();
        self.cq.tready.next = self.ready.q.val();
        self.cq1.tready.next = self.ready.q.val();
        self.cc.tvalid.next = came;
        self.cc.tdata.next = bits(0);
        self.cc.tkeep.next = bits(0);
        self.cc.tlast.next = false;
        self.cc.tuser.next = bits(0);
        for p in 0..2 {
            comes = comes
                ^ self.rx[p].valid.val()
                ^ self.rx[p].data.val().any()
                ^ self.rx_dropped[p].val().any()
                ^ self.tx[p].ready.val()
                ^ self.rq[p].tready.val()
                ^ self.rc[p].tvalid.val()
                ^ self.rc[p].tdata.val().any()
                ^ self.rc[p].tuser.val().any();
            self.tx[p].valid.next = came;
            self.tx[p].data.next = bits(0);
            self.tx[p].bytes.next = bits(0);
            self.tx[p].last.next = came;
            self.rq[p].tvalid.next = came;
            self.rq[p].tdata.next = bits(0);
            self.rq[p].tkeep.next = bits(0);
            self.rq[p].tlast.next = false;
            self.rq[p].tuser.next = bits(0);
            self.rc[p].tready.next = self.ready.q.val();
        }
        self.came.d.next = comes;
    }
}

/// Its Verilog.
pub fn two_lanes() -> Design {
    let mut block = Box::<PortsOfTwoLanes>::default();
    block.connect_all();
    emit(block.as_ref()).unwrap()
}
