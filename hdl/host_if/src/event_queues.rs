//! Writes events into rings in host memory: one ring of the card, and rings of tenants.

use hdl_macros::{clock, clock_reset, hdl, join};
use hdl_primitives::{BlockRam, LutRam, PageFaultSnk, QpRowFlowSnk, RoundRobin, Snk, ThresholdSnk};
use rust_hdl::prelude::*;
use stellar_wire::host::{Eqe, EventKind};
use stellar_wire::hw::host_queues::{EventEntry, EventQueueConfig, EVENT_QUEUE_BITS};
use stellar_wire::hw::read::FailedRead;

use crate::bundles::{
    EventConsumerSnk, EventSettingsSnk, HostWriteSrc, OverrunSnk, QpFailureSnk, RaiseSrc,
    RefusedDoorbellSnk,
};
use crate::event_sources::EventSources;
use crate::queue_pairs::QueuePairs;
use crate::ring::{consume, is_full, phase, place_mask, produced, ConsumerUpdate, Ring};
use crate::ring_writer::RingWriter;

/// Number of event queues.
pub const QUEUES: usize = 1 << EVENT_QUEUE_BITS;
/// Cycles from accepting an event to offering its write, and from one event to the next.
pub const CLOCKS: usize = 6;

/// log2 of the bytes of an entry.
const ENTRY_BITS: u64 = Eqe::LEN.ilog2() as u64;

/// One ring.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Row {
    settings: EventQueueConfig,
    ring: Ring,
}

/// A row after its read, and what an event of this kind finds.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct CheckReg {
    row: Row,
    /// There is no place for the event.
    full: Bit,
    /// Place of the next entry.
    place: Bits<24>,
    phase: Bit,
}

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum State {
    /// The rows are cleared, one per cycle.
    Sweep,
    /// Accepts a configuration, a consumer index or an event.
    Idle,
    /// The event queue of the operation is found.
    Choose,
    /// Its row is read.
    Fetch,
    /// The memory outputs the row.
    Read,
    /// What the row says about the event is computed.
    Check,
    /// The row is written back, and the results are output.
    Act,
}

/// Writes events into [`QUEUES`] event queues. It executes one operation at a time: an event or a consumer index in [`CLOCKS`] cycles, a configuration in
/// 2, and longer if the output has to wait. The six sources of events take turns.
///
/// An event about a queue pair goes to the event queue that the queue pair's completion queue names, so tenants with event queues of their own neither
/// see nor displace each other's events. The others go to queue 0, which is the control function's: refused doorbells, page faults, failed flush reads.
///
/// A ring that is half full is full for page faults and failed reads; one that is a quarter full is full for refused doorbells. These kinds repeat: a lost
/// page fault is reported again later, and the queue pair of a failed read is reported by itself. Nothing replaces the other events, so the rest of the
/// ring is theirs: each comes once per queue pair, completion queue, or armed threshold. An event that finds its ring full, or no ring, is lost and
/// counted.
///
/// Arming works as for completion queues. A consumer index is always accepted; it takes effect when no event is in progress, before the next one. Another index for
/// the same queue that comes before that replaces it; the ring is then armed if either of them arms it. A reset removes all rings, which takes [`QUEUES`]
/// cycles, in which no event is accepted. LUT levels: 7 (the next consumer index), 4 and carry chains (fullness).
#[derive(LogicBlock, Default)]
pub struct EventQueues<const Q: usize = 10> {
    pub clock: Signal<In, Clock>,
    /// Discards the rings and everything in progress.
    pub reset: Signal<In, Bit>,

    // Sources: see `EventSources`.
    pub qp_error: QpFailureSnk,
    pub overrun: OverrunSnk,
    pub imm_threshold: ThresholdSnk,
    pub doorbell_refused: RefusedDoorbellSnk,
    pub page_fault: PageFaultSnk,
    pub failed_read: Snk<FailedRead>,

    // From software: rings, the event queues of queue pairs, and consumer indices.
    pub settings: EventSettingsSnk,
    pub assigned: QpRowFlowSnk<Bits<EVENT_QUEUE_BITS>>,
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

    _checked: QueuePairs<Q>,
    rows: BlockRam<Row, EVENT_QUEUE_BITS>,
    /// The event queue of each queue pair.
    queue_of: BlockRam<Bits<EVENT_QUEUE_BITS>, Q>,
    state: DFF<State>,
    swept: DFF<Bits<EVENT_QUEUE_BITS>>,
    sources: EventSources,
    /// The operation is a consumer index; otherwise it is `event`.
    consumes: DFF<Bit>,
    event: DFF<EventEntry>,
    queue: DFF<Bits<EVENT_QUEUE_BITS>>,
    update: DFF<ConsumerUpdate>,
    row: DFF<Row>,
    /// A configuration waits. It is executed in the next cycle in which the block is idle, and nothing else begins before.
    configuring: DFF<Bit>,
    checked: DFF<CheckReg>,

