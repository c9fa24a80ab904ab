//! Passes over the head of a port while the other port sends its burst.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::hw::Qpn;

use crate::bundles::ServingSnk;
use crate::ports::pair;

/// Moves the head of a port behind the others of its tenant, once for each burst of the other port, if that burst is the head's own.
///
/// Both ports get their queue pairs in the order of the same wake-ups. So a queue pair that sends at one port is often the head of the other one, too, where it would wait until
/// its payloads have been located, to find nothing to send in the end. Meanwhile others can use the port. The head has sent nothing there, so it costs its tenant nothing. If it is the only
/// one, it is the next head, and stays it.
///
/// Levels: 3.
#[derive(LogicBlock, Default)]
pub struct PassHead {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    /// Bit p: the schedule of port p has a head.
    pub heads: Signal<In, Bits<2>>,
    pub head0_qp: Signal<In, Qpn>,
    pub head1_qp: Signal<In, Qpn>,
    /// Bit p: the head is rotated or deactivated in this cycle.
    pub turned: Signal<In, Bits<2>>,
    pub serving: ServingSnk,

    /// Bit p: the head of port p may be passed over in this cycle, so no operation may start for it.
    pub may_pass: Signal<Out, Bits<2>>,
    /// Bit p: it is rotated in this cycle.
    pub passes: Signal<Out, Bits<2>>,
    /// Bit p: it was in the cycle before. The burst that it paid for has no bytes.
    pub costs_nothing: Signal<Out, Bits<2>>,

    wanted: DFF<Bits<2>>,
    passed: DFF<Bits<2>>,
    /// Ports whose head was looked at during this burst.
    tried: DFF<Bits<2>>,
}

impl Logic for PassHead {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, wanted, passed, tried);
        let burst_port = self.serving.burst_port.val();
        let burst_qp = self.serving.burst_qp.val();
        let other_port = pair(burst_port, !burst_port);
        let active = self.serving.burst_active.val();
        let own = pair(
            self.head0_qp.val() == burst_qp,
            self.head1_qp.val() == burst_qp,
        );
        let wanted = self.wanted.q.val();
        let tried = self.tried.q.val();
        let turned = self.turned.val();
        let may = self.heads.val() & own & other_port & !turned & !tried & !wanted;
        let passes = wanted & !turned & !self.serving.heads.val();
        if active {
            self.wanted.d.next = may;
            self.tried.d.next = (tried | wanted) & other_port;
        } else {
            self.wanted.d.next = bits::<2>(0);
            self.tried.d.next = bits::<2>(0);
        }
        self.passed.d.next = passes;
        self.may_pass.next = wanted;
        self.passes.next = passes;
        self.costs_nothing.next = self.passed.q.val();
        if self.reset.val() {
            self.wanted.d.next = bits::<2>(0);
            self.passed.d.next = bits::<2>(0);
            self.tried.d.next = bits::<2>(0);
        }
    }
}
