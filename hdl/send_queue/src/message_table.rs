//! The message table, a functional unit of the requester: messages from doorbell to completion.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::ram::{BlockRam, UltraRam};
use hdl_primitives::{BlockFifo, Checked, FlowSnk, FlowSrc, Parameters, Snk, Src};
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::{
    Completion, MessageOp, MessageRequest, MessageResponse, SendQueueConfig, WqeFetch, WqeFetched,
};
use stellar_wire::hw::wqe::Wqe;
use stellar_wire::hw::FromBits;
use stellar_wire::hw::{Qpn, SqIndex};

use crate::completion::{of_entry, of_message, SUCCESS, WR_FLUSH_ERR};
use crate::decide::decide;
use crate::lookup::look_up;
use crate::outstanding::{after_completion, message_of};
use crate::prefetch_state::BUFFERED_LOG2;
use crate::records::{Ask, Lookup, MessageRow, QueueRow};
use crate::wqe_prefetch::WqePrefetch;

/// Minimum number of cycles between two flush steps, so that a flush leaves the unit to requests.
pub const FLUSH_INTERVAL: u64 = 31;

/// What the unit does in a cycle.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Step {
    /// Clears the rows, one per cycle.
    Clear,
    /// Accepts a request or starts a flush step, and reads the row.
    Idle,
    /// Evaluates row and prefetched entry, and addresses an outstanding message.
    LookUp,
    /// Decides and responds, unless the operation needs the message.
    Decide,
    /// `LookupByPsn`: chooses the middle of the remaining messages.
    Bisect,
    /// The message has been read.
    ReadMessage,
    /// Addresses the next message.
    AddressMessage,
    WaitMessage,
}

/// Send queues of 2^`Q` queue pairs with at most 2^`M` outstanding messages each. Executes one operation at a time.
///
/// Cycles from request to response:
/// * `Configure`, `Doorbell`, `Flush`: 3.
/// * `NextMessage`, `PeekNext`: 3, or 4 if the message has already started.
/// * `LookupBySlot`, `Fault`: 4, or 3 if the message is not outstanding.
/// * `Complete`: 3 if no message is outstanding, otherwise 4, and 3 more for each completed message that is followed by another one. This holds if
///   completions are accepted at once.
/// * `LookupByPsn`: 3, and 4 more for each message that it reads. It is a binary search, because messages are stored in the order of their PSNs: of 64
///   messages it reads at most 7.
///
/// A flush step may add up to 3 cycles.
///
/// **Flush.** Flushed queue pairs take turns. One flush step starts at most every [`FLUSH_INTERVAL`] cycles, and makes the next completion or requests the
/// next entry. Flush steps have priority over requests, but do not start while a completion waits to be accepted.
///
/// After a reset, 2^`Q` cycles clear the rows. After the reset no data of a read issued before it may arrive. `A` = `Q` + `M` is the address width of the
/// message memory, `E` = `Q` + 4 that of the prefetched entries. LUT levels: 6, in `LookUp` (memory, 16-bit sums, choice).
#[derive(LogicBlock, Default)]
pub struct MessageTable<
    const Q: usize = 10,
    const M: usize = 6,
    const A: usize = 16,
    const E: usize = 14,
> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    /// Clears all state. Queue pairs have to be configured again.
    pub reset: Signal<In, Bit>,

    pub request: Snk<MessageRequest>,
    pub response: FlowSrc<MessageResponse>,
    /// Valid with a `Configure` request.
    pub settings: Signal<In, SendQueueConfig>,

    /// Reads of entries, one per queue pair at a time. Reads may be answered in any order; the entries of a read come in order.
    pub fetch: Src<WqeFetch>,
    /// Epoch of reads that begin in this cycle.
    pub epoch: Signal<In, Bit>,
    /// One cycle: a read begins. Its address is fixed, and it waits to leave.
    pub fetch_begun: Signal<Out, Bit>,
    pub fetched: Snk<WqeFetched>,

    /// An entry that a doorbell carried, before its `Doorbell` request. If it is the next entry to read, no read is needed.
    pub pushed: FlowSnk<WqeFetched>,
    /// Producer index of the doorbell. If the entry does not name the slot before it, the entry is ignored: it is read from memory, and refused.
    pub pushed_producer: Signal<In, SqIndex>,

    /// Completions; those of a queue pair come in order.
    pub cqe: Src<Completion>,

    /// An entry has arrived: a `NextMessage` that missed it may be tried again.
    pub wake_valid: Signal<Out, Bit>,
    pub wake_qp: Signal<Out, Qpn>,

    rows: BlockRam<QueueRow, Q>,
    queues: BlockRam<SendQueueConfig, Q>,
    /// Outstanding messages. The address is queue pair, low bits of the slot.
    messages: UltraRam<MessageRow, A>,
    prefetch: WqePrefetch<Q, E>,
    /// Queue pairs that are being flushed, each at most once.
    flush_queue: BlockFifo<Qpn, 10, 11>,

    step: DFF<Step>,
    cleared: DFF<Bits<Q>>,
    asked: DFF<MessageRequest>,
    asked_settings: DFF<SendQueueConfig>,
    /// The operation is a flush step.
    is_flush_step: DFF<Bit>,
    flush_wait: DFF<Bits<5>>,
    row: DFF<QueueRow>,
    lookup: DFF<Lookup>,
    /// Slot of the message to read.
    place: DFF<SqIndex>,
    /// `LookupByPsn`: the message is one of `size` messages from slot `low` on.
    low: DFF<SqIndex>,
    size: DFF<Bits<8>>,
    responds: DFF<Bit>,
    response_held: DFF<MessageResponse>,
    completes: DFF<Bit>,
    completion: DFF<Completion>,
    /// Next contents of the row; the operation ends in this cycle.
    row_after: Signal<Local, QueueRow>,
    ends: Signal<Local, Bit>,
    /// A message completes in this cycle.
    completed: Signal<Local, Bit>,
}

impl<const Q: usize, const M: usize, const A: usize, const E: usize> Parameters
    for MessageTable<Q, M, A, E>
{
    fn check() {
        assert!(
            (1..=10).contains(&Q) && (1..=7).contains(&M) && A == Q + M && E == Q + BUFFERED_LOG2 as usize,
            "MessageTable<{Q}, {M}, {A}, {E}>: use Q of 1 (2 queue pairs) to 10, M of 1 (2 outstanding messages) to 7, A = Q + M and E = Q + 4"
        );
    }
}

