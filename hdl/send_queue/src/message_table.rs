//! The server of the messages between doorbell and completion.

use hdl_macros::hdl;
use hdl_primitives::ram::{BlockRam, UltraRam};
use hdl_primitives::BlockFifo;
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::*;
use stellar_wire::hw::wqe::offset;

use crate::ahead::KEPT_LOG2;
use crate::completion::*;
use crate::decide::decide;
use crate::look::look;
use crate::records::{Ask, Looked, MessageRow, QueueRow};
use crate::under_way::*;
use crate::wqe_prefetch::WqePrefetch;

/// Clocks between two visits, so that flushing leaves the server to requests.
pub const VISIT_GAP: u64 = 31;

/// What the server does in a clock.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Step {
    /// Clears the rows, one per clock.
    Clear,
    /// Takes a request, or visits a queue pair; its row is read.
    Idle,
    /// The row and the entry read ahead are there; a message under way is read.
    Look,
    /// Answers, unless the message matters.
    Decide,
    /// `Holding`: the middle of the messages that it may be is chosen.
    Halve,
    /// The message is there.
    Read,
    /// Reads the next one.
    Seek,
    Wait,
}

/// The work of 2^`Q` queue pairs with at most 2^`M` messages under way each, one operation at a time.
///
/// Clocks from request to response: `Configure`, `Doorbell`, `Flush` 3; `Current`, `Peek` 3, or 4 of a message begun before; `Get`, `Fault` 4, or 3 if the message is
/// not under way; `Complete` 3 with nothing under way, otherwise 4, and 3 more for each message completed while another is left, as long as
/// completions are taken. `Holding` 3 with nothing under way, otherwise 3 and 4 more for each message looked at: it halves those that are left, which are
/// in PSN order, so of 64 it looks at 7 at most. At most 3 clocks of a visit may come before.
///
/// **Visits.** Queue pairs that are flushed are visited in turn, [`VISIT_GAP`] clocks apart: each visit makes the next completion, or the next fetch.
/// Visits go before requests, but do not start while a completion waits to be taken.
///
/// The first 2^`Q` clocks after a reset clear the rows. From the reset on, no answer may come to a fetch of the time before.
/// `A` = `Q` + `M` is the address width of the message memory, `E` = `Q` + 4 that of the entries read ahead. LUT levels: 6, in `Look` (memory, 16-bit sums, choice).
#[derive(LogicBlock, Default)]
pub struct MessageTable<
    const Q: usize = 10,
    const M: usize = 6,
    const A: usize = 16,
    const E: usize = 14,
> {
    pub clock: Signal<In, Clock>,
    /// Forgets everything. Queue pairs are to be configured again.
    pub reset: Signal<In, Bit>,

    pub request_valid: Signal<In, Bit>,
    pub request: Signal<In, MessageRequest>,
    pub request_ready: Signal<Out, Bit>,
    pub response_valid: Signal<Out, Bit>,
    pub response: Signal<Out, MessageResponse>,
    /// With a `Configure` request.
    pub settings: Signal<In, SendQueueConfig>,

    /// Reads of entries, one per queue pair at a time, which may be answered in any order; the entries of a read come in order.
    pub fetch_valid: Signal<Out, Bit>,
    pub fetch: Signal<Out, WqeFetch>,
    pub fetch_ready: Signal<In, Bit>,
    pub fetched_valid: Signal<In, Bit>,
    pub fetched: Signal<In, WqeFetched>,
    pub fetched_ready: Signal<Out, Bit>,

    /// An entry that came with a doorbell, before its `Doorbell` request; good unless `error`. It need not be read if it is the next one.
    pub pushed_valid: Signal<In, Bit>,
    pub pushed: Signal<In, WqeFetched>,
    /// The doorbell's index. An entry that does not say the slot before it is not for where it lies: it is left to be read there, and refused.
    pub pushed_producer: Signal<In, Bits<16>>,

    /// Completions, those of a queue pair in order.
    pub cqe_valid: Signal<Out, Bit>,
    pub cqe: Signal<Out, Completion>,
    pub cqe_ready: Signal<In, Bit>,

    /// An entry has come: a `Current` that did not find it may be asked again.
    pub wake_valid: Signal<Out, Bit>,
    pub wake_qp: Signal<Out, Bits<10>>,

    rows: BlockRam<QueueRow, Q>,
    queues: BlockRam<SendQueueConfig, Q>,
    /// Messages under way: address is queue pair, low bits of the slot.
    messages: UltraRam<MessageRow, A>,
    prefetch: WqePrefetch<Q, E>,
    /// Queue pairs to be visited, each at most once.
    visitors: BlockFifo<Bits<10>, 10, 11>,

    step: DFF<Step>,
    cleared: DFF<Bits<Q>>,
    asked: DFF<MessageRequest>,
    asked_settings: DFF<SendQueueConfig>,
    /// The operation is a visit.
    visits: DFF<Bit>,
    rest: DFF<Bits<5>>,
    row: DFF<QueueRow>,
    looked: DFF<Looked>,
    /// Slot of the message that is read.
    place: DFF<Bits<16>>,
    /// `Holding`: the message is one of `size` from the slot `low` on.
    low: DFF<Bits<16>>,
    size: DFF<Bits<8>>,
    answers: DFF<Bit>,
    answer: DFF<MessageResponse>,
    completes: DFF<Bit>,
    completion: DFF<Completion>,
    /// What becomes of the row, and whether the operation ends in this clock.
    row_after: Signal<Local, QueueRow>,
    ends: Signal<Local, Bit>,
    /// It completes a message in this clock.
    completed: Signal<Local, Bit>,
    _size: TableSize<Q, M, A, E>,
}

