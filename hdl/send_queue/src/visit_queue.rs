//! Whose turn it is to read entries.

use hdl_macros::{clock_reset, hdl};
use hdl_primitives::{BlockFifo, FlowSnk};
use rust_hdl::prelude::*;
use stellar_wire::hw::Qpn;

/// How a visit, a doorbell or a request ended that may have read.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Turn {
    pub qp: Qpn,
    /// It is visited next, before those that wait: it lacks a burst.
    pub again: Bit,
    /// It was visited, and may not read what it has.
    pub in_vain: Bit,
    /// Who was visited in vain may be visited again: something has changed.
    pub changes: Bit,
}

/// Queue pairs that wait for a visit of the prefetch, each at most once, 2^`F` of them; `D` = `F` + 1. Visits stop when all that wait were visited in vain. Levels: 3.
#[derive(LogicBlock, Default)]
pub struct VisitQueue<const F: usize, const D: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    /// The prefetch accepts something in this cycle: a visit, or something else. Visits take turns with the latter.
    pub takes: Signal<In, Bit>,
    pub takes_visit: Signal<In, Bit>,
    /// A visit of `qp` is due.
    pub due: Signal<Out, Bit>,
    pub qp: Signal<Out, Qpn>,
    pub nobody_waits: Signal<Out, Bit>,
    /// Nobody is visited before those that wait.
    pub nobody_again: Signal<Out, Bit>,

    /// A queue pair waits, behind the others.
    pub add: FlowSnk<Qpn>,
    pub turn: Signal<In, Turn>,

    queue: BlockFifo<Qpn, F, D>,
    /// It is a visit's turn.
    visit_turn: DFF<Bit>,
    /// The visit in progress is that of the queue pair that waits first. It leaves the queue a cycle later, so that the queue is not behind the choice.
    popped: DFF<Bit>,
    /// `again_qp` is visited before those that wait.
    again: DFF<Bit>,
    again_qp: DFF<Qpn>,
    /// The visit in progress is one of these. It counts for nobody who waits.
    is_again: DFF<Bit>,
    /// Visits in vain since something changed.
    in_vain: DFF<Bits<D>>,
}

impl<const F: usize, const D: usize> Logic for VisitQueue<F, D> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, visit_turn, popped, again, again_qp, is_again, in_vain);
        clock_reset!(self, queue);
        let waiting = self.queue.count.val();
        let again = self.again.q.val();
        let in_vain = self.in_vain.q.val();
        let others_due = self.queue.out.valid.val() & (in_vain < waiting);
        self.due.next = (again | others_due) & self.visit_turn.q.val();
        self.qp.next = if again {
            self.again_qp.q.val()
        } else {
            self.queue.out.data.val()
        };
        self.nobody_waits.next = !waiting.any() & !again;
        self.nobody_again.next = !again;

        let visits = self.takes_visit.val();
        self.popped.d.next = visits & !again;
        self.queue.out.ready.next = self.popped.q.val();
        if self.takes.val() {
            self.visit_turn.d.next = !visits;
            self.is_again.d.next = again;
        }

        let turn = self.turn.val();
        if turn.again {
            self.again.d.next = true;
            self.again_qp.d.next = turn.qp;
        } else if visits {
            self.again.d.next = false;
        }
        if turn.changes {
            self.in_vain.d.next = bits(0);
        } else if turn.in_vain & !self.is_again.q.val() {
            self.in_vain.d.next = in_vain + 1;
        }
        self.queue.in_.valid.next = self.add.valid.val();
        self.queue.in_.data.next = self.add.record.val();
        assert!(
            !self.add.valid.val() | self.queue.in_.ready.val(),
            "a queue pair waits for more than one visit"
        );
        if self.reset.val() {
            self.again.d.next = false;
            self.popped.d.next = false;
            self.in_vain.d.next = bits(0);
        }
    }
}
