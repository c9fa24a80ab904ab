//! Responses and completions of the message table.

use hdl_macros::hdl;
use hdl_primitives::{FlowSrc, Src};
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::{Completion, MessageResponse};

/// Holds a response for a cycle, and a completion until it is accepted. Levels: 1.
#[derive(LogicBlock, Default)]
pub struct MessageOutputs {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub responds: Signal<In, Bit>,
    pub next_response: Signal<In, MessageResponse>,
    pub response: FlowSrc<MessageResponse>,

    /// A message completes. If it has a completion, `free` is high.
    pub completes: Signal<In, Bit>,
    pub next_completion: Signal<In, Completion>,
    pub free: Signal<Out, Bit>,
    pub cqe: Src<Completion>,

    responds_held: DFF<Bit>,
    response_held: DFF<MessageResponse>,
    completes_held: DFF<Bit>,
    completion_held: DFF<Completion>,
}

impl Logic for MessageOutputs {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            responds_held,
            response_held,
            completes_held,
            completion_held
        );
        self.responds_held.d.next = self.responds.val();
        self.response_held.d.next = self.next_response.val();
        self.response.valid.next = self.responds_held.q.val();
        self.response.record.next = self.response_held.q.val();

        let completes = self.completes.val();
        let free = !self.completes_held.q.val() | self.cqe.ready.val();
        self.free.next = free;
        self.completes_held.d.next = completes | !free;
        if completes {
            self.completion_held.d.next = self.next_completion.val();
        }
        self.cqe.valid.next = self.completes_held.q.val();
        self.cqe.record.next = self.completion_held.q.val();

        if self.reset.val() {
            self.responds_held.d.next = false;
            self.completes_held.d.next = false;
        }
    }
}
