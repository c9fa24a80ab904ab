//! Writes completions into rings in host memory, one ring per queue pair.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{BlockFifo, BypassRam, QpSettingsSnk, QpSrc, RoundRobin, Snk};
use rust_hdl::prelude::*;
use stellar_wire::host::Cqe;
use stellar_wire::hw::host_queues::{CompletionEntry, CompletionQueueConfig};
use stellar_wire::hw::messages::Completion;
use stellar_wire::hw::{Qpn, QPN_BITS};

use crate::bundles::{ConsumerSnk, HostWriteSrc, OverrunSrc, RaiseSrc};
use crate::queue_pairs::QueuePairs;
use crate::ring::{consume, is_full, phase, place_mask, produced, ConsumerUpdate, Ring};
use crate::ring_writer::RingWriter;

/// Cycles from accepting a completion to offering its write.
pub const CLOCKS: usize = 4;

/// log2 of the bytes of an entry.
const ENTRY_BITS: u64 = Cqe::LEN.ilog2() as u64;

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
    qp: Qpn,
    completion: Completion,
    update: ConsumerUpdate,
}

/// An operation and its effect.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Checked {
    operation: Operation,
    /// The row of its queue pair after it.
    row: Row,
    /// The row differs from the one before it.
    changes: Bit,
    /// A completion that the ring takes.
    writes: Bit,
    /// The first completion that the ring loses: it has no free place, or there is none.
    overruns: Bit,
    /// A consumer index that cannot be.
    refused: Bit,
    /// Place and phase of the entry.
    place: Bits<24>,
    phase: Bit,
    /// The entry raises an interrupt.
    raises: Bit,
    /// The consumer index raises one at once.
    raises_now: Bit,
}

/// Writes completions into rings. A pipeline of four stages: *take* addresses the row of the ring, *read* takes it from the memory, *check* computes what the operation
/// does to it, *act* writes the row back and outputs the results. One operation enters per cycle, also of one queue pair: *read* takes the row that *act*
/// writes in this cycle, and *check* that of the operation in *act*, if it is of the same queue pair. *Act* waits while an output does. A configuration enters when the
/// pipeline is empty.
///
/// Send side, receive side and consumer indices take turns; a configuration has priority, and resets its ring. A completion that finds its ring full,
/// or no ring, is lost; the ring is then overrun until it is configured again: it takes no more completions, so that what it holds has no gap. The first
/// completion that a ring loses is reported to the event queues, and its queue pair to the requester, which puts it in the error state (verbs:
/// `IBV_EVENT_CQ_ERR`). An armed ring raises its interrupt once, after its next entry. Arming a ring that holds entries behind the given index, or that
/// is overrun, raises at once: nothing else would wake its reader. A configuration waits for an entry that was not accepted.
///
/// A reset does not clear the memory. So configure every queue pair before its first completion, with `valid` false if it has no ring. Levels: 8 and
/// carry chains (*check*: choice of the row, subtraction, comparison, row).
///
/// An entry says whether it lies in the same block of `W` bits of memory as the entry before it, see [`HostWriteSrc`].
///
/// There are 2^`Q` queue pairs, and as many or more places for those that fail: 2^`F`, `D` = `F` + 1.
#[derive(LogicBlock, Default)]
pub struct CompletionQueues<
    const Q: usize = 10,
    const F: usize = 10,
    const D: usize = 11,
    const W: usize = 1024,
> {
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
    /// The operation in *read*.
    reads: DFF<Bit>,
    read: DFF<Operation>,
    /// The operation in *check*, the row that *read* found, and whether the operation in *act*, if there is one, is of the same queue pair.
    checks: DFF<Bit>,
    operation: DFF<Operation>,
    row: DFF<Row>,
    follows: DFF<Bit>,
    /// The operation in *act*.
    acting: DFF<Bit>,
    checked: DFF<Checked>,

    /// Of the entry that was put last.
    put_qp: DFF<Qpn>,
    writer: RingWriter<256>,
    overrun_waits: DFF<Bit>,
    overrun_of: DFF<Qpn>,
    overrun_id: DFF<Bits<64>>,
    /// A queue pair comes once per configuration of its ring, so there is a place for each. The requester may itself wait for a completion to be taken,
    /// so completions must not wait for it.
    failures: BlockFifo<Qpn, F, D>,
    counts_written: DFF<Bit>,
    counts_lost: DFF<Bit>,
    counts_refused: DFF<Bit>,
}

