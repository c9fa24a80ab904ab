//! Writes events into one ring in host memory.

use hdl_macros::{clock_reset, hdl};
use hdl_primitives::{PageFaultSnk, RoundRobin, Snk, ThresholdSnk};
use rust_hdl::prelude::*;
use stellar_wire::host::EventKind;
use stellar_wire::hw::dma::WriteTlpHeader;
use stellar_wire::hw::host_queues::{EventEntry, EventQueueConfig};
use stellar_wire::hw::read::FailedRead;

use crate::bundles::{
    EventConsumerSnk, HostWriteSrc, OverrunSnk, QpFailureSnk, RaiseSrc, RefusedDoorbellSnk,
};
use crate::ring::{
    consume, is_full, phase, place_mask, produced, write_header, ConsumerUpdate, Ring,
};

/// Cycles from accepting an event to offering its write, and from one event to the next.
pub const CLOCKS: usize = 2;

/// log2 of the bytes of an entry.
const ENTRY_BITS: u64 = 4;
/// Double words of an entry.
const ENTRY_DWORDS: u64 = 4;

/// Writes events into the event queue, one per [`CLOCKS`] cycles unless the output waits. The six sources take turns.
///
/// For a page fault or a failed read, a ring that is half full counts as full. A lost page fault is reported again later, and the queue pair of a failed read
/// is reported by itself; nothing replaces the other events, so the second half of the ring is reserved for them. An event that finds the ring full, or no ring, is lost and counted. Arming works as for completion queues. After reset there is no
/// ring. A consumer index is always accepted. It takes effect when no entry is in progress. Another consumer index that comes before that replaces it;
/// the ring is then armed if either of them arms it. Levels: 4 and carry chains (fullness, whether the write goes).
#[derive(LogicBlock, Default)]
pub struct EventQueue {
    pub clock: Signal<In, Clock>,
    /// Discards the ring and everything in progress.
    pub reset: Signal<In, Bit>,

    // A queue pair moved to the error state.
    pub qp_error: QpFailureSnk,
    // A completion was lost.
    pub overrun: OverrunSnk,
    // An immediate counter reached its threshold.
    pub imm_threshold: ThresholdSnk,
    // A doorbell rang for a queue pair of another page.
    pub doorbell_refused: RefusedDoorbellSnk,
    // A page of an on-demand region is not there.
    pub page_fault: PageFaultSnk,
    // A read by PCIe failed.
    pub failed_read: Snk<FailedRead>,

    // From software: a new ring, and consumer indices.
    pub settings: Snk<EventQueueConfig>,
    pub consumer: EventConsumerSnk,

    // To host_writes: entries of 16 bytes.
    pub write: HostWriteSrc<128>,
    /// To interrupts: high for one cycle, in a cycle after the entry was accepted.
    pub raise: RaiseSrc,

    // Counters: one cycle per event.
    pub written: Signal<Out, Bit>,
    pub lost: Signal<Out, Bit>,
    /// A consumer index that cannot be.
    pub consumer_refused: Signal<Out, Bit>,

    turns: RoundRobin<6, 3>,
    /// The ring as configured.
    shape: DFF<EventQueueConfig>,
    ring: DFF<Ring>,
    /// `event` is to be written.
    acting: DFF<Bit>,
    event: DFF<EventEntry>,
    update_waits: DFF<Bit>,
    update: DFF<ConsumerUpdate>,

    write_waits: DFF<Bit>,
    header: DFF<WriteTlpHeader>,
    entry: DFF<EventEntry>,
    /// The pending entry raises the interrupt when it is accepted.
    entry_raises: DFF<Bit>,
    raising: DFF<Bit>,
    counts_written: DFF<Bit>,
    counts_lost: DFF<Bit>,
    counts_refused: DFF<Bit>,
}

