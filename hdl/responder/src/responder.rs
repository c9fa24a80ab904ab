//! The responder turns the outcomes of the receive core into acknowledgements, and received WRITEs with immediate into completions.

use hdl_macros::{clock, clock_reset, hdl, join};
use hdl_primitives::{
    ArmSnk, Checked, FlowSrc, Parameters, QpSettingsSnk, QpSrc, ReverseEvSnk, Snk, Src, StreamSkid,
    ThresholdSrc,
};
use rust_hdl::prelude::*;
use stellar_wire::config::{RECEIVE_PLACE_BITS, RECEIVE_RING_BITS};
use stellar_wire::hw::ack::AckKind;
use stellar_wire::hw::messages::Completion;
use stellar_wire::hw::receive::{ResponderCount, RxOutcome};
use stellar_wire::hw::requester::TxAnswer;
use stellar_wire::hw::responder::ResponderConfig;
use stellar_wire::hw::QPN_BITS;
use stellar_wire::time::REPEATED_ANSWER_EPOCH_LOG2;

use crate::answer::{count_answer, draft_answer, is_fatal, repeated_answer};
use crate::bundles::{ResponderPulsesSrc, VisitSnk};
use crate::coalesce::compare;
use crate::commit::commit;
use crate::count_records::Arrival;
use crate::good_paths::GoodPaths;
use crate::imm_counter::ImmCounter;
use crate::immediate_stash::ImmediateStash;
use crate::output_fifos::OutputFifos;
use crate::records::{
    LookupReg, Operation, OperationKind, StashRequest, UpdateReg, MOST_SLOT_BITS, MOST_STASH_BITS,
};
use crate::state_rows::StateRows;
use crate::update_state::update_state;

/// Cycles from an outcome to its acknowledgement, if the packet does not wait for the stash and no output stalls.
pub const LATENCY: usize = 5;
/// Cycles from an MRC packet that is stored in the stash to the next operation of its queue pair, if that may read what it writes. Behind other MRC packets the next
/// operation follows in the next cycle.
pub const STORE_SPACING: usize = 2;
/// Cycles from any other operation (an RC packet, a configuration, an arming, a visit) to the next operation of its queue pair.
pub const OTHER_SPACING: usize = 3;

/// Receive side of 2^`Q` queue pairs behind the receive core. They share a stash of 2^`A` immediates, of which a queue pair has up to 2^`I`; 2^`R` is the number of words in the
/// rings of their windows ([`stellar_wire::config::ring_bits`]).
///
/// It accepts one packet per cycle, also of one queue pair: the state after an MRC packet is forwarded while it commits, with immediate or without. Behind a WRITE with
/// immediate that came before its turn, a packet that reads its entry of the stash waits for [`STORE_SPACING`] cycles; and one behind another operation of its queue pair for [`OTHER_SPACING`]. A packet behind which messages of
/// the stash can be delivered stalls the packets behind it, see [`ImmediateStash`]. What WRITEs with immediate count is found beside the pipeline, see [`ImmCounter`]. All four outputs are in order, and an output whose
/// FIFO is full stalls the pipeline.
///
/// Stages: `take` (configuration before arming before visits before outcomes), `lookup` (state and good path of the queue pair are read, the answer drafted),
/// `update_state` (what the packet changes), `commit` (stash, outputs; the state is written, the counter told).
/// Levels planned: lookup 5, update_state 8, commit 5, stall chain 5.
#[derive(LogicBlock, Default)]
pub struct Responder<
    const Q: usize = 10,
    const I: usize = 8,
    const A: usize = 14,
    const R: usize = { 10 + RECEIVE_RING_BITS },
> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Ticks of 8 ns.
    pub now: Signal<In, Bits<32>>,
    /// Bit p: port p can send. An acknowledgement leaves by the port of its packet, or by the other port if that one cannot send.
    pub plane_up: Signal<In, Bits<2>>,

    /// From the receive core, in its order. An accepted MRC packet comes with the SACK of the window after it.
    pub outcome: Snk<RxOutcome>,

    // From software.
    /// Initialises the queue pair, in a cycle without `good.valid`.
    pub settings: QpSettingsSnk<ResponderConfig>,
    pub arm: ArmSnk,

    /// From [`PendingScan`](crate::PendingScan): acknowledges packets of the queue pair that have been pending since the visit before.
    pub visit: VisitSnk,

    /// From the requester: the newest entropy value of a plane whose packet was acknowledged without a mark. It is forgotten when nothing confirms it.
    pub good: ReverseEvSnk,

    /// To framing.
    pub answer: Src<TxAnswer>,

    /// To the completion queues: WRITEs with immediate received.
    pub completion: Src<Completion>,

    /// To the event queue: the counter has reached the armed threshold.
    pub threshold: ThresholdSrc,

    /// The queue pair must move to the error state: fatal NAK or NACK, too many immediates, or a payload that may be lost. Raised once, until it is configured again.
    pub failed: QpSrc,

    /// What is counted for a queue pair.
    pub qp_count: FlowSrc<ResponderCount>,

    pub pulses: ResponderPulsesSrc,

    operations: StreamSkid<Operation>,
    states: StateRows<Q>,
    good_paths: GoodPaths<Q>,
    stash: ImmediateStash<I, A>,
    counter: ImmCounter<Q, A, R>,
    output_fifos: OutputFifos,

    reading_valid: DFF<Bit>,
    reading: DFF<Operation>,
    looked_up_valid: DFF<Bit>,
    looked_up: DFF<LookupReg>,
    updated_valid: DFF<Bit>,
    updated: DFF<UpdateReg>,
    /// The epoch of answers to duplicates, one cycle late.
    epoch: DFF<Bits<16>>,
    qp_count_is: DFF<Bit>,
    qp_counted: DFF<ResponderCount>,
    /// The stash has done what the packet in `updated` requires.
    stashed: DFF<Bit>,
    /// The stash says the last PSN of the oldest message, which waits.
    learns: DFF<Bit>,
}

impl<const Q: usize, const I: usize, const A: usize, const R: usize> Parameters
    for Responder<Q, I, A, R>
{
    fn check() {
        assert!(
            (1..=QPN_BITS).contains(&Q)
                && (1..=MOST_SLOT_BITS).contains(&I)
                && (I..=MOST_STASH_BITS).contains(&A)
                && (Q + 3..=Q + RECEIVE_RING_BITS).contains(&R),
            "Responder<{Q}, {I}, {A}, {R}>: give Q of 1 to {QPN_BITS}, I of 1 to {MOST_SLOT_BITS}, A of I to {MOST_STASH_BITS} and R of Q + 3 to Q + {RECEIVE_RING_BITS}"
        );
    }
}