/// The sizes there are.
struct TableSize<const Q: usize, const M: usize, const A: usize, const E: usize>;

impl<const Q: usize, const M: usize, const A: usize, const E: usize> Default
    for TableSize<Q, M, A, E>
{
    fn default() -> Self {
        assert!(
            (1..=10).contains(&Q) && (1..=7).contains(&M) && A == Q + M && E == Q + KEPT_LOG2 as usize,
            "MessageTable<{Q}, {M}, {A}, {E}>: use Q of 1 (2 queue pairs) to 10, M of 1 (2 messages under way) to 7, A = Q + M and E = Q + 4"
        );
        Self
    }
}

impl<const Q: usize, const M: usize, const A: usize, const E: usize> Logic
    for MessageTable<Q, M, A, E>
{
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, step, cleared, asked, asked_settings, visits);
        dff_setup!(self, clock, rest, row, looked, place, low, size);
        dff_setup!(self, clock, answers, answer, completes, completion);
        clock!(self, clock, rows, queues, messages, prefetch, visitors);
        self.prefetch.reset.next = self.reset.val();
        self.visitors.reset.next = self.reset.val();
        assert!(
            !self.visitors.in_valid.val() || self.visitors.in_ready.val(),
            "a queue pair waits for more than one visit"
        );
        let step = self.step.q.val();
        let asked = self.asked.q.val();
        let asked_settings = self.asked_settings.q.val();
        let settings = self.queues.read_data.val();
        let entry = self.prefetch.entry.val();
        let row = self.row.q.val();
        let looked = self.looked.q.val();
        let message = self.messages.read_data.val();
        let visits = self.visits.q.val();
        let is_current =
            !visits & ((asked.op == MessageOp::Current) | (asked.op == MessageOp::Peek));
        let is_fault = !visits & (asked.op == MessageOp::Fault);
        let is_complete = !visits & (asked.op == MessageOp::Complete);
        let is_holding = !visits & (asked.op == MessageOp::Holding);
        let is_configure = !visits & (asked.op == MessageOp::Configure);

        // take: a visit, or a request.
        let rests = self.rest.q.val().any();
        let visit_due = self.visitors.out_valid.val() & !rests & !self.completes.q.val();
        let idle = (step == Step::Idle) & !self.answers.q.val();
        let visitor = self.visitors.out_data.val();
        let mut request = self.request.val();
        request.qp = if visit_due { visitor } else { request.qp };
        let qp = if step == Step::Idle {
            request.qp
        } else {
            asked.qp
        };
        self.request_ready.next = idle & !visit_due;
        self.visitors.out_ready.next = idle & visit_due;
        self.rows.read_address.next = qp.get_bits::<Q>(0);
        self.queues.read_address.next = qp.get_bits::<Q>(0);
        self.prefetch.look_qp.next = qp.get_bits::<Q>(0);
        if rests {
            self.rest.d.next = self.rest.q.val() - 1;
        }
        if step == Step::Idle {
            self.asked.d.next = request;
            self.asked_settings.d.next = self.settings.val();
            self.visits.d.next = visit_due;
        }

        // look
        let fetched = self.rows.read_data.val();
        let full = fetched.under_way.get_bit(M);
        let oldest = fetched.next_slot - bit_cast::<16, 8>(fetched.under_way);
        let first_place = if visits | is_complete {
            oldest
        } else if is_current {
            fetched.next_slot - 1
        } else {
            asked.slot
        };
        if step == Step::Look {
            self.row.d.next = fetched;
            self.looked.d.next = look(asked, visits, fetched, entry, settings, full);
            self.place.d.next = first_place;
        }
        let place = if step == Step::Look {
            first_place
        } else {
            self.place.q.val()
        };
        let first_address = bit_cast::<A, 10>(asked.qp) << (M as u64);
        self.messages.read_address.next = first_address | bit_cast::<A, M>(place.get_bits::<M>(0));

        // decide
        let begun = message_of(entry, row, looked, asked.psn);
        let decision = decide(asked, visits, row, looked, settings, begun);

        // read
        let ahead = asked.psn - message.message.first;
        let is_done = ahead >= message.message.packets;
        let completes = is_complete & !message.message.fault & is_done;
        let completion_free = !self.completes.q.val() | self.cqe_ready.val();
        let pops =
            (step == Step::Read) & (visits | (completes & (completion_free | !message.signaled)));
        let held_up = completes & message.signaled & !completion_free;
        let is_last = row.under_way == 1;
        let mut read_row = if pops { without(row, message) } else { row };
        read_row.stopped = row.stopped | is_fault;
        let is_blamed = row.failed & (message.message.slot == row.failed_slot);
        let status = if !visits {
            bits::<8>(SUCCESS)
        } else if is_blamed {
            row.failed_status
        } else {
            bits::<8>(WR_FLUSH_ERR)
        };

        // halve: PSNs before a message are more than half way round from it.
        let low = self.low.q.val();
        let below = self.size.q.val() >> 1;
        let above = self.size.q.val() - below - 1;
        let goes_below = ahead.get_bit(23);
        let nothing_left = if goes_below {
            !below.any()
        } else {
            !above.any()
        };

        // What each step does.
        self.row_after.next = row;
        self.ends.next = false;
        self.completed.next = false;
        self.visitors.in_valid.next = false;
        self.visitors.in_data.next = asked.qp;
        self.prefetch.ask_valid.next = false;
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
                if idle & (visit_due | self.request_valid.val()) {
                    self.step.d.next = Step::Look;
                }
            }
            Step::Look => {
                self.step.d.next = Step::Decide;
            }
            Step::Decide => {
                self.messages.write_enable.next = decision.starts;
                self.low.d.next = row.next_slot - bit_cast::<16, 8>(row.under_way);
                self.size.d.next = row.under_way;
                if decision.matters {
                    self.step.d.next = if is_holding { Step::Halve } else { Step::Read };
                } else {
                    self.row_after.next = decision.row;
                    self.ends.next = true;
                    self.completed.next = decision.completes;
                    self.queues.write_enable.next = is_configure;
                    self.prefetch.ask_valid.next = decision.asks | decision.offers | is_configure;
                    self.visitors.in_valid.next = decision.queues;
                }
            }
            Step::Halve => {
                self.place.d.next = low + bit_cast::<16, 8>(below);
                self.step.d.next = Step::Seek;
            }
            Step::Read => {
                self.row_after.next = read_row;
                self.messages.write_enable.next = is_fault;
                self.visitors.in_valid.next = visits;
                self.completed.next = pops & (visits | message.signaled);
                if pops & !visits & !is_last {
                    self.step.d.next = Step::Seek;
                    self.place.d.next = place + 1;
                } else if is_holding & is_done & !nothing_left {
                    self.step.d.next = Step::Halve;
                    self.low.d.next = if goes_below { low } else { place + 1 };
                    self.size.d.next = if goes_below { below } else { above };
                } else if !held_up {
                    self.ends.next = true;
                }
            }
            Step::Seek => {
                self.step.d.next = Step::Wait;
            }
            Step::Wait => {
                self.step.d.next = Step::Read;
            }
        }

        // answer
        let ends = self.ends.val();
        let decides = step == Step::Decide;
        self.answers.d.next = ends & !visits;
        self.answer.d.next = MessageResponse {
            found: if decides {
                decision.found
            } else if is_holding {
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
        self.response_valid.next = self.answers.q.val();
        self.response.next = self.answer.q.val();
        if ends {
            self.step.d.next = Step::Idle;
            if visits {
                self.rest.d.next = bits(VISIT_GAP);
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
        self.cqe_valid.next = self.completes.q.val();
        self.cqe.next = self.completion.q.val();

        // write
        let clear = step == Step::Clear;
        let written_qp = if clear {
            self.cleared.q.val()
        } else {
            asked.qp.get_bits::<Q>(0)
        };
        if step != Step::Look {
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
        self.prefetch.ask.next = Ask {
            qp: asked.qp,
            restarts: is_configure,
            offers: decision.offers,
            base: asked_settings.base,
            log2_entries: asked_settings.log2_entries,
            slot: decision.row.next_slot,
            producer: decision.row.producer,
        };
        self.fetch_valid.next = self.prefetch.fetch_valid.val();
        self.fetch.next = self.prefetch.fetch.val();
        self.prefetch.fetch_ready.next = self.fetch_ready.val();
        self.prefetch.fetched_valid.next = self.fetched_valid.val();
        self.prefetch.fetched.next = self.fetched.val();
        let pushed = self.pushed.val();
        let behind_pushed = pushed.entry.get_bits::<16>(offset::SLOT) + 1;
        self.prefetch.pushed_valid.next =
            self.pushed_valid.val() & (behind_pushed == self.pushed_producer.val());
        self.prefetch.pushed.next = pushed;
        self.fetched_ready.next = self.prefetch.fetched_ready.val();
        self.wake_valid.next = self.prefetch.wake_valid.val();
        self.wake_qp.next = self.prefetch.wake_qp.val();

        if self.reset.val() {
            self.step.d.next = Step::Clear;
            self.cleared.d.next = bits(0);
            self.rest.d.next = bits(0);
            self.answers.d.next = false;
            self.completes.d.next = false;
        }
    }
}