impl Logic for EventQueue {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            shape,
            ring,
            acting,
            event,
            update_waits,
            update
        );
        dff_setup!(
            self,
            clock,
            write_waits,
            header,
            entry,
            entry_raises,
            raising
        );
        dff_setup!(self, clock, counts_written, counts_lost, counts_refused);
        clock_reset!(self, turns);

        // take_turns
        let acting = self.acting.q.val();
        let takes = !acting & !self.update_waits.q.val() & !self.settings.valid.val();
        let mut requests = bits::<6>(0);
        requests = requests.replace_bit(0, self.qp_error.valid.val());
        requests = requests.replace_bit(1, self.overrun.valid.val());
        requests = requests.replace_bit(2, self.imm_threshold.valid.val());
        requests = requests.replace_bit(3, self.doorbell_refused.valid.val());
        requests = requests.replace_bit(4, self.page_fault.valid.val());
        requests = requests.replace_bit(5, self.failed_read.valid.val());
        self.turns.request.next = requests;
        self.turns.accept.next = takes;
        let turn = self.turns.grant.val();
        self.qp_error.ready.next = takes & turn.get_bit(0);
        self.overrun.ready.next = takes & turn.get_bit(1);
        self.imm_threshold.ready.next = takes & turn.get_bit(2);
        self.doorbell_refused.ready.next = takes & turn.get_bit(3);
        self.page_fault.ready.next = takes & turn.get_bit(4);
        self.failed_read.ready.next = takes & turn.get_bit(5);
        let failed_read = self.failed_read.record.val();
        let kind = if turn.get_bit(0) {
            bits::<8>(EventKind::QpError.code().into())
        } else if turn.get_bit(1) {
            bits::<8>(EventKind::CqOverrun.code().into())
        } else if turn.get_bit(2) {
            bits::<8>(EventKind::ImmThreshold.code().into())
        } else if turn.get_bit(3) {
            bits::<8>(EventKind::DoorbellRefused.code().into())
        } else if turn.get_bit(4) {
            bits::<8>(EventKind::PageFault.code().into())
        } else {
            failed_read.kind
        };
        let source = if turn.get_bit(0) {
            bit_cast::<24, 10>(self.qp_error.qp.val())
        } else if turn.get_bit(1) {
            bit_cast::<24, 10>(self.overrun.qp.val())
        } else if turn.get_bit(2) {
            bit_cast::<24, 10>(self.imm_threshold.qp.val())
        } else if turn.get_bit(3) {
            bit_cast::<24, 16>(self.doorbell_refused.page.val())
        } else if turn.get_bit(4) {
            self.page_fault.region.val()
        } else {
            failed_read.source
        };
        let data = if turn.get_bit(0) {
            bit_cast::<64, 8>(self.qp_error.status.val())
        } else if turn.get_bit(1) {
            self.overrun.wr_id.val()
        } else if turn.get_bit(2) {
            bit_cast::<64, 32>(self.imm_threshold.count.val())
        } else if turn.get_bit(3) {
            bit_cast::<64, 24>(self.doorbell_refused.qp.val())
        } else if turn.get_bit(4) {
            self.page_fault.va.val()
        } else {
            failed_read.address
        };

        // act
        let ring = self.ring.q.val();
        let shape = self.shape.q.val();
        let mask = place_mask(shape.log2_entries);
        let gives_way = self.event.q.val().kind >= (EventKind::PageFault.code() as u64);
        let half_full = is_full(ring, mask >> 1);
        let full = !shape.valid | is_full(ring, mask) | (gives_way & half_full);
        let write_taken = self.write_waits.q.val() & self.write.ready.val();
        let loses = acting & full;
        let writes = acting & !full & (!self.write_waits.q.val() | write_taken);
        if !acting {
            self.acting.d.next = takes & requests.any();
            self.event.d.next = EventEntry {
                kind,
                phase: false,
                reserved_flags: bits::<23>(0),
                source,
                reserved_source: bits::<8>(0),
                data,
            };
        } else if writes | loses {
            self.acting.d.next = false;
        }

        // follow_reader
        // The old ring's interrupt leaves by the old vector; an index that waits is of the old ring.
        let may_configure = !acting & !self.write_waits.q.val();
        let configures = self.settings.valid.val() & may_configure;
        self.settings.ready.next = may_configure;
        let update = self.update.q.val();
        let consumed = consume(ring, update, shape.interrupts);
        // An interrupt that is raised at once must not overtake a pending entry.
        let consumes = self.update_waits.q.val()
            & !acting
            & !self.write_waits.q.val()
            & !self.settings.valid.val();
        let stays = self.update_waits.q.val() & !consumes & !configures;
        if self.consumer.valid.val() {
            self.update.d.next = ConsumerUpdate {
                index: self.consumer.index.val(),
                arm: self.consumer.arm.val() | (stays & update.arm),
            };
        }
        self.update_waits.d.next = self.consumer.valid.val() | stays;

        // change_ring
        if configures {
            self.shape.d.next = self.settings.record.val();
            self.ring.d.next = Ring {
                produced: bits::<24>(0),
                consumer: bits::<24>(0),
                armed: false,
            };
        } else if writes {
            self.ring.d.next = produced(ring);
        } else if consumes & consumed.accepted {
            self.ring.d.next = consumed.ring;
        }

        // offer_entry
        let event = self.event.q.val();
        if write_taken {
            self.write_waits.d.next = false;
        }
        if writes {
            self.write_waits.d.next = true;
            let place = bit_cast::<64, 24>(ring.produced & mask) << ENTRY_BITS;
            self.header.d.next = write_header(shape.base + place, bits::<11>(ENTRY_DWORDS));
            self.entry_raises.d.next = ring.armed & shape.interrupts;
            self.entry.d.next = EventEntry {
                kind: event.kind,
                phase: phase(ring, mask),
                reserved_flags: bits::<23>(0),
                source: event.source,
                reserved_source: bits::<8>(0),
                data: event.data,
            };
        }
        self.write.valid.next = self.write_waits.q.val();
        self.write.header.next = self.header.q.val();
        self.write.data.next = self.entry.q.val().into();

        // raise
        self.raising.d.next =
            (write_taken & self.entry_raises.q.val()) | (consumes & consumed.raise);
        self.raise.valid.next = self.raising.q.val();
        self.raise.vector.next = shape.vector;

        self.counts_written.d.next = writes;
        self.counts_lost.d.next = loses;
        self.counts_refused.d.next = consumes & !consumed.accepted;
        self.written.next = self.counts_written.q.val();
        self.lost.next = self.counts_lost.q.val();
        self.consumer_refused.next = self.counts_refused.q.val();

        if self.reset.val() {
            self.shape.d.next = EventQueueConfig::default();
            self.acting.d.next = false;
            self.update_waits.d.next = false;
            self.write_waits.d.next = false;
            self.raising.d.next = false;
        }
    }
}
