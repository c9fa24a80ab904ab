//! The server of the transmit window.

use hdl_macros::hdl;
use hdl_primitives::ram::{BlockRam, UltraRam};
use rust_hdl::prelude::*;
use stellar_wire::hw::window::*;

use crate::answer::*;
use crate::begin::*;
use crate::length_walk::LengthWalk;
use crate::row::*;
use crate::sack::*;
use crate::slot_memory::SlotMemory;
use crate::slot_seek::SlotSeek;
use crate::slots::*;
use crate::step::Step;

/// The transmit windows of 2^`Q` queue pairs, one operation at a time.
///
/// Clocks from request to response:
/// * `Query`, `Configure`, `Push` 2; `Read`, `Lose` 3; `NextInFlight` 6, or 8 if it is not in the first word of 64 slots looked at;
/// * `Resend` of the first packet lost on a plane 4, or 6 if the next is in another word; of another 3;
/// * `Sack` refused, or reaching no word with unacknowledged slots, 4; if the answered packet is the only news 7. Other news cost a clock for each
///   packet, one more once, and one or two for each further word. A search (`una` moves; the first packet lost on a plane is acknowledged) costs 1, or 3
///   into another word, and one more for each further search.
///
/// A word of slots that an operation changes waits one clock in `word`, and is then written whatever the step is. Nothing else reads it in that clock
/// and the next, but `Seek` and `Far`, which look at `word` itself.
///
/// `Q` is at most 10; `S` = `Q` + 10 address bits of the memory of packets sent.
/// LUT levels: 6 (memory, choice of the word, slots named by the SACK).
#[derive(LogicBlock, Default)]
pub struct TxWindow<const Q: usize = 10, const S: usize = 20> {
    pub clock: Signal<In, Clock>,
    /// Drops the operation under way. Queue pairs are to be configured again.
    pub reset: Signal<In, Bit>,

    pub request_valid: Signal<In, Bit>,
    pub request: Signal<In, WindowRequest>,
    pub request_ready: Signal<Out, Bit>,
    pub response_valid: Signal<Out, Bit>,
    pub response: Signal<Out, WindowResponse>,

    rows: BlockRam<WindowRow, Q>,
    slots: SlotMemory<Q>,
    /// Last transmissions: address is queue pair, slot.
    sent: UltraRam<SentPacket, S>,
    seek: SlotSeek,
    walk: LengthWalk,

    step: DFF<Step>,
    asked: DFF<WindowRequest>,
    row: DFF<WindowRow>,
    word: DFF<SlotWord>,
    word_index: DFF<Bits<4>>,
    /// `word` is to be written.
    word_changed: DFF<Bit>,
    /// The PSN asked for is in the window.
    inside: DFF<Bit>,
    span: DFF<SackSpan>,
    /// Words that may have news, without the `chosen` one.
    news: DFF<Bits<16>>,
    chosen: DFF<Bits<4>>,
    /// Slots of `word` that are news.
    hits: DFF<Bits<64>>,
    pending: DFF<Pending>,
    /// What is looked for in this clock.
    target: Signal<Local, Target>,
    /// All of the response that is not in the row.
    answer: DFF<WindowResponse>,
    _size: WindowSize<Q, S>,
}

/// Slots of a window, as log2.
const SLOT_BITS: u64 = 10;

/// The sizes there are.
struct WindowSize<const Q: usize, const S: usize>;

impl<const Q: usize, const S: usize> Default for WindowSize<Q, S> {
    fn default() -> Self {
        assert!(
            (1..=10).contains(&Q) && S == Q + 10,
            "TxWindow<{Q}, {S}>: use Q = 1 (2 queue pairs) to 10 (1,024) and S = Q + 10"
        );
        Self
    }
}