impl<const Q: usize, const M: usize, const A: usize, const E: usize> Logic
    for MessageTable<Q, M, A, E>
{
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            step,
            cleared,
            asked,
            asked_settings,
            is_flush_step
        );
        dff_setup!(self, clock, flush_wait, row, lookup, place, low, size);
        dff_setup!(self, clock, responds, response_held, completes, completion);
        clock_reset!(self, prefetch, flush_queue);
        clock!(self, clock, rows, queues, messages);
        assert!(
            !self.flush_queue.in_.valid.val() || self.flush_queue.in_.ready.val(),
            "a queue pair waits for more than one visit"
        );
        let step = self.step.q.val();
        let asked = self.asked.q.val();
        let asked_settings = self.asked_settings.q.val();
        let settings = self.queues.read_data.val();
        let entry = self.prefetch.entry.val();
        let row = self.row.q.val();
        let lookup = self.lookup.q.val();
        let message = self.messages.read_data.val();
        let is_flush_step = self.is_flush_step.q.val();
        let is_next = !is_flush_step
            & ((asked.op == MessageOp::NextMessage) | (asked.op == MessageOp::PeekNext));
        let is_fault = !is_flush_step & (asked.op == MessageOp::Fault);
        let is_complete = !is_flush_step & (asked.op == MessageOp::Complete);
        let is_lookup_by_psn = !is_flush_step & (asked.op == MessageOp::LookupByPsn);
        let is_configure = !is_flush_step & (asked.op == MessageOp::Configure);

        // accept: a flush step, or a request
        let flush_waits = self.flush_wait.q.val().any();
        let flush_due = self.flush_queue.out.valid.val() & !flush_waits & !self.completes.q.val();
        let idle = (step == Step::Idle) & !self.responds.q.val();
        let flush_qp = self.flush_queue.out.data.val();
        let mut request = self.request.record.val();
        request.qp = if flush_due { flush_qp } else { request.qp };
        let qp = if step == Step::Idle {
            request.qp
        } else {
            asked.qp
        };
        self.request.ready.next = idle & !flush_due;
        self.flush_queue.out.ready.next = idle & flush_due;
        self.rows.read_address.next = qp.get_bits::<Q>(0);
        self.queues.read_address.next = qp.get_bits::<Q>(0);
        self.prefetch.look_qp.next = qp.get_bits::<Q>(0);
        if flush_waits {
            self.flush_wait.d.next = self.flush_wait.q.val() - 1;
        }
        if step == Step::Idle {
            self.asked.d.next = request;
            self.asked_settings.d.next = self.settings.val();
            self.is_flush_step.d.next = flush_due;
        }

        // look up
        let fetched = self.rows.read_data.val();
        let full = fetched.outstanding.get_bit(M);
        let oldest = fetched.next_slot - bit_cast::<16, 8>(fetched.outstanding);
        let first_place = if is_flush_step | is_complete {
            oldest
        } else if is_next {
            fetched.next_slot - 1
        } else {
            asked.slot
        };
        if step == Step::LookUp {
            self.row.d.next = fetched;
            self.lookup.d.next = look_up(asked, is_flush_step, fetched, entry, settings, full);
            self.place.d.next = first_place;
        }
        let place = if step == Step::LookUp {
            first_place
        } else {
            self.place.q.val()
        };
        let first_address = bit_cast::<A, 10>(asked.qp) << (M as u64);
        self.messages.read_address.next = first_address | bit_cast::<A, M>(place.get_bits::<M>(0));

        // decide
        let begun = message_of(entry, row, lookup, asked.psn);
        let decision = decide(asked, is_flush_step, row, lookup, settings, begun);

        // read the message
        let ahead = asked.psn - message.message.first;
        let is_done = ahead >= message.message.packets;
        let completes = is_complete & !message.message.fault & is_done;
        let completion_free = !self.completes.q.val() | self.cqe.ready.val();
        let pops = (step == Step::ReadMessage)
            & (is_flush_step | (completes & (completion_free | !message.signaled)));
        let completion_blocked = completes & message.signaled & !completion_free;
        let is_last = row.outstanding == 1;
        let mut read_row = if pops {
            after_completion(row, message)
        } else {
            row
        };
        read_row.stopped = row.stopped | is_fault;
        let is_failed_slot = row.failed & (message.message.slot == row.failed_slot);
        let status = if !is_flush_step {
            bits::<8>(SUCCESS)
        } else if is_failed_slot {
            row.failed_status
        } else {
            bits::<8>(WR_FLUSH_ERR)
        };

        // bisect: a PSN before the message is more than half of the PSN space away from its first PSN
        let low = self.low.q.val();
        let below = self.size.q.val() >> 1;
        let above = self.size.q.val() - below - 1;
        let searches_below = ahead.get_bit(23);
        let nothing_left = if searches_below {
            !below.any()
        } else {
            !above.any()
        };

        // step
        self.row_after.next = row;
        self.ends.next = false;
        self.completed.next = false;
        self.flush_queue.in_.valid.next = false;
        self.flush_queue.in_.data.next = asked.qp;
        self.prefetch.ask.valid.next = false;
        self.queues.write_enable.next = false;
        self.messages.write_enable.next = false;
        match step {
            Step::Clear => {
                self.cleared.d.next = self.cleared.q.val() + 1;
                if self.cleared.q.val().all() {
                    self.step.d.next = Step::Idle;
                }
            }
            Step::Idle => {
                if idle & (flush_due | self.request.valid.val()) {
                    self.step.d.next = Step::LookUp;
                }
            }
            Step::LookUp => {
                self.step.d.next = Step::Decide;
            }
            Step::Decide => {
                self.messages.write_enable.next = decision.starts;
                self.low.d.next = row.next_slot - bit_cast::<16, 8>(row.outstanding);
                self.size.d.next = row.outstanding;
                if decision.needs_message {
                    self.step.d.next = if is_lookup_by_psn {
                        Step::Bisect
                    } else {
                        Step::ReadMessage
                    };
                } else {
                    self.row_after.next = decision.row;
                    self.ends.next = true;
                    self.completed.next = decision.completes;
                    self.queues.write_enable.next = is_configure;
                    self.prefetch.ask.valid.next = decision.asks | decision.offers | is_configure;
                    self.flush_queue.in_.valid.next = decision.queues;
                }
            }
            Step::Bisect => {
                self.place.d.next = low + bit_cast::<16, 8>(below);
                self.step.d.next = Step::AddressMessage;
            }
            Step::ReadMessage => {
                self.row_after.next = read_row;
                self.messages.write_enable.next = is_fault;
                self.flush_queue.in_.valid.next = is_flush_step;
                self.completed.next = pops & (is_flush_step | message.signaled);
                if pops & !is_flush_step & !is_last {
                    self.step.d.next = Step::AddressMessage;
                    self.place.d.next = place + 1;
                } else if is_lookup_by_psn & is_done & !nothing_left {
                    self.step.d.next = Step::Bisect;
                    self.low.d.next = if searches_below { low } else { place + 1 };
                    self.size.d.next = if searches_below { below } else { above };
                } else if !completion_blocked {
                    self.ends.next = true;
                }
            }
            Step::AddressMessage => {
                self.step.d.next = Step::WaitMessage;
            }
            Step::WaitMessage => {
                self.step.d.next = Step::ReadMessage;
            }
        }

        // respond
        let ends = self.ends.val();
        let decides = step == Step::Decide;
        self.responds.d.next = ends & !is_flush_step;
        self.response_held.d.next = MessageResponse {
            found: if decides {
                decision.found
            } else if is_lookup_by_psn {
                !is_done
            } else {
                !is_complete | message.message.fault
            },
            waits: decides & decision.waits,
            slot: message.message.slot,
            status: message.status,
            message: if decides {
                begun.message
            } else {
                message.message
            },
        };
        self.response.valid.next = self.responds.q.val();
        self.response.record.next = self.response_held.q.val();
        if ends {
            self.step.d.next = Step::Idle;
            if is_flush_step {
                self.flush_wait.d.next = bits(FLUSH_INTERVAL);
            }
        }

        // complete
        self.completes.d.next = self.completed.val() | !completion_free;
        if self.completed.val() {
            self.completion.d.next = if decides {
                of_entry(asked.qp, entry.wqe, row)
            } else {
                of_message(asked.qp, message, status)
            };
        }
        self.cqe.valid.next = self.completes.q.val();
        self.cqe.record.next = self.completion.q.val();

        // write back
        let clear = step == Step::Clear;
        let written_qp = if clear {
            self.cleared.q.val()
        } else {
            asked.qp.get_bits::<Q>(0)
        };
        if step != Step::LookUp {
            self.row.d.next = self.row_after.val();
        }
        self.rows.write_enable.next = clear | ends;
        self.rows.write_address.next = written_qp;
        self.rows.write_data.next = if clear {
            QueueRow::default()
        } else {
            self.row_after.val()
        };
        self.queues.write_address.next = written_qp;
        self.queues.write_data.next = asked_settings;
        let written_slot = if decides { row.next_slot } else { asked.slot };
        let mut faulty = message;
        faulty.message.fault = true;
        faulty.status = if message.message.fault {
            message.status
        } else {
            asked.status
        };
        self.messages.write_address.next =
            first_address | bit_cast::<A, M>(written_slot.get_bits::<M>(0));
        self.messages.write_data.next = if decides { begun } else { faulty };

        // fetch
        self.prefetch.clear.next = clear;
        self.prefetch.clear_qp.next = self.cleared.q.val();
        self.prefetch.ask.record.next = Ask {
            qp: asked.qp,
            restarts: is_configure,
            offers: decision.offers,
            base: asked_settings.base,
            log2_entries: asked_settings.log2_entries,
            slot: decision.row.next_slot,
            producer: decision.row.producer,
        };
        join!(
            self,
            prefetch.fetch => fetch,
            epoch => prefetch.epoch,
            prefetch.fetch_begun => fetch_begun,
            fetched => prefetch.fetched,
        );
        let pushed = self.pushed.record.val();
        let pushed_entry = Wqe::from_bits(pushed.entry);
        let behind_pushed = pushed_entry.slot + 1;
        self.prefetch.pushed.valid.next =
            self.pushed.valid.val() & (behind_pushed == self.pushed_producer.val());
        self.prefetch.pushed.record.next = pushed;
        self.wake_valid.next = self.prefetch.wake_valid.val();
        self.wake_qp.next = self.prefetch.wake_qp.val();

        if self.reset.val() {
            self.step.d.next = Step::Clear;
            self.cleared.d.next = bits(0);
            self.flush_wait.d.next = bits(0);
            self.responds.d.next = false;
            self.completes.d.next = false;
        }
    }
}
