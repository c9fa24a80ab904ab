//! What a port and its PCIe endpoint count.

use hdl_macros::hdl;
use hdl_pcie::read::records::ReadEvents;
use rust_hdl::prelude::*;
use stellar_wire::host::PortCounter;

use crate::tx_dual_lane::TxEvents;

/// Counters, by the value of `PortCounter`.
pub const COUNTERS: usize = PortCounter::COUNT;

/// Counts up to one event of each kind per cycle, and answers reads one cycle later. LUT levels: 3 (select).
#[derive(LogicBlock, Default)]
pub struct PortCounters {
    pub clock: Signal<In, Clock>,
    /// Sets every counter to zero.
    pub reset: Signal<In, Bit>,

    pub transmit: Signal<In, TxEvents>,
    pub payload: Signal<In, ReadEvents>,
    pub entries: Signal<In, ReadEvents>,
    pub flush_failed: Signal<In, Bit>,
    pub flush_timed_out: Signal<In, Bit>,

    pub select: Signal<In, Bits<5>>,
    /// The counter selected in the cycle before; zero beyond the last.
    pub value: Signal<Out, Bits<48>>,

    counters: [DFF<Bits<48>>; COUNTERS],
    read: DFF<Bits<48>>,
}

impl Logic for PortCounters {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, read);
        let transmit = self.transmit.val();
        let payload = self.payload.val();
        let entries = self.entries.val();
        // In the order of `PortCounter`.
        let events = bits::<COUNTERS>(0)
            .replace_bit(0, transmit.answer_dropped)
            .replace_bit(1, transmit.frame_dropped)
            .replace_bit(2, transmit.left_out)
            .replace_bit(3, transmit.fault_lost)
            .replace_bit(4, payload.timed_out)
            .replace_bit(5, payload.bad)
            .replace_bit(6, payload.damaged)
            .replace_bit(7, payload.unexpected)
            .replace_bit(8, entries.timed_out)
            .replace_bit(9, entries.bad)
            .replace_bit(10, entries.damaged)
            .replace_bit(11, entries.unexpected)
            .replace_bit(12, self.flush_failed.val())
            .replace_bit(13, self.flush_timed_out.val());
        let mut selected = bits::<48>(0);
        for i in 0..COUNTERS {
            self.counters[i].clock.next = self.clock.val();
            let now = self.counters[i].q.val();
            let more = bit_cast::<48, 1>(events.get_bits::<1>(i));
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
