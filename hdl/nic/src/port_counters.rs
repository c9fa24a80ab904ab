//! What a port and its PCIe endpoint count.

use hdl_macros::{clock_reset, hdl, join};
use hdl_pcie::read::records::ReadEvents;
use rust_hdl::prelude::*;
use stellar_wire::host::counters::PORT_BIT;
use stellar_wire::host::PortCounter;

use crate::counter_bank::CounterBank;
use crate::tx_lanes::TxEvents;

/// Counters, by the value of `PortCounter`.
const COUNTERS: usize = PortCounter::COUNT;

/// A [`CounterBank`] for up to one event of each kind per cycle.
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
    pub flush_fault_dropped: Signal<In, Bit>,
    pub write_dropped: Signal<In, Bit>,
    pub request_refused: Signal<In, Bit>,
    pub request_damaged: Signal<In, Bit>,
    pub receive_overrun: Signal<In, Bit>,

    pub select: Signal<In, Bits<PORT_BIT>>,
    /// The counter selected in the cycle before; zero beyond the last.
    pub value: Signal<Out, Bits<48>>,

    bank: CounterBank<COUNTERS, PORT_BIT>,
}

impl Logic for PortCounters {
    #[hdl]
    fn update(&mut self) {
        clock_reset!(self, bank);
        let transmit = self.transmit.val();
        let payload = self.payload.val();
        let entries = self.entries.val();
        // In the order of `PortCounter`.
        self.bank.events.next = bits::<COUNTERS>(0)
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
            .replace_bit(13, self.flush_timed_out.val())
            .replace_bit(14, self.request_refused.val())
            .replace_bit(15, self.request_damaged.val())
            .replace_bit(16, self.flush_fault_dropped.val())
            .replace_bit(17, self.write_dropped.val())
            .replace_bit(18, self.receive_overrun.val());
        join!(self, select => bank.select, bank.value => value);
    }
}
