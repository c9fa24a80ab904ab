//! Which operation the message table executes next.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::Snk;
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::{MessageRequest, SendQueueConfig};
use stellar_wire::hw::Qpn;

use crate::flush_turns::FlushTurns;
use crate::operation::Accepted;

/// Accepts a request, or begins a flush step, which has priority. `F` and `D` as of [`FlushTurns`]. Levels: 2.
#[derive(LogicBlock, Default)]
pub struct MessageAccept<const F: usize, const D: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub request: Snk<MessageRequest>,
    pub settings: Signal<In, SendQueueConfig>,

    /// No operation is in progress; the next one may begin.
    pub idle: Signal<In, Bit>,
    pub may_begin: Signal<In, Bit>,
    /// No flush step begins: a completion waits to be accepted.
    pub holds_flush: Signal<In, Bit>,
    /// One cycle: an operation begins, `accepted` of the next cycle. `qp` is its queue pair, from this cycle on.
    pub begins: Signal<Out, Bit>,
    pub qp: Signal<Out, Qpn>,
    pub accepted: Signal<Out, Accepted>,

    /// One cycle: the operation was a flush step, and ends.
    pub flush_ends: Signal<In, Bit>,
    /// One cycle: its queue pair needs a flush step.
    pub queues: Signal<In, Bit>,

    flush_turns: FlushTurns<F, D>,
    held: DFF<Accepted>,
}

impl<const F: usize, const D: usize> Logic for MessageAccept<F, D> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, held);
        clock_reset!(self, flush_turns);
        let idle = self.idle.val();
        let may_begin = self.may_begin.val();
        let held = self.held.q.val();
        let flush_due = self.flush_turns.due.val();
        let flush_qp = self.flush_turns.qp.val();
        let mut request = self.request.record.val();
        request.qp = if flush_due { flush_qp } else { request.qp };
        if idle {
            self.held.d.next = Accepted {
                is_flush_step: flush_due,
                request,
                settings: self.settings.val(),
            };
        }
        self.request.ready.next = may_begin & !flush_due;
        self.begins.next = may_begin & (flush_due | self.request.valid.val());
        self.qp.next = if idle { request.qp } else { held.request.qp };
        self.accepted.next = held;

        // flush
        self.flush_turns.take.next = may_begin & flush_due;
        self.flush_turns.queued_qp.next = held.request.qp;
        join!(
            self,
            holds_flush => flush_turns.hold,
            flush_ends => flush_turns.ends,
            queues => flush_turns.queues,
        );
    }
}