impl<const Q: usize, const F: usize, const D: usize, const W: usize> Logic
    for CompletionQueues<Q, F, D, W>
{
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, reads, read, checks, operation, row, follows, acting, checked);
        dff_setup!(self, clock, put_qp, overrun_waits, overrun_of, overrun_id);
        dff_setup!(self, clock, counts_written, counts_lost, counts_refused);
        clock_reset!(self, turns, failures, writer);
        clock!(self, clock, rows);

        // pace
        let reads = self.reads.q.val();
        let read = self.read.q.val();
        let checks = self.checks.q.val();
        let operation = self.operation.q.val();
        let acting = self.acting.q.val();
        let checked = self.checked.q.val();
        let completes = checked.operation.completes;
        // Nor may an interrupt that is raised at once overtake a pending entry.
        let has_room = if checked.writes {
            self.writer.room.val()
        } else {
            !(checked.raises_now & self.writer.waits.val())
                & !(checked.overruns
                    & (self.overrun_waits.q.val() | !self.failures.in_.ready.val()))
        };
        let acts = acting & has_room;
        let passes = checks & (!acting | has_room);
        let leaves = reads & (!checks | passes);
        let is_free = !reads | leaves;

        // take
        // An entry of the old ring leaves first: who configures a ring may free the old one behind a fence.
        let may_configure = !reads & !checks & !acting & !self.writer.waits.val();
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
            self.reads.d.next = takes & requests.any();
            self.read.d.next = Operation {
                completes: !turn.get_bit(2),
                qp: asked,
                completion,
                update: ConsumerUpdate {
                    index: self.consumer.index.val(),
                    arm: self.consumer.arm.val(),
                },
            };
        }
        let read_qp = if is_free { asked } else { read.qp };
        self.rows.read_address.next = read_qp.get_bits::<Q>(0);

        // read
        let of_acting = read.qp == checked.operation.qp;
        if leaves {
            self.operation.d.next = read;
            self.row.d.next = if acts & of_acting {
                checked.row
            } else {
                self.rows.read_data.val()
            };
            // What is in *check* now is in *act* then.
            self.follows.d.next = if checks {
                read.qp == operation.qp
            } else {
                of_acting
            };
        }
        self.checks.d.next = leaves | (checks & !passes);

        // check
        let row = if acting & self.follows.q.val() {
            checked.row
        } else {
            self.row.q.val()
        };
        let config = row.settings;
        let mask = place_mask(config.log2_entries);
        let full = !config.valid | row.overrun | is_full(row.ring, mask);
        let update = operation.update;
        let consumed = consume(row.ring, update, config.interrupts);
        let writes = operation.completes & !full;
        let overruns = operation.completes & full & !row.overrun;
        let accepted = !operation.completes & consumed.accepted;
        let wakes =
            consumed.raise | (consumed.accepted & row.overrun & config.interrupts & update.arm);
        if passes {
            self.checked.d.next = Checked {
                operation,
                row: Row {
                    settings: config,
                    ring: if writes {
                        produced(row.ring)
                    } else if accepted {
                        consumed.ring
                    } else {
                        row.ring
                    },
                    overrun: row.overrun | overruns,
                },
                changes: writes | overruns | accepted,
                writes,
                overruns,
                refused: !operation.completes & !consumed.accepted,
                place: row.ring.produced & mask,
                phase: phase(row.ring, mask),
                raises: row.ring.armed & config.interrupts,
                raises_now: !operation.completes & wakes,
            };
        }
        self.acting.d.next = passes | (acting & !has_room);

        // act
        let writes_entry = acts & checked.writes;
        let loses_first = acts & checked.overruns;

        // store_row
        let configures = may_configure & self.settings.valid.val();
        self.rows.write_enable.next = configures | (acts & checked.changes);
        self.rows.write_address.next = if configures {
            self.settings.qp.val().get_bits::<Q>(0)
        } else {
            checked.operation.qp.get_bits::<Q>(0)
        };
        self.rows.write_data.next = if configures {
            Row {
                settings: self.settings.record.val(),
                ring: Ring {
                    produced: bits::<24>(0),
                    consumer: bits::<24>(0),
                    armed: false,
                },
                overrun: false,
            }
        } else {
            checked.row
        };

        // offer_entry
        let done = checked.operation.completion;
        let entry = CompletionEntry {
            status: done.status,
            opcode: done.opcode,
            phase: checked.phase,
            reserved_flags: bits::<15>(0),
            qp: bit_cast::<24, QPN_BITS>(done.qp),
            reserved_qp: bits::<8>(0),
            wr_id: done.wr_id,
            byte_len: done.byte_len,
            immediate: done.immediate,
            msn: done.msn,
            reserved_msn: bits::<8>(0),
            sq_head: done.sq_head,
            reserved_end: bits::<16>(0),
        };
        let address = checked.row.settings.base + (bit_cast::<64, 24>(checked.place) << ENTRY_BITS);
        let is_aligned = (address & ((Cqe::LEN - 1) as u64)) == 0;
        let begins_block = (address & ((W / 8 - Cqe::LEN) as u64)) == 0;
        self.writer.put.next = writes_entry;
        self.writer.address.next = address;
        self.writer.joins.next =
            (done.qp == self.put_qp.q.val()) & checked.place.any() & is_aligned & !begins_block;
        if writes_entry {
            self.put_qp.d.next = done.qp;
        }
        self.writer.entry.next = entry.into();
        self.writer.raises.next = checked.raises;
        self.writer.vector.next = checked.row.settings.vector;

        // raise
        self.writer.raises_now.next = acts & checked.raises_now;
        join!(self, writer.write => write, writer.raise => raise);

        // report_loss
        let overrun_taken = self.overrun_waits.q.val() & self.overrun.ready.val();
        if overrun_taken {
            self.overrun_waits.d.next = false;
        }
        if loses_first {
            self.overrun_waits.d.next = true;
            self.overrun_of.d.next = done.qp;
            self.overrun_id.d.next = done.wr_id;
        }
        self.failures.in_.valid.next = loses_first;
        self.failures.in_.data.next = done.qp;
        self.failed.valid.next = self.failures.out.valid.val();
        self.failed.qp.next = self.failures.out.data.val();
        self.failures.out.ready.next = self.failed.ready.val();
        self.overrun.valid.next = self.overrun_waits.q.val();
        self.overrun.qp.next = self.overrun_of.q.val();
        self.overrun.wr_id.next = self.overrun_id.q.val();
        self.counts_written.d.next = writes_entry;
        self.counts_lost.d.next = acts & completes & !checked.writes;
        self.counts_refused.d.next = acts & checked.refused;
        self.written.next = self.counts_written.q.val();
        self.lost.next = self.counts_lost.q.val();
        self.consumer_refused.next = self.counts_refused.q.val();

        if self.reset.val() {
            self.reads.d.next = false;
            self.checks.d.next = false;
            self.acting.d.next = false;
            self.overrun_waits.d.next = false;
        }
    }
}
