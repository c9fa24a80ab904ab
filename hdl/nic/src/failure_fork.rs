//! A failed queue pair for two receivers.

use hdl_host_if::QpFailureSrc;
use hdl_macros::hdl;
use hdl_primitives::{QpSrc, Snk};
use hdl_requester::Failure;
use rust_hdl::prelude::*;

/// Passes each failure to the host and to the receive core, which accept it in any order, and takes the next one when both have accepted. Latency 0. LUT
/// levels: 2.
#[derive(LogicBlock, Default)]
pub struct FailureFork {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub failure: Snk<Failure>,

    pub to_host: QpFailureSrc,
    pub to_core: QpSrc,

    /// This receiver has accepted the present failure, and the other one has not.
    host_notified: DFF<Bit>,
    core_notified: DFF<Bit>,
}

impl Logic for FailureFork {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, host_notified, core_notified);
        let valid = self.failure.valid.val();
        let failure = self.failure.record.val();
        self.to_host.valid.next = valid & !self.host_notified.q.val();
        self.to_host.qp.next = failure.qp;
        self.to_host.status.next = failure.status;
        self.to_core.valid.next = valid & !self.core_notified.q.val();
        self.to_core.qp.next = failure.qp;

        let host_notified = self.host_notified.q.val() | self.to_host.ready.val();
        let core_notified = self.core_notified.q.val() | self.to_core.ready.val();
        let done = host_notified & core_notified;
        self.failure.ready.next = done;
        self.host_notified.d.next = valid & host_notified & !done;
        self.core_notified.d.next = valid & core_notified & !done;
        if self.reset.val() {
            self.host_notified.d.next = false;
            self.core_notified.d.next = false;
        }
    }
}