impl<const Q: usize, const S: usize> Logic for TxWindow<Q, S> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            step,
            asked,
            row,
            word,
            word_index,
            word_changed
        );
        dff_setup!(self, clock, inside, span, news, chosen, hits, pending, answer);
        clock!(self, clock, rows, slots, sent, seek, walk);
        let step = self.step.q.val();
        let asked = self.asked.q.val();
        let span = self.span.q.val();
        let answer = self.answer.q.val();
        let pending = self.pending.q.val();
        let chosen = self.chosen.q.val();
        let is_next = asked.op == WindowOp::NextInFlight;
        let asked_psn = if asked.op == WindowOp::Sack {
            asked.acked
        } else {
            asked.psn
        };
        let fetched = self.rows.read_data.val();
        let record = self.sent.read_data.val();

        // The memories are addressed by the request itself as long as none is under way.
        let request = if step == Step::Idle {
            self.request.val()
        } else {
            asked
        };
        let first_psn = if request.op == WindowOp::Sack {
            request.acked
        } else {
            request.psn
        };
        let record_slot = if self.walk.reading.val() {
            (bit_cast::<10, 4>(self.word_index.q.val()) << 6)
                | bit_cast::<10, 6>(self.walk.bit.val())
        } else if step == Step::Idle {
            first_psn.get_bits::<10>(0)
        } else {
            answer.psn.get_bits::<10>(0)
        };
        let record_row = bit_cast::<S, 10>(request.qp) << SLOT_BITS;
        let responds = step == Step::Respond;
        let starts = (asked.op == WindowOp::Push) | (asked.op == WindowOp::Resend);
        self.rows.read_address.next = request.qp.get_bits::<Q>(0);
        self.sent.read_address.next = record_row | bit_cast::<S, 10>(record_slot);
        self.sent.write_address.next = record_row | bit_cast::<S, 10>(answer.psn.get_bits::<10>(0));
        self.sent.write_data.next = answer.sent;
        self.sent.write_enable.next = responds & (starts | (asked.op == WindowOp::Lose));

        // The word changed in the last clock is written, and the row told.
        let word = self.word.q.val();
        let word_index = self.word_index.q.val();
        let mut row = self.row.q.val();
        row.occupied = if self.word_changed.q.val() {
            with_word(row.occupied, word_index, word)
        } else {
            row.occupied
        };
        self.word_changed.d.next = false;
        self.rows.write_address.next = asked.qp.get_bits::<Q>(0);
        self.rows.write_data.next = row;
        self.rows.write_enable.next = responds;
        self.slots.read_qp.next = request.qp.get_bits::<Q>(0);
        self.slots.write_qp.next = asked.qp.get_bits::<Q>(0);
        self.slots.write.next = self.word_changed.q.val();
        self.slots.write_index.next = word_index;
        self.slots.write_word.next = word;
        self.slots.clear.next = (step == Step::Fetch) & (asked.op == WindowOp::Configure);

        // Lengths that come out of the memory.
        if self.walk.taken.val() {
            self.answer.d.next = with_packet(answer, record.length, self.walk.taken_lost.val());
        }
        let landed = if self.walk.taken.val() & !self.walk.taken_lost.val() {
            after_landing(row, record.length)
        } else {
            row
        };
        self.row.d.next = landed;

        // The word looked at.
        self.target.next = if is_next {
            Target::InFlight
        } else {
            next_target(pending)
        };
        let target = self.target.val();
        let from = if is_next {
            asked.psn
        } else {
            search_start(target, row)
        };
        let fetch_psn = if asked.op == WindowOp::Push {
            fetched.next_psn
        } else {
            asked_psn
        };
        let select = match step {
            Step::Fetch => fetch_psn.get_bits::<4>(6),
            Step::Load => chosen,
            Step::Far => self.seek.far_word.val(),
            _ => from.get_bits::<4>(6),
        };
        self.slots.select.next = select;
        let picked = self.slots.word.val();

        // Search. The memory may not have the word changed last yet.
        let searched = if !is_next & (select == word_index) {
            word
        } else {
            picked
        };
        let words_searched = if is_next {
            fetched.occupied
        } else {
            row.occupied
        };
        self.seek.start.next = (step == Step::Fetch) | (step == Step::Seek);
        self.seek.far.next = step == Step::Far;
        self.seek.from.next = from;
        self.seek.summary.next = words_sought(target, words_searched);
        self.seek.set_word.next = slots_sought(target, searched);
        let hit = self.seek.hit.val();
        let sought = self.seek.psn.val();

        // News of a SACK. The answered packet's length is known already.
        let news = unacknowledged(picked) & named_slots(span, asked, row.una, chosen);
        let is_answered = self.inside.q.val() & (chosen == asked.acked.get_bits::<4>(6));
        let answered_slot = if is_answered {
            slot_of(asked.acked)
        } else {
            bits::<64>(0)
        };
        self.walk.reset.next = self.reset.val();
        self.walk.load.next = step == Step::Load;
        self.walk.slots.next = news & !answered_slot;
        self.walk.lost.next = picked.lost_0 | picked.lost_1;
        let hits = self.hits.q.val();
        let words_left = self.news.q.val();
        let next_word = first_word(words_left);
        let words_after = words_left & (words_left - 1);

        match step {
            Step::Idle => {
                if self.request_valid.val() {
                    self.asked.d.next = self.request.val();
                    self.step.d.next = Step::Fetch;
                }
            }
            Step::Fetch => {
                let begun = begin(asked, fetched, picked);
                self.row.d.next = begun.row;
                self.word.d.next = begun.word;
                self.word_index.d.next = select;
                self.word_changed.d.next = begun.word_changed;
                self.pending.d.next = begun.pending;
                self.answer.d.next = blank(begun.psn, asked.sent);
                self.inside.d.next = (asked_psn - fetched.una) < (fetched.next_psn - fetched.una);
                self.span.d.next = measure(asked, fetched);
                self.step.d.next = begun.step;
            }
            Step::Read => {
                self.answer.d.next.sent = record;
                self.answer.d.next.state = state_of(word, asked.psn, self.inside.q.val());
                if asked.op == WindowOp::Lose {
                    let plane = record.ev.get_bit(0);
                    self.answer.d.next.sent.retries = asked.sent.retries;
                    self.row.d.next = after_loss(row, asked.psn, plane, record.length);
                    self.word.d.next = with_lost(word, slot_of(asked.psn), plane);
                    self.word_changed.d.next = true;
                }
                self.step.d.next = Step::Respond;
            }
            Step::Check => {
                self.answer.d.next.sent = record;
                self.answer.d.next.state = state_of(word, asked.acked, self.inside.q.val());
                self.answer.d.next.verdict = judge(span, asked.bitmap);
                self.news.d.next = words_with_news(span, row.una, asked.base, row.occupied);
                self.span.d.next.low =
                    from_window(span.low, row.una, span.low_at_una, span.low_before);
                self.span.d.next.high =
                    from_window(span.high, row.una, span.high_at_una, span.high_before);
                self.step.d.next = Step::Pick;
            }
            Step::Pick => {
                self.chosen.d.next = next_word;
                self.news.d.next = words_after;
                self.step.d.next = Step::Respond;
                if answer.verdict == SackVerdict::Taken {
                    self.answer.d.next = with_answered(answer, asked, span, self.inside.q.val());
                    if answer_is_news(answer, span, asked.bitmap)
                        & (answer.state == PacketState::InFlight)
                    {
                        self.row.d.next = after_landing(row, answer.sent.length);
                    }
                    if words_left.any() {
                        self.step.d.next = Step::Load;
                    }
                }
            }
            Step::Load => {
                self.word.d.next = picked;
                self.word_index.d.next = chosen;
                self.hits.d.next = news;
                self.step.d.next = Step::Walk;
            }
            Step::Walk => {
                self.word.d.next = without(word, hits);
                self.word_changed.d.next = true;
                self.pending.d.next = Pending {
                    una: pending.una | is_hit(row.una, word_index, hits),
                    lost_0: pending.lost_0
                        | row.lost.get_bit(0) & is_hit(row.first_lost_0, word_index, hits),
                    lost_1: pending.lost_1
                        | row.lost.get_bit(1) & is_hit(row.first_lost_1, word_index, hits),
                };
                if self.walk.last.val() {
                    self.chosen.d.next = next_word;
                    self.news.d.next = words_after;
                    self.step.d.next = if words_left.any() {
                        Step::Load
                    } else {
                        Step::Seek
                    };
                }
            }
            Step::Seek => {
                if is_pending(pending) {
                    self.step.d.next = Step::Find;
                } else if !self.walk.busy.val() {
                    self.step.d.next = Step::Respond;
                }
            }
            Step::Find => {
                if self.seek.more.val() {
                    self.step.d.next = Step::Far;
                } else if is_next {
                    self.answer.d.next.psn = sought;
                    self.answer.d.next.found = hit;
                    self.step.d.next = Step::Locate;
                } else {
                    let rest = after_next_target(pending);
                    self.row.d.next = after_search(landed, target, hit, sought);
                    self.pending.d.next = rest;
                    self.step.d.next = if is_pending(rest) | self.walk.busy.val() {
                        Step::Seek
                    } else {
                        Step::Respond
                    };
                }
            }
            Step::Far => self.step.d.next = Step::Find,
            Step::Locate => {
                // Round the ring, the slots of PSNs before the one asked for come up as those after the end of the window.
                let after_end = answer.psn - row.next_psn;
                self.answer.d.next.found = answer.found & after_end.get_bit(23);
                self.step.d.next = Step::Wait;
            }
            Step::Wait => self.step.d.next = Step::Read,
            Step::Respond => self.step.d.next = Step::Idle,
        }

        self.request_ready.next = step == Step::Idle;
        self.response_valid.next = responds;
        self.response.next = WindowResponse {
            una: row.una,
            next_psn: row.next_psn,
            in_flight: row.in_flight,
            lost: row.lost,
            first_lost0: row.first_lost_0,
            first_lost1: row.first_lost_1,
            ..answer
        };
        if self.reset.val() {
            self.step.d.next = Step::Idle;
            self.word_changed.d.next = false;
        }
    }
}