    // Consumer indices that wait: bit n is of queue n.
    indices: LutRam<Bits<24>, EVENT_QUEUE_BITS>,
    waiting: DFF<Bits<QUEUES>>,
    arming: DFF<Bits<QUEUES>>,
    /// One waits. A register of its own, because the sources of events are behind long paths.
    any_waiting: DFF<Bit>,
    index_turns: RoundRobin<QUEUES, EVENT_QUEUE_BITS>,

    writer: RingWriter<128>,
    counts_written: DFF<Bit>,
    counts_lost: DFF<Bit>,
    counts_refused: DFF<Bit>,
}

impl<const Q: usize> Logic for EventQueues<Q> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, state, swept, consumes, event, queue, update, row, checked);
        dff_setup!(self, clock, configuring, waiting, arming, any_waiting);
        dff_setup!(self, clock, counts_written, counts_lost, counts_refused);
        clock_reset!(self, sources, index_turns, writer);
        clock!(self, clock, rows, queue_of, indices);

        // sweep
        let state = self.state.q.val();
        let sweeping = state == State::Sweep;
        if sweeping {
            self.swept.d.next = self.swept.q.val() + 1;
            if self.swept.q.val().all() {
                self.state.d.next = State::Idle;
            }
        }

        // take_turns
        let idle = state == State::Idle;
        let waiting = self.waiting.q.val();
        let free = idle & !self.configuring.q.val();
        let consumes = self.any_waiting.q.val();
        let takes = free & !consumes;
        join!(
            self,
            qp_error => sources.qp_error,
            overrun => sources.overrun,
            imm_threshold => sources.imm_threshold,
            doorbell_refused => sources.doorbell_refused,
            page_fault => sources.page_fault,
            failed_read => sources.failed_read,
        );
        self.sources.event.ready.next = takes;
        if idle {
            self.consumes.d.next = consumes;
            self.event.d.next = self.sources.event.record.val();
        }
        if free & (consumes | self.sources.event.valid.val()) {
            self.state.d.next = State::Choose;
        }

        // choose
        self.queue_of.write_enable.next = self.assigned.valid.val();
        self.queue_of.write_address.next = self.assigned.qp.val().get_bits::<Q>(0);
        self.queue_of.write_data.next = self.assigned.record.val();
        self.queue_of.read_address.next = self.sources.event.record.val().source.get_bits::<Q>(0);
        let consuming = self.consumes.q.val();
        let event = self.event.q.val();
        let refused_doorbell = event.kind == (EventKind::DoorbellRefused.code() as u64);
        let of_card = refused_doorbell
            | (event.kind == (EventKind::PageFault.code() as u64))
            | (event.kind == (EventKind::FlushReadFailed.code() as u64));
        self.index_turns.request.next = waiting;
        self.index_turns.accept.next = (state == State::Choose) & consuming;
        if state == State::Choose {
            self.queue.d.next = if consuming {
                self.index_turns.index.val()
            } else if of_card {
                bits::<EVENT_QUEUE_BITS>(0)
            } else {
                self.queue_of.read_data.val()
            };
            self.state.d.next = State::Fetch;
        }

        // fetch
        let queue = self.queue.q.val();
        let fetches = state == State::Fetch;
        self.rows.read_address.next = queue;
        self.indices.read_address.next = queue;
        let arming = self.arming.q.val();
        if fetches {
            self.update.d.next = ConsumerUpdate {
                index: self.indices.read_data.val(),
                arm: (arming >> bit_cast::<QUEUES, EVENT_QUEUE_BITS>(queue)).get_bit(0),
            };
            self.state.d.next = State::Read;
        }

        // read
        if state == State::Read {
            self.row.d.next = self.rows.read_data.val();
            self.state.d.next = State::Check;
        }

        // check
        let row = self.row.q.val();
        let mask = place_mask(row.settings.log2_entries);
        let gives_way = event.kind >= (EventKind::PageFault.code() as u64);
        let half_full = is_full(row.ring, mask >> 1);
        let quarter_full = is_full(row.ring, mask >> 2);
        if state == State::Check {
            self.checked.d.next = CheckReg {
                row,
                full: !row.settings.valid
                    | is_full(row.ring, mask)
                    | (gives_way & half_full)
                    | (refused_doorbell & quarter_full),
                place: row.ring.produced & mask,
                phase: phase(row.ring, mask),
            };
            self.state.d.next = State::Act;
        }

        // act
        let checked = self.checked.q.val();
        let shape = checked.row.settings;
        let stored = checked.row.ring;
        let write_waits = self.writer.waits.val();
        // An interrupt that is raised at once must not overtake a pending entry.
        let has_room = if consuming {
            !write_waits
        } else {
            checked.full | self.writer.room.val()
        };
        let acts = (state == State::Act) & has_room;
        let writes = acts & !consuming & !checked.full;
        let loses = acts & !consuming & checked.full;
        let follows = acts & consuming;
        let consumed = consume(stored, self.update.q.val(), shape.interrupts);
        if acts {
            self.state.d.next = State::Idle;
        }

        // store_row
        // A configuration stays until it is accepted, so where it waits follows from a register alone.
        let configures = self.configuring.q.val() & idle & !write_waits;
        self.settings.ready.next = configures;
        self.configuring.d.next = self.settings.valid.val() & !configures;
        self.rows.write_enable.next =
            sweeping | configures | writes | (follows & consumed.accepted);
        self.rows.write_address.next = if sweeping {
            self.swept.q.val()
        } else if idle {
            self.settings.queue.val()
        } else {
            queue
        };
        let settings = if sweeping {
            EventQueueConfig::default()
        } else if idle {
            self.settings.record.val()
        } else {
            shape
        };
        let ring = if sweeping | idle {
            Ring {
                produced: bits::<24>(0),
                consumer: bits::<24>(0),
                armed: false,
            }
        } else if consuming {
            consumed.ring
        } else {
            produced(stored)
        };
        self.rows.write_data.next = Row { settings, ring };

        // follow_reader
        // An index that waits when its queue is configured is of the old ring.
        let one = bits::<QUEUES>(1);
        let given = if self.consumer.valid.val() {
            one << bit_cast::<QUEUES, EVENT_QUEUE_BITS>(self.consumer.queue.val())
        } else {
            bits::<QUEUES>(0)
        };
        let executed = if fetches & consuming {
            one << bit_cast::<QUEUES, EVENT_QUEUE_BITS>(queue)
        } else {
            bits::<QUEUES>(0)
        };
        let configured = one << bit_cast::<QUEUES, EVENT_QUEUE_BITS>(self.settings.queue.val());
        let replaced = if configures {
            configured
        } else {
            bits::<QUEUES>(0)
        };
        let stays = waiting & !executed & !replaced;
        self.waiting.d.next = stays | given;
        // The same, with what comes late at the end.
        let any_stays = if configures {
            (waiting & !configured).any()
        } else {
            (waiting & !executed).any()
        };
        self.any_waiting.d.next = any_stays | self.consumer.valid.val();
        assert!(
            self.any_waiting.q.val() == waiting.any(),
            "whether a consumer index waits is not known"
        );
        let arms = if self.consumer.arm.val() {
            given
        } else {
            bits::<QUEUES>(0)
        };
        self.arming.d.next = (arming & stays) | arms;
        self.indices.write_enable.next = self.consumer.valid.val();
        self.indices.write_address.next = self.consumer.queue.val();
        self.indices.write_data.next = self.consumer.index.val();

        // offer_entry
        let entry = EventEntry {
            kind: event.kind,
            phase: checked.phase,
            reserved_flags: bits::<23>(0),
            source: event.source,
            reserved_source: bits::<8>(0),
            data: event.data,
        };
        self.writer.put.next = writes;
        self.writer.address.next = shape.base + (bit_cast::<64, 24>(checked.place) << ENTRY_BITS);
        self.writer.entry.next = entry.into();
        self.writer.joins.next = false;
        self.writer.raises.next = stored.armed & shape.interrupts;
        self.writer.vector.next = shape.vector;

        // raise
        let raises_now = follows & consumed.raise;
        self.writer.raises_now.next = raises_now;
        join!(self, writer.write => write, writer.raise => raise);

        self.counts_written.d.next = writes;
        self.counts_lost.d.next = loses;
        self.counts_refused.d.next = follows & !consumed.accepted;
        self.written.next = self.counts_written.q.val();
        self.lost.next = self.counts_lost.q.val();
        self.consumer_refused.next = self.counts_refused.q.val();

        if self.reset.val() {
            self.state.d.next = State::Sweep;
            self.swept.d.next = bits::<EVENT_QUEUE_BITS>(0);
            self.waiting.d.next = bits::<QUEUES>(0);
            self.any_waiting.d.next = false;
            self.configuring.d.next = false;
        }
    }
}
