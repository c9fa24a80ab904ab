//! Writes completions into rings in host memory, one ring per queue pair.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{BlockFifo, BypassRam, QpSettingsSnk, QpSrc, RoundRobin, Snk};
use rust_hdl::prelude::*;
use stellar_wire::hw::host_queues::{CompletionEntry, CompletionQueueConfig};
use stellar_wire::hw::messages::Completion;
use stellar_wire::hw::Qpn;

use crate::bundles::{ConsumerSnk, HostWriteSrc, OverrunSrc, RaiseSrc};
use crate::queue_pairs::QueuePairs;
use crate::ring::{consume, is_full, phase, place_mask, produced, ConsumerUpdate, Ring};
use crate::ring_writer::RingWriter;

/// Cycles from accepting a completion to offering its write.
pub const CLOCKS: usize = 3;
/// Cycles between two operations of one queue pair. Those of different queue pairs follow each other in every cycle.
pub const SAME_QP_CLOCKS: usize = 2;

/// log2 of the bytes of an entry.
const ENTRY_BITS: u64 = 5;

/// One queue pair's ring.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Row {
    settings: CompletionQueueConfig,
    ring: Ring,
    /// A completion was lost since the ring was configured.
    overrun: Bit,
}

/// A completion or a consumer index.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Operation {
    /// It is a completion.
    completes: Bit,
    qp: Bits<10>,
    completion: Completion,
    update: ConsumerUpdate,
}

/// An operation with the row of its queue pair, and the state that a completion would find.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Checked {
    operation: Operation,
    row: Row,
    /// The ring takes no entry: it has no free place, or lost a completion, or there is none.
    full: Bit,
    /// Place of the next entry.
    place: Bits<24>,
    phase: Bit,
}

/// Writes completions into rings. A pipeline of three stages: *take* reads the row of the ring, *check* computes the state of the ring, *act* writes the row
/// back and outputs the results. One operation enters per cycle; an operation waits in *check* while the one in *act* is of the same queue pair, and then
/// reads its row again. *Act* waits while an output does. A configuration enters when the pipeline is empty.
///
/// Send side, receive side and consumer indices take turns; a configuration has priority, and resets its ring. A completion that finds its ring full,
/// or no ring, is lost; the ring is then overrun until it is configured again: it takes no more completions, so that what it holds has no gap. The first
/// completion that a ring loses is reported to the event queues, and its queue pair to the requester, which puts it in the error state (verbs:
/// `IBV_EVENT_CQ_ERR`). An armed ring raises its interrupt once, after its next entry. Arming a ring that holds entries behind the given index, or that
/// is overrun, raises at once: nothing else would wake its reader. A configuration waits for an entry that was not accepted.
///
/// A reset does not clear the memory. So configure every queue pair before its first completion, with `valid` false if it has no ring. Levels: 4 and
/// carry chains (*act*: subtraction, comparison, row).
#[derive(LogicBlock, Default)]
pub struct CompletionQueues<const Q: usize = 10> {
    pub clock: Signal<In, Clock>,
    /// Discards everything in progress.
    pub reset: Signal<In, Bit>,

    // Completions.
    pub send: Snk<Completion>,
    pub receive: Snk<Completion>,

    // From software.
    pub settings: QpSettingsSnk<CompletionQueueConfig>,
    // From doorbells.
    pub consumer: ConsumerSnk,

    // To host_writes: entries of 32 bytes.
    pub write: HostWriteSrc<256>,
    /// To interrupts: high for one cycle, in a cycle after the entry was accepted.
    pub raise: RaiseSrc,
    // To event_queues: the first completion that a ring loses.
    pub overrun: OverrunSrc,
    // To the requester: the queue pair of that completion.
    pub failed: QpSrc,

    // Counters: one cycle per event.
    pub written: Signal<Out, Bit>,
    pub lost: Signal<Out, Bit>,
    /// A consumer index that cannot be.
    pub consumer_refused: Signal<Out, Bit>,

    _checked: QueuePairs<Q>,
    rows: BypassRam<Row, Q>,
    turns: RoundRobin<3, 2>,
    /// The operation in *check*.
    checks: DFF<Bit>,
    operation: DFF<Operation>,
    /// The operation in *act*.
    acting: DFF<Bit>,
    checked: DFF<Checked>,

    writer: RingWriter<256>,
    overrun_waits: DFF<Bit>,
    overrun_of: DFF<Bits<10>>,
    overrun_id: DFF<Bits<64>>,
    /// A queue pair comes once per configuration of its ring, so there is a place for each. The requester may itself wait for a completion to be taken,
    /// so completions must not wait for it.
    failures: BlockFifo<Qpn, 10, 11>,
    counts_written: DFF<Bit>,
    counts_lost: DFF<Bit>,
    counts_refused: DFF<Bit>,
}

