//! Single accesses to registers over AXI4-Lite.

use hdl_macros::hdl;
use hdl_primitives::{Checked, Parameters};
use rust_hdl::prelude::*;

use crate::bundles::AxiLiteSrc;

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Access {
    /// The slave is in reset.
    Reset,
    Idle,
    Write,
    Read,
}

/// Makes one access at a time. The slave's reset is part of it: an access that is not answered within 2^`LIMIT` cycles ends with a reset of the slave for 2^`HOLD`
/// cycles, because AXI has no other way to withdraw an address.
///
/// LUT levels: 1.
#[derive(LogicBlock, Default)]
pub struct AxiLiteAccess<const HOLD: usize, const LIMIT: usize, const COUNT: usize> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    /// An access may start.
    pub ready: Signal<Out, Bit>,
    pub start: Signal<In, Bit>,
    /// With `start`: a write, its address and data.
    pub write: Signal<In, Bit>,
    pub address: Signal<In, Bits<16>>,
    pub data: Signal<In, Bits<32>>,
    /// High for one cycle: the access is over. It failed if the slave answered with an error, or not at all.
    pub done: Signal<Out, Bit>,
    pub failed: Signal<Out, Bit>,
    /// From `done` to the next one.
    pub read_data: Signal<Out, Bits<32>>,

    pub axi: AxiLiteSrc,
    /// Resets the slave, active low.
    pub axi_aresetn: Signal<Out, Bit>,

    state: DFF<Access>,
    time: DFF<Bits<COUNT>>,
    offers_write: DFF<Bit>,
    offers_data: DFF<Bit>,
    offers_read: DFF<Bit>,
    accessed: DFF<Bits<16>>,
    written: DFF<Bits<32>>,
    read: DFF<Bits<32>>,
    released: DFF<Bit>,
    ended: DFF<Bit>,
    refused: DFF<Bit>,
}

impl<const HOLD: usize, const LIMIT: usize, const COUNT: usize> Parameters
    for AxiLiteAccess<HOLD, LIMIT, COUNT>
{
    fn check() {
        assert!(
            HOLD >= 1 && HOLD <= LIMIT && COUNT == LIMIT + 1,
            "AxiLiteAccess of 2^{HOLD} and 2^{LIMIT} cycles with a counter of {COUNT} bits: use HOLD of 1 to LIMIT, and COUNT = LIMIT + 1"
        );
    }
}

impl<const HOLD: usize, const LIMIT: usize, const COUNT: usize> Logic
    for AxiLiteAccess<HOLD, LIMIT, COUNT>
{
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            state,
            time,
            offers_write,
            offers_data,
            offers_read,
            accessed,
            written
        );
        dff_setup!(self, clock, read, released, ended, refused);
        let state = self.state.q.val();
        let writes = state == Access::Write;
        let reads = state == Access::Read;
        let answered = (writes & self.axi.bvalid.val()) | (reads & self.axi.rvalid.val());
        let response = if writes {
            self.axi.bresp.val()
        } else {
            self.axi.rresp.val()
        };
        let too_late = self.time.q.val().get_bit(LIMIT);

        self.ended.d.next = false;
        self.time.d.next = self.time.q.val() + 1;
        if self.axi.awready.val() {
            self.offers_write.d.next = false;
        }
        if self.axi.wready.val() {
            self.offers_data.d.next = false;
        }
        if self.axi.arready.val() {
            self.offers_read.d.next = false;
        }
        match state {
            Access::Reset => {
                // They fall with the reset of the slave.
                self.offers_write.d.next = false;
                self.offers_data.d.next = false;
                self.offers_read.d.next = false;
                if self.time.q.val().get_bit(HOLD) {
                    self.state.d.next = Access::Idle;
                }
            }
            Access::Idle => {
                self.time.d.next = bits(0);
                if self.start.val() {
                    self.accessed.d.next = self.address.val();
                    self.written.d.next = self.data.val();
                    self.offers_write.d.next = self.write.val();
                    self.offers_data.d.next = self.write.val();
                    self.offers_read.d.next = !self.write.val();
                    self.state.d.next = if self.write.val() {
                        Access::Write
                    } else {
                        Access::Read
                    };
                }
            }
            Access::Write | Access::Read => {
                if answered {
                    self.ended.d.next = true;
                    self.refused.d.next = response.get_bit(1);
                    self.read.d.next = self.axi.rdata.val();
                    self.state.d.next = Access::Idle;
                } else if too_late {
                    self.ended.d.next = true;
                    self.refused.d.next = true;
                    self.time.d.next = bits(0);
                    self.state.d.next = Access::Reset;
                }
            }
        }
        if self.reset.val() {
            self.time.d.next = bits(0);
            self.ended.d.next = false;
            self.state.d.next = Access::Reset;
        }
        self.released.d.next = state != Access::Reset;

        self.ready.next = state == Access::Idle;
        self.done.next = self.ended.q.val();
        self.failed.next = self.refused.q.val();
        self.read_data.next = self.read.q.val();
        self.axi.awaddr.next = bit_cast::<32, 16>(self.accessed.q.val());
        self.axi.araddr.next = bit_cast::<32, 16>(self.accessed.q.val());
        self.axi.awvalid.next = self.offers_write.q.val();
        self.axi.arvalid.next = self.offers_read.q.val();
        self.axi.wdata.next = self.written.q.val();
        self.axi.wvalid.next = self.offers_data.q.val();
        self.axi.bready.next = writes;
        self.axi.rready.next = reads;
        self.axi_aresetn.next = self.released.q.val();
    }
}
