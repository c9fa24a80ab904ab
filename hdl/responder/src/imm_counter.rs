//! Counts the WRITEs with immediate of each queue pair, and says when a count is where an event is due (reference: `ImmCounter`).

use hdl_macros::{clock, clock_reset, hdl, join};
use hdl_primitives::{BypassRam, DataOfferSnk, SyncFifo, ThresholdSrc};
use rust_hdl::prelude::*;

use crate::count_records::{Arrival, Count, Counted, ThresholdReached};
use crate::message_count::{MessageCount, UNDER_WAY};

/// log2 of the arrivals that can wait for [`MessageCount`].
const WAITING_BITS: usize = 5;
/// log2 of the events that can wait. Half of them are for the packets under way.
const EVENT_BITS: usize = 4;
const _: () = assert!(UNDER_WAY + 2 < 1 << (EVENT_BITS - 1));

/// A packet with the count of its queue pair.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Counting {
    counted: Counted,
    before: Count,
}

/// Counts the WRITEs with immediate of 2^`Q` queue pairs whose packets have all arrived, in any order, and raises an event when a count reaches the armed threshold. What happens to one queue pair counts in
/// the order of the arrivals. `A` and `R` are those of [`MessageCount`].
///
/// It accepts one arrival per cycle; those behind one whose missing packets are counted wait, and the caller does not, as long as there is space.
///
/// Stages: those of [`MessageCount`], `reading` (the count is read), `counting` (it is written).
/// Levels planned: reading 2, counting 7 (sum, equality 3, armed, forwarding).
#[derive(LogicBlock, Default)]
pub struct ImmCounter<const Q: usize, const A: usize, const R: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub arrival: DataOfferSnk<Arrival>,
    pub threshold: ThresholdSrc,

    arrivals: SyncFifo<Arrival, WAITING_BITS, { WAITING_BITS + 1 }>,
    messages: MessageCount<Q, A, R>,
    counts: BypassRam<Count, Q>,
    thresholds: SyncFifo<ThresholdReached, EVENT_BITS, { EVENT_BITS + 1 }>,
    reading_valid: DFF<Bit>,
    reading: DFF<Counted>,
    counting_valid: DFF<Bit>,
    counting: DFF<Counting>,
}

impl<const Q: usize, const A: usize, const R: usize> Logic for ImmCounter<Q, A, R> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, reading_valid, reading);
        dff_setup!(self, clock, counting_valid, counting);
        clock_reset!(self, arrivals, messages, thresholds);
        clock!(self, clock, counts);

        join!(self, arrival => arrivals.in_);

        // An arrival begins only if there is space for the event that it may raise.
        let has_space = !self.thresholds.count.val().get_bit(EVENT_BITS - 1)
            & !self.thresholds.count.val().get_bit(EVENT_BITS);
        self.messages.arrival.valid.next = self.arrivals.out.valid.val() & has_space;
        self.messages.arrival.record.next = self.arrivals.out.data.val();
        self.arrivals.out.ready.next = self.messages.arrival.ready.val() & has_space;

        // read: only of arrivals that concern the count.
        let next = self.messages.out.record.val();
        let next_packet = next.packet;
        let concerns = next_packet.counts | next.whole | next_packet.arms | next_packet.restarts;
        let enters = self.messages.out.valid.val() & concerns;
        self.reading_valid.d.next = enters;
        if enters {
            self.reading.d.next = next;
        }
        self.counts.read_address.next = next_packet.qp.get_bits::<Q>(0);

        // count
        let counting = self.counting.q.val();
        let counted = counting.counted;
        let packet = counted.packet;
        let before = counting.before;
        let more = packet.counts | counted.whole;
        let count = if packet.restarts {
            bits::<32>(0)
        } else if more {
            before.count + 1
        } else {
            before.count
        };
        let sought = if packet.arms {
            packet.threshold
        } else {
            before.threshold
        };
        let reached = (count == sought) & (packet.arms | (more & before.armed));
        let after = Count {
            count,
            armed: !packet.restarts & !reached & (packet.arms | before.armed),
            threshold: sought,
        };
        let row = packet.qp.get_bits::<Q>(0);
        self.counts.write_enable.next = self.counting_valid.q.val();
        self.counts.write_address.next = row;
        self.counts.write_data.next = after;
        self.thresholds.in_.valid.next = self.counting_valid.q.val() & reached;
        self.thresholds.in_.data.next = ThresholdReached {
            qp: packet.qp,
            count,
        };

        // The count of the arrival right before is not in the memory yet.
        let reading = self.reading.q.val();
        let reading_packet = reading.packet;
        let follows = self.counting_valid.q.val() & (reading_packet.qp.get_bits::<Q>(0) == row);
        self.counting_valid.d.next = self.reading_valid.q.val();
        if self.reading_valid.q.val() {
            self.counting.d.next = Counting {
                counted: reading,
                before: if follows {
                    after
                } else {
                    self.counts.read_data.val()
                },
            };
        }

        join!(
            self,
            thresholds.out.valid => threshold.valid,
            threshold.ready => thresholds.out.ready,
        );
        self.threshold.qp.next = self.thresholds.out.data.val().qp;
        self.threshold.count.next = self.thresholds.out.data.val().count;

        if self.reset.val() {
            self.reading_valid.d.next = false;
            self.counting_valid.d.next = false;
        }
    }
}
