//! One 48-bit counter per `DropReason`.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::hw::frame::DropReason;

/// Counters, by the value of `DropReason`; index 0 counts accepted packets.
pub const COUNTERS: usize = DropReason::COUNT;

/// Bits of a `DropReason`.
const REASON_BITS: usize = <DropReason as Synth>::BITS;

const _: () = assert!(COUNTERS <= 1 << 6, "`select` names every counter");

/// Counts one event per cycle, and answers reads one cycle later. At 100 M packets per second a counter wraps after 32 days.
#[derive(LogicBlock, Default)]
pub struct DropCounters {
    pub clock: Signal<In, Clock>,
    /// Sets every counter to zero.
    pub reset: Signal<In, Bit>,

    pub counted: Signal<In, Bit>,
    pub reason: Signal<In, DropReason>,

    pub select: Signal<In, Bits<6>>,
    /// The counter selected in the cycle before; zero beyond the last.
    pub value: Signal<Out, Bits<48>>,

    // The reason is decoded in a cycle of its own, so that each adder gets one bit.
    increment: DFF<Bits<COUNTERS>>,
    counters: [DFF<Bits<48>>; COUNTERS],
    read: DFF<Bits<48>>,
}

impl Logic for DropCounters {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, increment, read);
        let index = bit_cast::<6, REASON_BITS>(self.reason.val().into());
        self.increment.d.next = if self.counted.val() {
            bits::<COUNTERS>(1) << index
        } else {
            bits::<COUNTERS>(0)
        };
        let mut selected = bits::<48>(0);
        for i in 0..COUNTERS {
            self.counters[i].clock.next = self.clock.val();
            let now = self.counters[i].q.val();
            let more = bit_cast::<48, 1>(self.increment.q.val().get_bits::<1>(i));
            self.counters[i].d.next = if self.reset.val() {
                bits::<48>(0)
            } else {
                now + more
            };
            let here = if self.select.val() == i as u64 {
                now
            } else {
                bits::<48>(0)
            };
            selected = selected | here;
        }
        self.read.d.next = selected;
        self.value.next = self.read.q.val();
    }
}
