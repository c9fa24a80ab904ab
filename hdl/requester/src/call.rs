//! A call of a server (`docs/requester.md`, Calls).

use hdl_macros::hdl;
use rust_hdl::prelude::*;

/// Holds one request until the server takes it, and its response until the next call.
///
/// `start` goes through to the server in the same clock; `busy` is high from the next one until the response can be read. It must not be started
/// while it is busy. Levels: 1.
#[derive(LogicBlock, Default)]
pub struct Call<R: Synth, S: Synth> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // The caller.
    pub start: Signal<In, Bit>,
    /// With `start`.
    pub request: Signal<In, R>,
    pub busy: Signal<Out, Bit>,
    /// Of the last call.
    pub response: Signal<Out, S>,

    // The server.
    pub server_valid: Signal<Out, Bit>,
    pub server_request: Signal<Out, R>,
    pub server_ready: Signal<In, Bit>,
    pub answer_valid: Signal<In, Bit>,
    pub answer: Signal<In, S>,

    /// The server has not taken the request yet.
    asking: DFF<Bit>,
    asked: DFF<R>,
    waiting: DFF<Bit>,
    answered: DFF<S>,
}

impl<R: Synth, S: Synth> Logic for Call<R, S> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, asking, asked, waiting, answered);
        let start = self.start.val();
        let asking = self.asking.q.val();
        self.server_valid.next = start | asking;
        self.server_request.next = if asking {
            self.asked.q.val()
        } else {
            self.request.val()
        };
        self.asking.d.next = (start | asking) & !self.server_ready.val();
        if start {
            self.asked.d.next = self.request.val();
            self.waiting.d.next = true;
        } else if self.answer_valid.val() {
            self.waiting.d.next = false;
        }
        if self.answer_valid.val() {
            self.answered.d.next = self.answer.val();
        }
        self.busy.next = self.waiting.q.val();
        self.response.next = self.answered.q.val();
        if self.reset.val() {
            self.asking.d.next = false;
            self.waiting.d.next = false;
        }
    }
}
