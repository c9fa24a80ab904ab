//! Credits for a FIFO whose sender does not see its `ready`.

use hdl_macros::{clock_reset, hdl};
use hdl_primitives::Credit;
use rust_hdl::prelude::*;

/// Entries of the FIFO.
const LIMIT: usize = 6;

/// Properties of [`Credit`] for a FIFO of 6 entries.
#[derive(LogicBlock)]
pub struct CreditProof {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub take: Signal<In, Bit>,
    pub give: Signal<In, Bit>,

    /// The sender takes only with `room`, as the block asks.
    pub given_take_with_room: Signal<Out, Bit>,
    /// Only entries that were sent in an earlier cycle leave the FIFO.
    pub given_give_of_sent: Signal<Out, Bit>,

    /// No more entries are sent and not yet given back than the FIFO has.
    pub holds_limit: Signal<Out, Bit>,
    /// With all entries in use there is no room.
    pub holds_no_room_at_limit: Signal<Out, Bit>,
    /// Two cycles after the last entry but one is given back there is room again: no credit is lost.
    pub holds_room_returns: Signal<Out, Bit>,
    /// All entries can be in use.
    pub reaches_used: Signal<Out, Bit>,

    credit: Credit<3>,
    /// Entries that were sent and not given back. Wider than the block's count, so that it cannot wrap.
    sent: DFF<Bits<5>>,
    empty: DFF<Bit>,
}

impl Default for CreditProof {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            take: Default::default(),
            give: Default::default(),
            given_take_with_room: Default::default(),
            given_give_of_sent: Default::default(),
            holds_limit: Default::default(),
            holds_no_room_at_limit: Default::default(),
            holds_room_returns: Default::default(),
            reaches_used: Default::default(),
            credit: Credit::new(LIMIT),
            sent: Default::default(),
            empty: Default::default(),
        }
    }
}

impl Logic for CreditProof {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, sent, empty);
        clock_reset!(self, credit);
        self.credit.take.next = self.take.val();
        self.credit.give.next = self.give.val();
        let room = self.credit.room.val();
        let sent = self.sent.q.val();
        if self.take.val() & !self.give.val() {
            self.sent.d.next = sent + 1;
        }
        if self.give.val() & !self.take.val() {
            self.sent.d.next = sent - 1;
        }
        self.empty.d.next = sent < (LIMIT as u64 - 1);

        self.given_take_with_room.next = room | !self.take.val();
        self.given_give_of_sent.next = sent.any() | !self.give.val();
        self.holds_limit.next = sent <= (LIMIT as u64);
        self.holds_no_room_at_limit.next = !room | (sent < (LIMIT as u64));
        self.holds_room_returns.next = room | !self.empty.q.val();
        self.reaches_used.next = sent == (LIMIT as u64);
        if self.reset.val() {
            self.sent.d.next = bits(0);
            self.empty.d.next = false;
        }
    }
}
