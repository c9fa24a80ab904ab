//! Answers the host's Invalidate Requests.

use hdl_macros::hdl;
use hdl_primitives::Src;
use rust_hdl::prelude::*;
use stellar_wire::hw::ats::{
    CqMessage, Invalidated, CODE_INVALIDATE_REQUEST, ITAGS, REQUEST_ATS_MESSAGE,
};

use crate::bundles::CqLookSnk;

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum State {
    /// Waits for a request.
    Idle,
    /// The drain begins.
    Begin,
    /// Waits for the requests of the function that were under way.
    Drain,
    /// The completion is at the output.
    Complete,
}

/// Answers Invalidate Requests (PCIe base specification, section 10.3) of a function that caches no translation.
///
/// The block looks at the completer request stream, whose messages nobody else takes. It never stalls: the ITag of each request sets a bit, and all bits
/// that are set are completed together by the next message. Before, it drains the endpoint: reads that were under way have ended, and writes that had
/// left are in memory. Levels: 3 (ITag to its bit).
#[derive(LogicBlock, Default)]
pub struct InvalidateResponder {
    pub clock: Signal<In, Clock>,
    /// Forgets all requests, as a function-level reset may.
    pub reset: Signal<In, Bit>,

    pub cq: CqLookSnk,

    // Drains. Each begins when the one before it is done.
    /// One cycle: a drain begins.
    pub drain: Signal<Out, Bit>,
    /// Reads from before `drain` have ended. Valid from the cycle after `drain`.
    pub reads_done: Signal<In, Bit>,
    /// One cycle: writes from before `drain` are in memory.
    pub writes_done: Signal<In, Bit>,

    pub completion: Src<Invalidated>,

    /// The beat of the last cycle: whether it moves is known late.
    moved: DFF<Bit>,
    was_last: DFF<Bit>,
    was_damaged: DFF<Bit>,
    message: DFF<CqMessage>,
    /// A request of the stream has begun, and its last beat has not come.
    open: DFF<Bit>,
    seen: DFF<Bit>,
    seen_itag: DFF<Bits<5>>,
    /// ID of the translation agent. A function has one (section 10.3.2).
    agent: DFF<Bits<16>>,
    /// ITags that no drain has begun for.
    arrived: DFF<Bits<ITAGS>>,
    /// ITags that wait for the drain, or for their completion to leave.
    draining: DFF<Bits<ITAGS>>,
    waits_for_writes: DFF<Bit>,
    state: DFF<State>,
}

impl Logic for InvalidateResponder {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, moved, was_last, was_damaged, message);
        dff_setup!(self, clock, open, seen, seen_itag, agent);
        dff_setup!(self, clock, arrived, draining, waits_for_writes, state);

        // see
        self.moved.d.next = self.cq.moves.val();
        self.was_last.d.next = self.cq.last.val();
        self.was_damaged.d.next = self.cq.damaged.val();
        self.message.d.next = self.cq.message.val();
        let message = self.message.q.val();
        let is_request = (message.request_type == REQUEST_ATS_MESSAGE)
            & (message.code == CODE_INVALIDATE_REQUEST);
        let moved = self.moved.q.val();
        let sees = moved & !self.open.q.val() & !self.was_damaged.q.val() & is_request;
        if moved {
            self.open.d.next = !self.was_last.q.val();
        }
        self.seen.d.next = sees;
        self.seen_itag.d.next = message.itag;
        if sees {
            self.agent.d.next = message.requester;
        }

        // collect
        let state = self.state.q.val();
        let begins = state == State::Begin;
        let kept = if begins {
            bits::<ITAGS>(0)
        } else {
            self.arrived.q.val()
        };
        let itag = if self.seen.q.val() {
            bits::<ITAGS>(1) << self.seen_itag.q.val()
        } else {
            bits::<ITAGS>(0)
        };
        self.arrived.d.next = kept | itag;
        if begins {
            self.draining.d.next = self.arrived.q.val();
        }

        // drain
        self.drain.next = begins;
        if begins {
            self.waits_for_writes.d.next = true;
        } else if self.writes_done.val() {
            self.waits_for_writes.d.next = false;
        }
        let completes = state == State::Complete;
        if begins {
            self.state.d.next = State::Drain;
        } else if state == State::Drain {
            if self.reads_done.val() & !self.waits_for_writes.q.val() {
                self.state.d.next = State::Complete;
            }
        } else if completes {
            if self.completion.ready.val() {
                self.state.d.next = State::Idle;
            }
        } else if self.arrived.q.val().any() {
            self.state.d.next = State::Begin;
        }

        // complete
        self.completion.valid.next = completes;
        self.completion.record.next = Invalidated {
            target: self.agent.q.val(),
            itags: self.draining.q.val(),
        };

        if self.reset.val() {
            // Beats are followed, but none is a request.
            self.was_damaged.d.next = true;
            self.seen.d.next = false;
            self.arrived.d.next = bits::<ITAGS>(0);
            self.state.d.next = State::Idle;
        }
    }
}
