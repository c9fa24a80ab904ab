//! Schedules a queue pair at both ports.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::hw::Qpn;

use crate::bundles::{ScheduleSnk, ScheduleSrc};
use crate::ports::pair;

/// Gives each queue pair to the schedules of both ports. A schedule that is not ready does not hold up the other one, and what it has not accepted waits here.
///
/// A queue pair that comes while nothing waits is offered in the same cycle. `in_ready` is a register, so neither the sequencer nor its choice of the next
/// operation depends on the state of the schedules. Levels: 1.
#[derive(LogicBlock, Default)]
pub struct ScheduleBoth {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub in_: ScheduleSnk,
    pub out: [ScheduleSrc; 2],

    /// Bit p: the schedule of port p has not accepted the queue pair that waits.
    waits: DFF<Bits<2>>,
    /// Neither bit is set.
    ready: DFF<Bit>,
    qp: DFF<Qpn>,
    page: DFF<Bits<16>>,
}

impl Logic for ScheduleBoth {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, waits, ready, qp, page);
        let ready = self.ready.q.val();
        let comes = ready & self.in_.valid.val();
        let offers = if comes {
            bits::<2>(3)
        } else {
            self.waits.q.val()
        };
        let qp = if ready {
            self.in_.qp.val()
        } else {
            self.qp.q.val()
        };
        let page = if ready {
            self.in_.page.val()
        } else {
            self.page.q.val()
        };
        self.qp.d.next = qp;
        self.page.d.next = page;
        for p in 0..2 {
            self.out[p].valid.next = offers.get_bit(p);
            self.out[p].qp.next = qp;
            self.out[p].page.next = page;
        }
        let left = offers & !pair(self.out[0].ready.val(), self.out[1].ready.val());
        self.waits.d.next = left;
        self.ready.d.next = !left.any();
        self.in_.ready.next = ready;
        if self.reset.val() {
            self.waits.d.next = bits::<2>(0);
            self.ready.d.next = true;
        }
    }
}
