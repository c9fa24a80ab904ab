//! Client side of a functional unit's request and response ports (`docs/requester.md`).

use hdl_macros::hdl;
use hdl_primitives::{FlowSnk, Src};
use rust_hdl::prelude::*;

/// Holds a request until the unit accepts it, and the response until the next request.
///
/// `start` drives the request to the unit in the same cycle. `busy` is high from the next cycle until the response can be read; `start` must be low
/// meanwhile. Levels: 1.
#[derive(LogicBlock, Default)]
pub struct UnitClient<R: Synth, S: Synth> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // Flow that uses the unit.
    pub start: Signal<In, Bit>,
    /// Valid with `start`. It is stored whenever no request waits, so that `start`, which comes late in a cycle, enables nothing wide.
    pub request: Signal<In, R>,
    pub busy: Signal<Out, Bit>,
    /// Response to the last request.
    pub response: Signal<Out, S>,

    // Functional unit.
    pub unit_request: Src<R>,
    pub unit_response: FlowSnk<S>,

    /// The unit has not accepted the request yet.
    request_pending: DFF<Bit>,
    request_held: DFF<R>,
    response_pending: DFF<Bit>,
    response_held: DFF<S>,
}

impl<R: Synth, S: Synth> Logic for UnitClient<R, S> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            request_pending,
            request_held,
            response_pending,
            response_held
        );
        let start = self.start.val();
        let request_pending = self.request_pending.q.val();
        self.unit_request.valid.next = start | request_pending;
        self.unit_request.record.next = if request_pending {
            self.request_held.q.val()
        } else {
            self.request.val()
        };
        self.request_pending.d.next = (start | request_pending) & !self.unit_request.ready.val();
        if !request_pending {
            self.request_held.d.next = self.request.val();
        }
        if start {
            self.response_pending.d.next = true;
        } else if self.unit_response.valid.val() {
            self.response_pending.d.next = false;
        }
        if self.unit_response.valid.val() {
            self.response_held.d.next = self.unit_response.record.val();
        }
        self.busy.next = self.response_pending.q.val();
        self.response.next = self.response_held.q.val();
        if self.reset.val() {
            self.request_pending.d.next = false;
            self.response_pending.d.next = false;
        }
    }
}
