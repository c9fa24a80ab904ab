//! One 48-bit counter per `DropReason`.

use hdl_macros::{clock_reset, hdl, join};
use rust_hdl::prelude::*;
use stellar_wire::hw::frame::DropReason;

use crate::counter_bank::CounterBank;

/// Counters, by the value of `DropReason`; index 0 counts accepted packets.
pub const COUNTERS: usize = DropReason::COUNT;

/// Bits of a `DropReason`.
const REASON_BITS: usize = <DropReason as Synth>::BITS;

/// Bits that select a counter.
const SELECT_BITS: usize = 6;

/// Counts one event per cycle, and answers reads one cycle later. At 100 M packets per second a counter wraps after 32 days.
#[derive(LogicBlock, Default)]
pub struct DropCounters {
    pub clock: Signal<In, Clock>,
    /// Sets every counter to zero.
    pub reset: Signal<In, Bit>,

    pub counted: Signal<In, Bit>,
    pub reason: Signal<In, DropReason>,

    pub select: Signal<In, Bits<SELECT_BITS>>,
    /// The counter selected in the cycle before; zero beyond the last.
    pub value: Signal<Out, Bits<48>>,

    // The reason is decoded in a cycle of its own, so that each adder gets one bit.
    increment: DFF<Bits<COUNTERS>>,
    bank: CounterBank<COUNTERS, SELECT_BITS>,
}

impl Logic for DropCounters {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, increment);
        clock_reset!(self, bank);
        let index = bit_cast::<6, REASON_BITS>(self.reason.val().into());
        self.increment.d.next = if self.counted.val() {
            bits::<COUNTERS>(1) << index
        } else {
            bits::<COUNTERS>(0)
        };
        join!(
            self,
            increment.q => bank.events,
            select => bank.select,
            bank.value => value,
        );
    }
}
