//! Times of a packet in flight whose timers are examined.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::hw::window::SentPacket;

use crate::deadline::{earlier, reached, timeout};
use crate::records::{Op, RequesterState, TAIL_BITS};

/// Computes when the packet that was sent last as in `sent` expires, when a tail probe asks for it, and when a loss spends a retry.
#[derive(LogicBlock, Default)]
pub struct LossTimes {
    pub clock: Signal<In, Clock>,

    pub op: Signal<In, Op>,
    /// State of the queue pair, without the changes of this cycle.
    pub state: Signal<In, RequesterState>,
    pub sent: Signal<In, SentPacket>,
    /// `sent` is the record of the packet.
    pub computes: Signal<In, Bit>,
    /// A tail probe may ask for the packet.
    pub may_probe: Signal<In, Bit>,

    // From the cycle after `computes` on.
    /// The packet is late.
    pub late: Signal<Out, Bit>,
    /// A tail probe that asks for it is due.
    pub tail_is_over: Signal<Out, Bit>,
    /// The timers are examined again: if nothing is lost or asked for now, and if a probe asks now.
    pub deadline: Signal<Out, Bits<32>>,
    pub next_check: Signal<Out, Bits<32>>,

    // From the cycle after a change of the state on.
    /// The next loss spends a retry of the queue pair: it has spent none, or the last one was a timeout ago.
    pub spends_retry: Signal<Out, Bit>,
    /// If it does, the next one is spent from this time on.
    pub next_retry: Signal<Out, Bits<32>>,

    expires_at: DFF<Bits<32>>,
    probe_at: DFF<Bits<32>>,
    /// The next tail probe is due, if one is sent now.
    next_probe_at: DFF<Bits<32>>,
    may_spend: DFF<Bit>,
    may_spend_from: DFF<Bits<32>>,
}

impl Logic for LossTimes {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, expires_at, probe_at, next_probe_at);
        dff_setup!(self, clock, may_spend, may_spend_from);
        let op = self.op.val();
        let state = self.state.val();
        let sent = self.sent.val();
        let tail = bit_cast::<32, TAIL_BITS>(state.delays.tail);
        if self.computes.val() {
            self.expires_at.d.next = sent.at + timeout(op.settings, sent.retries);
            self.probe_at.d.next = sent.at + tail;
        }
        self.next_probe_at.d.next = op.now + tail;
        self.may_spend.d.next = !state.retries.any() | reached(op.now, state.next_retry);
        self.may_spend_from.d.next = op.now + timeout(op.settings, state.retries + 1);

        let expires_at = self.expires_at.q.val();
        let probe_at = self.probe_at.q.val();
        self.late.next = reached(op.now, expires_at);
        self.tail_is_over.next = reached(op.now, probe_at);
        // A tail probe is due before the packet expires. Whether one is comes later than both times.
        let or_probe = earlier(state.armed, state.deadline, probe_at);
        let or_expiry = earlier(state.armed, state.deadline, expires_at);
        self.deadline.next = if self.may_probe.val() {
            or_probe
        } else {
            or_expiry
        };
        self.next_check.next = if state.delays.spent {
            expires_at
        } else {
            earlier(true, self.next_probe_at.q.val(), expires_at)
        };
        self.spends_retry.next = self.may_spend.q.val();
        self.next_retry.next = self.may_spend_from.q.val();
    }
}
