//! What the prefetch works on.

use hdl_macros::hdl;
use hdl_primitives::{OfferSnk, Snk};
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::WqeFetched;
use stellar_wire::hw::Qpn;

use crate::prefetch_step::{PrefetchStep, Work};
use crate::records::{Ask, AskKind};

/// Accepts a request of the message table, a visit, or the first line of a read in `Take`, and holds it until the next `Take`. A request that waits has priority, then a visit that is due. Levels: 3.
#[derive(LogicBlock, Default)]
pub struct PrefetchAccept {
    pub clock: Signal<In, Clock>,
    /// Discards the request that waits.
    pub reset: Signal<In, Bit>,

    pub step: Signal<In, PrefetchStep>,
    pub ask: OfferSnk<Ask>,
    /// A restart waits or is executed.
    pub restarting: Signal<Out, Bit>,
    /// A visit of `visit_qp` may begin; it does.
    pub visit_due: Signal<In, Bit>,
    pub visit_qp: Signal<In, Qpn>,
    pub takes_visit: Signal<Out, Bit>,
    pub fetched: Snk<WqeFetched>,
    /// The lines that come are not the first ones of a read.
    pub storing: Signal<In, Bit>,

    /// Something is accepted in this cycle.
    pub accepts: Signal<Out, Bit>,
    /// Queue pair of what is accepted in this cycle, or is in progress.
    pub qp: Signal<Out, Qpn>,
    /// What is in progress: its kind, the request, the first line of the read.
    pub work: Signal<Out, Work>,
    pub asked: Signal<Out, Ask>,
    pub answer: Signal<Out, WqeFetched>,

    /// A request waits.
    asking_valid: DFF<Bit>,
    asking: DFF<Ask>,
    qp_held: DFF<Qpn>,
    work_held: DFF<Work>,
    asked_held: DFF<Ask>,
    answer_held: DFF<WqeFetched>,
}

impl Logic for PrefetchAccept {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            asking_valid,
            asking,
            qp_held,
            work_held,
            asked_held,
            answer_held
        );
        let takes = self.step.val() == PrefetchStep::Take;
        let acts = self.step.val() == PrefetchStep::Act;
        let storing = self.storing.val();
        let work = self.work_held.q.val();
        let asked = self.asked_held.q.val();

        // who is next
        let held = self.asking_valid.q.val();
        let asks = self.ask.valid.val();
        let asking = if held {
            self.asking.q.val()
        } else {
            self.ask.record.val()
        };
        let visit_due = self.visit_due.val();
        let fetched = self.fetched.record.val();
        let fetched_due = self.fetched.valid.val() & !storing;
        // A request comes late in a cycle. One that comes when something else is due waits.
        let takes_ask = held | (asks & !visit_due & !fetched_due);
        self.ask.ready.next = !held;
        self.takes_visit.next = takes & !held & visit_due;
        self.fetched.ready.next = (takes & !held & !visit_due) | storing;
        assert!(
            !storing | self.fetched.valid.val(),
            "a gap between the entries of a read"
        );
        if !held {
            self.asking.d.next = self.ask.record.val();
        }
        self.asking_valid.d.next = (held & !takes) | (asks & !held & !(takes & takes_ask));

        // hold it
        let qp = if !takes {
            self.qp_held.q.val()
        } else if takes_ask {
            asking.qp
        } else if visit_due {
            self.visit_qp.val()
        } else {
            fetched.qp
        };
        self.qp_held.d.next = qp;
        if takes {
            self.asked_held.d.next = asking;
            self.work_held.d.next = if takes_ask {
                Work::Ask
            } else if visit_due {
                Work::Visit
            } else {
                Work::Arrival
            };
            self.answer_held.d.next = fetched;
        }
        self.accepts.next = held | asks | visit_due | fetched_due;
        self.restarting.next = (held & (self.asking.q.val().kind == AskKind::Restarts))
            | (acts & (work == Work::Ask) & (asked.kind == AskKind::Restarts));
        self.qp.next = qp;
        self.work.next = work;
        self.asked.next = asked;
        self.answer.next = self.answer_held.q.val();
        if self.reset.val() {
            self.asking_valid.d.next = false;
        }
    }
}
