//! What the card counts once, and not per port.

use hdl_host_if::{DoorbellPulsesSnk, QueuePulsesSnk};
use hdl_macros::{clock_reset, hdl, join};
use hdl_responder::ResponderPulsesSnk;
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

    pub queues: QueuePulsesSnk,
    pub doorbells: DoorbellPulsesSnk,
    pub responder: ResponderPulsesSnk,
    /// From the requester: bit e says that the engine e refused a producer index.
    pub producers_refused: Signal<In, Bits<2>>,

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
            .replace_bit(0, self.queues.completions_written.val())
            .replace_bit(1, self.queues.completions_lost.val())
            .replace_bit(2, self.queues.consumers_refused.val())
            .replace_bit(3, self.queues.events_written.val())
            .replace_bit(4, self.queues.events_lost.val())
            .replace_bit(5, self.queues.event_consumers_refused.val())
            .replace_bit(6, self.queues.interrupts_sent.val())
            .replace_bit(7, self.doorbells.not_owned.val())
            .replace_bit(8, self.doorbells.short_write.val())
            .replace_bit(9, self.doorbells.wrong_offset.val())
            .replace_bit(10, producers_refused.get_bit(0))
            .replace_bit(11, producers_refused.get_bit(1))
            .replace_bit(12, self.responder.answered_ack.val())
            .replace_bit(13, self.responder.answered_nak.val())
            .replace_bit(14, self.responder.answered_sack.val())
            .replace_bit(15, self.responder.answered_nack.val())
            .replace_bit(16, self.responder.wimm_exceeded.val())
            .replace_bit(17, self.responder.ignored.val());
        join!(self, select => bank.select, bank.value => value);
    }
}
