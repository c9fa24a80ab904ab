//! What the card counts once, and not per port.

use hdl_macros::{clock_reset, hdl, join};
use rust_hdl::prelude::*;
use stellar_wire::host::counters::PORT_BIT;
use stellar_wire::host::CardCounter;

use crate::counter_bank::CounterBank;

/// Counters, by the value of `CardCounter`.
const COUNTERS: usize = CardCounter::COUNT;

/// A [`CounterBank`] for up to one event of each kind per cycle.
#[derive(LogicBlock, Default)]
pub struct CardCounters {
    pub clock: Signal<In, Clock>,
    /// Sets every counter to zero.
    pub reset: Signal<In, Bit>,

    // From the host's queues.
    pub completions_written: Signal<In, Bit>,
    pub completions_lost: Signal<In, Bit>,
    pub consumers_refused: Signal<In, Bit>,
    pub events_written: Signal<In, Bit>,
    pub events_lost: Signal<In, Bit>,
    pub event_consumers_refused: Signal<In, Bit>,
    pub interrupts_sent: Signal<In, Bit>,

    // From the doorbells.
    pub not_owned: Signal<In, Bit>,
    pub short_write: Signal<In, Bit>,
    pub wrong_offset: Signal<In, Bit>,

    /// From the requester: bit e says that the engine e refused a producer index.
    pub producers_refused: Signal<In, Bits<2>>,

    // From the responder.
    pub answered_ack: Signal<In, Bit>,
    pub answered_nak: Signal<In, Bit>,
    pub answered_sack: Signal<In, Bit>,
    pub answered_nack: Signal<In, Bit>,
    pub wimm_exceeded: Signal<In, Bit>,
    pub ignored: Signal<In, Bit>,

    pub select: Signal<In, Bits<PORT_BIT>>,
    /// The counter selected in the cycle before; zero beyond the last.
    pub value: Signal<Out, Bits<48>>,

    bank: CounterBank<COUNTERS, PORT_BIT>,
}

impl Logic for CardCounters {
    #[hdl]
    fn update(&mut self) {
        clock_reset!(self, bank);
        let producers_refused = self.producers_refused.val();
        // In the order of `CardCounter`.
        self.bank.events.next = bits::<COUNTERS>(0)
            .replace_bit(0, self.completions_written.val())
            .replace_bit(1, self.completions_lost.val())
            .replace_bit(2, self.consumers_refused.val())
            .replace_bit(3, self.events_written.val())
            .replace_bit(4, self.events_lost.val())
            .replace_bit(5, self.event_consumers_refused.val())
            .replace_bit(6, self.interrupts_sent.val())
            .replace_bit(7, self.not_owned.val())
            .replace_bit(8, self.short_write.val())
            .replace_bit(9, self.wrong_offset.val())
            .replace_bit(10, producers_refused.get_bit(0))
            .replace_bit(11, producers_refused.get_bit(1))
            .replace_bit(12, self.answered_ack.val())
            .replace_bit(13, self.answered_nak.val())
            .replace_bit(14, self.answered_sack.val())
            .replace_bit(15, self.answered_nack.val())
            .replace_bit(16, self.wimm_exceeded.val())
            .replace_bit(17, self.ignored.val());
        join!(self, select => bank.select, bank.value => value);
    }
}