impl<const Q: usize, const I: usize, const A: usize, const R: usize> Logic
    for Responder<Q, I, A, R>
{
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            reading_valid,
            reading,
            looked_up_valid,
            looked_up
        );
        dff_setup!(self, clock, updated_valid, updated, stashed, learns);
        dff_setup!(self, clock, epoch, qp_count_is, qp_counted);
        clock_reset!(self, operations, stash, counter, output_fifos);
        clock!(self, clock, states, good_paths);

        // take
        let configures = self.settings.valid.val();
        let arms = self.arm.valid.val();
        let room = self.operations.in_.ready.val();
        self.settings.ready.next = room;
        self.arm.ready.next = room & !configures;
        let visits = self.visit.valid.val();
        self.visit.ready.next = room & !configures & !arms;
        self.outcome.ready.next = room & !configures & !arms & !visits;
        self.operations.in_.valid.next = configures | arms | visits | self.outcome.valid.val();
        let received = self.outcome.record.val();
        self.operations.in_.data.next = Operation {
            kind: if configures {
                OperationKind::Configure
            } else if arms {
                OperationKind::Arm
            } else if visits & self.visit.forgets.val() {
                OperationKind::Forget
            } else if visits {
                OperationKind::Visit
            } else {
                OperationKind::Packet
            },
            qp: if configures {
                self.settings.qp.val()
            } else if arms {
                self.arm.qp.val()
            } else if visits {
                self.visit.qp.val()
            } else {
                received.qp
            },
            outcome: RxOutcome {
                port: if visits {
                    self.visit.port.val()
                } else {
                    received.port
                },
                ..received
            },
            settings: self.settings.record.val(),
            threshold: self.arm.threshold.val(),
        };

        // A stage advances if its successor is empty or advances too. An operation does not read the state of its queue pair while another
        // operation may still change it, unless `update_state` will forward the state of that operation.
        let reading = self.reading.q.val();
        let looked_up = self.looked_up.q.val();
        let updated = self.updated.q.val();
        let operation = updated.operation;
        let outcome = operation.outcome;
        let learns = self.learns.q.val();
        let mut state = updated.state;
        state.front_last = if learns {
            self.stash.front_last.val()
        } else {
            state.front_last
        };
        let front_slot = bit_cast::<8, I>(state.front.get_bits::<I>(0));
        let front_bit = bits::<256>(1) << front_slot;
        let is_configure = operation.kind == OperationKind::Configure;
        let out_room = self.output_fifos.room.val() & self.counter.arrival.ready.val();
        let decided = !updated.stashes | self.stashed.q.val();
        let good_is_free = !(is_configure & self.good.valid.val());
        let commits = self.updated_valid.q.val() & out_room & decided & good_is_free;
        let update_moves = !self.updated_valid.q.val() | commits;
        // The stash reads for the next operation while this one is written to it. A WRITE with immediate reads the message behind the oldest one, others read the oldest one.
        let next_reads_it = if looked_up.operation.outcome.has_immediate {
            updated.stores_behind
        } else {
            updated.stores_front
        };
        // If messages were delivered in the meantime, the stored one may be any.
        let stored_any = updated.stores & updated.stashes;
        let reads_too_early =
            self.updated_valid.q.val() & looked_up.follows & (next_reads_it | stored_any | learns);
        let lookup_moves = !self.looked_up_valid.q.val() | (update_moves & !reads_too_early);
        let row = reading.qp.get_bits::<Q>(0);
        let looked_up_row = looked_up.operation.qp.get_bits::<Q>(0);
        let updated_row = operation.qp.get_bits::<Q>(0);
        let settling = self.updated_valid.q.val() & (row == updated_row);
        // The stage `commit` does not change the state of such a packet any more.
        let is_final = (operation.kind == OperationKind::Packet) & outcome.mrc & decided;
        let follows = self.looked_up_valid.q.val() & (row == looked_up_row);
        let in_use = (follows & !looked_up.forwards) | (settling & !is_final);
        let committed = commit(updated, state);
        let read_moves = !self.reading_valid.q.val() | (lookup_moves & !in_use);

        // lookup
        self.epoch.d.next = self.now.val().get_bits::<16>(REPEATED_ANSWER_EPOCH_LOG2);
        let next_operation = self.operations.out.data.val();
        self.operations.out.ready.next = read_moves;
        if read_moves {
            self.reading_valid.d.next = self.operations.out.valid.val();
        }
        // Without an operation, the register keeps the last one: a simulation then has nothing to do.
        if read_moves & self.operations.out.valid.val() {
            self.reading.d.next = next_operation;
        }
        let read_row = if read_moves {
            next_operation.qp.get_bits::<Q>(0)
        } else {
            row
        };
        self.states.read_row.next = read_row;
        self.good_paths.read_row.next = read_row;
        // The row comes late, from a memory, so it is compared before it is known whether it is the present one, and chosen last.
        let before = looked_up.operation.outcome;
        let stored = self.states.stored.val();
        let written = self.states.written_state.val();
        let vs_stored = compare(stored.coalescing, reading.outcome, before);
        let vs_written = compare(written.coalescing, reading.outcome, before);
        let vs_state = compare(state.coalescing, reading.outcome, before);
        let is_known = settling | self.states.was_written.val();
        let known = if settling { state } else { written };
        let read_state = if is_known { known } else { stored };
        let vs_known = if settling { vs_state } else { vs_written };
        let compared = if is_known { vs_known } else { vs_stored };
        let port = if self.plane_up.val().get_bit(reading.outcome.port.into()) {
            reading.outcome.port
        } else {
            !reading.outcome.port
        };
        self.good_paths.plane.next = port;
        if lookup_moves {
            self.looked_up_valid.d.next = self.reading_valid.q.val() & !in_use;
            self.looked_up.d.next = LookupReg {
                operation: reading,
                state: read_state,
                follows,
                forwards: (reading.kind == OperationKind::Packet) & reading.outcome.mrc,
                answer: draft_answer(reading.outcome, port, bits::<8>(1 << (R - Q - 2))),
                good: self.good_paths.path.val(),
                fatal: is_fatal(reading.outcome),
                repeats: repeated_answer(reading.outcome, self.epoch.q.val()),
                compared,
            };
        }

        // update_state
        if update_moves {
            self.updated_valid.d.next = self.looked_up_valid.q.val() & !reads_too_early;
        }
        if update_moves & !reads_too_early {
            self.updated.d.next = update_state(looked_up, updated, I);
        } else {
            self.updated.d.next.state.front_last = state.front_last;
        }

        // commit: the stash first, if the packet concerns it.
        // The stash reads for the next operation before it comes.
        let next_packet = looked_up.operation.outcome;
        self.stash.next_part.next = looked_up.state.part;
        let next_front = if looked_up.follows {
            state.front
        } else {
            looked_up.state.front
        };
        self.stash.next_rqmsn.next = if next_packet.has_immediate {
            next_front + 1
        } else {
            next_front
        };
        self.stash.request_valid.next =
            self.updated_valid.q.val() & updated.stashes & !self.stashed.q.val();
        self.stash.stores.next = self.updated_valid.q.val() & updated.stores;
        self.stash.request.next = StashRequest {
            work: updated.stash_work,
            qp: operation.qp,
            part: state.part,
            psn: outcome.psn,
            epsn: outcome.epsn,
            completions: state.completions,
            front: state.front,
            held: state.held,
            immediate: outcome.immediate,
            length: outcome.dma_length,
            msn: outcome.msn,
            slot: updated.counted.slot,
        };
        if self.stash.delivered.val() {
            self.updated.d.next.state.front = state.front + 1;
            self.updated.d.next.state.held = state.held & !front_bit;
        }
        if self.stash.waits.val() {
            self.updated.d.next.state.front_last = self.stash.front_last.val();
        }
        self.learns.d.next = self.stash.learns.val();
        if self.stash.done.val() {
            self.stashed.d.next = true;
        }
        if commits {
            self.stashed.d.next = false;
        }

        // commit: the counter of WRITEs with immediate.
        let counted = updated.counted;
        let concerns = updated.notes_psn | counted.counts | counted.arms | counted.restarts;
        self.counter.arrival.valid.next = commits & concerns;
        self.counter.arrival.data.next = Arrival {
            packet: counted,
            notes: updated.notes_psn,
            bitmap: outcome.ack.bitmap,
            epsn: outcome.epsn.get_bits::<RECEIVE_PLACE_BITS>(0),
            in_order: updated.in_order,
            touched: state.touched,
        };

        // commit: the state.
        self.states.writes.next = commits;
        self.states.write_row.next = updated_row;
        self.states.written.next = committed.state;

        // The newest good paths: written by the requester, cleared by a configuration.
        join!(self, now => good_paths.now, good => good_paths.good);
        self.good_paths.forget.next = commits & is_configure;
        self.good_paths.forget_row.next = updated_row;

        // commit: the outputs.
        self.output_fifos.commits.next = commits;
        self.output_fifos.updated.next = updated;
        self.output_fifos.committed.next = committed;
        join!(
            self,
            stash.own_completion => output_fifos.early,
            stash.completion_valid => output_fifos.stashed_valid,
            stash.completion => output_fifos.stashed,
            output_fifos.completion_room => stash.completion_ready,
            output_fifos.answer => answer,
            output_fifos.completion => completion,
            output_fifos.failed => failed,
            counter.threshold => threshold,
        );

        // Counters.
        let answered = commits & updated.answers;
        let out_of_order = commits & updated.out_of_order;
        let count = count_answer(committed.answer, answered);
        self.qp_count_is.d.next = answered | out_of_order | (commits & is_configure);
        self.qp_counted.d.next = ResponderCount {
            qp: operation.qp,
            restarts: is_configure,
            out_of_order,
            ..count
        };
        self.qp_count.valid.next = self.qp_count_is.q.val();
        self.qp_count.record.next = self.qp_counted.q.val();
        let kind = if operation.kind == OperationKind::Visit {
            AckKind::Sack
        } else {
            outcome.ack.kind
        };
        let nacked = (kind == AckKind::Nack) | updated.exceeded;
        self.pulses.wimm_exceeded.next = commits & updated.exceeded;
        self.pulses.ignored.next = commits & updated.ignored;
        self.pulses.answered_ack.next = answered & (kind == AckKind::Ack);
        self.pulses.answered_nak.next = answered & (kind == AckKind::Nak);
        self.pulses.answered_sack.next = answered & (kind == AckKind::Sack) & !nacked;
        self.pulses.answered_nack.next = answered & nacked;

        if self.reset.val() {
            self.reading_valid.d.next = false;
            self.looked_up_valid.d.next = false;
            self.updated_valid.d.next = false;
            self.stashed.d.next = false;
            self.learns.d.next = false;
            self.qp_count_is.d.next = false;
        }
    }
}