impl<const Q: usize> Logic for CompletionQueues<Q> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, checks, operation, acting, checked);
        dff_setup!(self, clock, overrun_waits, overrun_of, overrun_id);
        dff_setup!(self, clock, counts_written, counts_lost, counts_refused);
        clock_reset!(self, turns, failures, writer);
        clock!(self, clock, rows);

        // pace
        let checks = self.checks.q.val();
        let operation = self.operation.q.val();
        let acting = self.acting.q.val();
        let checked = self.checked.q.val();
        let completes = checked.operation.completes;
        let write_taken = self.writer.taken.val();
        // Nor may an interrupt that is raised at once overtake a pending entry.
        let has_room = if !completes {
            !self.writer.waits.val()
        } else if checked.full {
            checked.row.overrun | (!self.overrun_waits.q.val() & self.failures.in_.ready.val())
        } else {
            !self.writer.waits.val() | write_taken
        };
        let acts = acting & has_room;
        let changes_row = acting & (operation.qp == checked.operation.qp);
        let passes = checks & (!acting | has_room) & !changes_row;
        let is_free = !checks | passes;

        // take
        // An entry of the old ring leaves first: who configures a ring may free the old one behind a fence.
        let may_configure = !checks & !acting & !self.writer.waits.val();
        let takes = is_free & !self.settings.valid.val();
        let mut requests = bits::<3>(0);
        requests = requests.replace_bit(0, self.send.valid.val());
        requests = requests.replace_bit(1, self.receive.valid.val());
        requests = requests.replace_bit(2, self.consumer.valid.val());
        self.turns.request.next = requests;
        self.turns.accept.next = takes;
        let turn = self.turns.grant.val();
        self.send.ready.next = takes & turn.get_bit(0);
        self.receive.ready.next = takes & turn.get_bit(1);
        self.consumer.ready.next = takes & turn.get_bit(2);
        self.settings.ready.next = may_configure;
        let completion = if turn.get_bit(0) {
            self.send.record.val()
        } else {
            self.receive.record.val()
        };
        let asked = if turn.get_bit(2) {
            self.consumer.qp.val()
        } else {
            completion.qp
        };
        if is_free {
            self.checks.d.next = takes & requests.any();
            self.operation.d.next = Operation {
                completes: !turn.get_bit(2),
                qp: asked,
                completion,
                update: ConsumerUpdate {
                    index: self.consumer.index.val(),
                    arm: self.consumer.arm.val(),
                },
            };
        }
        let read_qp = if is_free { asked } else { operation.qp };
        self.rows.read_address.next = read_qp.get_bits::<Q>(0);

        // check
        let row = self.rows.read_data.val();
        let mask = place_mask(row.settings.log2_entries);
        if passes {
            self.checked.d.next = Checked {
                operation,
                row,
                full: !row.settings.valid | row.overrun | is_full(row.ring, mask),
                place: row.ring.produced & mask,
                phase: phase(row.ring, mask),
            };
        }
        self.acting.d.next = passes | (acting & !has_room);

        // act
        let config = checked.row.settings;
        let stored = checked.row.ring;
        let writes = acts & completes & !checked.full;
        let loses = acts & completes & checked.full;
        let overruns = loses & !checked.row.overrun;
        let overrun_taken = self.overrun_waits.q.val() & self.overrun.ready.val();
        let consumes = acts & !completes;
        let update = checked.operation.update;
        let consumed = consume(stored, update, config.interrupts);

        // store_row
        let configures = may_configure & self.settings.valid.val();
        self.rows.write_enable.next =
            configures | writes | overruns | (consumes & consumed.accepted);
        let ring = if configures {
            Ring {
                produced: bits::<24>(0),
                consumer: bits::<24>(0),
                armed: false,
            }
        } else if overruns {
            stored
        } else if completes {
            produced(stored)
        } else {
            consumed.ring
        };
        self.rows.write_address.next = if configures {
            self.settings.qp.val().get_bits::<Q>(0)
        } else {
            checked.operation.qp.get_bits::<Q>(0)
        };
        self.rows.write_data.next = Row {
            settings: if configures {
                self.settings.record.val()
            } else {
                config
            },
            ring,
            overrun: !configures & (overruns | checked.row.overrun),
        };

        // offer_entry
        let done = checked.operation.completion;
        let entry = CompletionEntry {
            status: done.status,
            opcode: done.opcode,
            phase: checked.phase,
            reserved_flags: bits::<15>(0),
            qp: bit_cast::<24, 10>(done.qp),
            reserved_qp: bits::<8>(0),
            wr_id: done.wr_id,
            byte_len: done.byte_len,
            immediate: done.immediate,
            msn: done.msn,
            reserved_msn: bits::<8>(0),
            sq_head: done.sq_head,
            reserved_end: bits::<16>(0),
        };
        self.writer.put.next = writes;
        self.writer.address.next = config.base + (bit_cast::<64, 24>(checked.place) << ENTRY_BITS);
        self.writer.entry.next = entry.into();
        self.writer.raises.next = stored.armed & config.interrupts;
        self.writer.vector.next = config.vector;

        // raise
        let wakes = consumed.accepted & checked.row.overrun & config.interrupts & update.arm;
        let raises_now = consumes & (consumed.raise | wakes);
        self.writer.raises_now.next = raises_now;
        join!(self, writer.write => write, writer.raise => raise);

        // report_loss
        if overrun_taken {
            self.overrun_waits.d.next = false;
        }
        if overruns {
            self.overrun_waits.d.next = true;
            self.overrun_of.d.next = done.qp;
            self.overrun_id.d.next = done.wr_id;
        }
        self.failures.in_.valid.next = overruns;
        self.failures.in_.data.next = done.qp;
        self.failed.valid.next = self.failures.out.valid.val();
        self.failed.qp.next = self.failures.out.data.val();
        self.failures.out.ready.next = self.failed.ready.val();
        self.overrun.valid.next = self.overrun_waits.q.val();
        self.overrun.qp.next = self.overrun_of.q.val();
        self.overrun.wr_id.next = self.overrun_id.q.val();
        self.counts_written.d.next = writes;
        self.counts_lost.d.next = loses;
        self.counts_refused.d.next = consumes & !consumed.accepted;
        self.written.next = self.counts_written.q.val();
        self.lost.next = self.counts_lost.q.val();
        self.consumer_refused.next = self.counts_refused.q.val();

        if self.reset.val() {
            self.checks.d.next = false;
            self.acting.d.next = false;
            self.overrun_waits.d.next = false;
        }
    }
}
