//! The server of the transmit window.

use hdl_macros::hdl;
use hdl_primitives::ram::BlockRam;
use rust_hdl::prelude::*;
use stellar_wire::hw::window::*;

use crate::answer::*;
use crate::begin::*;
use crate::row::*;
use crate::sack::*;
use crate::search::*;
use crate::sent_memory::SentMemory;
use crate::size::WindowSize;
use crate::slot_memory::SlotMemory;
use crate::slot_seek::SlotSeek;
use crate::slots::*;
use crate::step::*;

/// The transmit windows of 2^`Q` queue pairs, one operation at a time.
///
/// Clocks from request to response:
/// * `Query`, `Configure` 2; `Read`, `Lose` 3; `NextInFlight` 6, or 8 if it is not in the first word of 64 slots looked at;
/// * `Push`, `Retract` 3, or 4 if the packets lie in two words;
/// * `Resend` of the first packet lost on a plane 4, or 6 if the next is in another word; of another 3;
/// * `Sack` refused, or one that newly acknowledges only the answered packet, 4. Records are read four per cycle, one from each bank (PSN mod 4). A word costs as
///   many cycles as the most packets that it has in one bank, at least 1; the first of them is already spent in the word of the answered packet. A further word
///   costs one more, and reads 3 once.
///   The search for `una` costs 1 if it is in the word looked at last; any other search 2; each 2 more into another word. They go on while lengths come.
///
/// What packets of a `Push` were sent with is written as it comes, whatever the step is; `Resend` and `Lose` wait with theirs meanwhile.
///
/// A word of slots that an operation changes waits one clock in `word`, and is then written whatever the step is. Nothing else reads it in that clock
/// and the next, but searches, which look at `word` itself.
///
/// `Q` is at most 10; `S` = `Q` + 8 address bits of a bank of the memory of packets sent.
/// LUT levels: 6 (memory, choice of the word, slots named by the SACK).
#[derive(LogicBlock, Default)]
pub struct TxWindow<const Q: usize = 10, const S: usize = 18> {
    pub clock: Signal<In, Clock>,
    /// Drops the operation under way. Queue pairs are to be configured again.
    pub reset: Signal<In, Bit>,

    pub request_valid: Signal<In, Bit>,
    pub request: Signal<In, WindowRequest>,
    pub request_ready: Signal<Out, Bit>,
    pub response_valid: Signal<Out, Bit>,
    pub response: Signal<Out, WindowResponse>,

    /// One more packet of the last `Push` leaves, in the order of their PSNs: 2 clocks after its request or later, one per clock, always taken, and all of
    /// them (but for those retracted) before the next `Push`. A record is written in the clock after; until then it is not to be asked for.
    pub push_valid: Signal<In, Bit>,
    pub push: Signal<In, SentPacket>,

    rows: BlockRam<WindowRow, Q>,
    slots: SlotMemory<Q>,
    sent: SentMemory<Q, S>,
    seek: SlotSeek,

    step: DFF<Step>,
    asked: DFF<WindowRequest>,
    pushed_valid: DFF<Bit>,
    pushed: DFF<SentPacket>,
    /// Of the packet that comes next.
    pushed_qp: DFF<Bits<Q>>,
    pushed_slot: DFF<Bits<10>>,
    /// Slots of the next word that a `Push` or `Retract` is about.
    range_end: DFF<Bits<64>>,
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
    /// The word to load. Of a SACK the answered packet's word comes first: it is there, and often the only one.
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

impl<const Q: usize, const S: usize> Logic for TxWindow<Q, S> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            step,
            asked,
            pushed_valid,
            pushed,
            pushed_qp,
            pushed_slot,
            range_end
        );
        dff_setup!(
            self,
            clock,
            row,
            word,
            word_index,
            word_changed,
            inside,
            span
        );
        dff_setup!(self, clock, news, chosen, hits, pending, answer);
        clock!(self, clock, rows, slots, sent, seek);
        let step = self.step.q.val();
        let asked = self.asked.q.val();
        let span = self.span.q.val();
        let answer = self.answer.q.val();
        let pending = self.pending.q.val();
        let chosen = self.chosen.q.val();
        let is_next = asked.op == WindowOp::NextInFlight;
        let asked_psn = first_psn(asked);
        let fetched = self.rows.read_data.val();
        let record = self.sent.record.val();

        // The memories are addressed by the request itself as long as none is under way.
        let request = if step == Step::Idle {
            self.request.val()
        } else {
            asked
        };
        let read_psn = if step == Step::Idle {
            first_psn(request)
        } else {
            answer.psn
        };
        let is_push = asked.op == WindowOp::Push;
        let pushes = self.pushed_valid.q.val();
        let records = (asked.op == WindowOp::Resend) | (asked.op == WindowOp::Lose);
        let responds = (step == Step::Respond) & !(records & pushes);
        let next_psn = self.row.q.val().next_psn;
        let pushed_slot = self.pushed_slot.q.val();
        self.rows.read_address.next = request.qp.get_bits::<Q>(0);
        self.sent.qp.next = request.qp.get_bits::<Q>(0);
        self.sent.read_slot.next = read_psn.get_bits::<10>(0);
        self.sent.write.next = pushes | (responds & records);
        self.sent.write_qp.next = if pushes {
            self.pushed_qp.q.val()
        } else {
            asked.qp.get_bits::<Q>(0)
        };
        self.sent.write_slot.next = if pushes {
            pushed_slot
        } else {
            answer.psn.get_bits::<10>(0)
        };
        self.sent.write_data.next = if pushes {
            self.pushed.q.val()
        } else {
            answer.sent
        };
        if pushes {
            self.pushed_slot.d.next = pushed_slot + 1;
        }
        self.pushed_valid.d.next = self.push_valid.val();
        self.pushed.d.next = self.push.val();

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

        // Lengths that have been read.
        let sum = self.sent.sum.val();
        if self.sent.sum_valid.val() {
            self.answer.d.next = with_sum(answer, sum);
        }
        let landed = if self.sent.sum_valid.val() {
            after_landing(row, sum.landed)
        } else {
            row
        };
        self.row.d.next = landed;

        // The word looked at.
        let loads = (step == Step::Check) | (step == Step::Load);
        let walks = (step == Step::Pick) | (step == Step::Walk);
        self.target.next = next_target(pending);
        let target = self.target.val();
        let fetch_psn = if is_push { fetched.next_psn } else { asked_psn };
        let select = match step {
            Step::Fetch => fetch_psn.get_bits::<4>(6),
            Step::Check | Step::Load => chosen,
            Step::Range | Step::RangeEnd => word_index + 1,
            Step::Far => self.seek.far_word.val(),
            _ => search_start(target, row).get_bits::<4>(6),
        };
        self.slots.select.next = select;
        let picked = self.slots.word.val();

        // Search. The memory may not have the word changed last yet.
        let hits = self.hits.q.val();
        let walked = without(word, hits);
        let sought_word = if select == word_index { word } else { picked };
        let search = if is_next {
            Search {
                from: asked.psn,
                summary: fetched.occupied.in_flight,
                set_word: picked.in_flight,
            }
        } else if walks {
            una_search(self.row.q.val(), word_index, walked)
        } else {
            search_for(target, row, sought_word)
        };
        self.seek.start.next = (step == Step::Fetch) | (step == Step::Seek) | walks;
        self.seek.far.next = step == Step::Far;
        self.seek.from.next = search.from;
        self.seek.summary.next = search.summary;
        self.seek.set_word.next = search.set_word;
        let hit = self.seek.hit.val();
        let sought = self.seek.psn.val();

        // News of a SACK. The answered packet's length is known already.
        let news = unacknowledged(picked) & named_slots(span, asked, row.una, chosen);
        let taken = answer.verdict == SackVerdict::Taken;
        self.sent.reset.next = self.reset.val() | ((step == Step::Pick) & !taken);
        self.sent.load.next = loads;
        self.sent.word.next = word_index;
        self.sent.slots.next = without_answered(news, asked.acked, self.inside.q.val(), chosen);
        self.sent.lost.next = picked.lost_0 | picked.lost_1;
        let words_left = self.news.q.val();
        if loads {
            self.word.d.next = picked;
            self.word_index.d.next = chosen;
            self.hits.d.next = news;
        }
        if (step == Step::Walk) | ((step == Step::Pick) & taken) {
            let found = pending_after(pending, row, word_index, hits);
            self.word.d.next = walked;
            self.word_changed.d.next = true;
            self.pending.d.next = found;
            if self.sent.last.val() {
                self.chosen.d.next = lowest_of_16(words_left);
                self.news.d.next = words_left & (words_left - 1);
            }
            self.step.d.next = step_after_walk(
                self.sent.last.val(),
                words_left.any(),
                is_hit(row.una, word_index, hits),
                is_pending(found) | self.sent.busy.val(),
            );
        }

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
                self.chosen.d.next = select;
                self.word_changed.d.next = begun.word_changed;
                self.pending.d.next = begun.pending;
                self.answer.d.next = blank(asked.psn, asked.sent);
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
            Step::Range => {
                let first = if is_push { next_psn } else { asked.psn };
                let range = range_of(first, asked.count);
                self.row.d.next = if is_push {
                    after_push(row, asked.count, asked.bytes)
                } else {
                    after_retract(row, asked.psn, asked.bytes)
                };
                self.word.d.next = with_range(word, range.here, is_push);
                self.word_changed.d.next = true;
                self.range_end.d.next = range.beyond;
                if is_push {
                    self.pushed_qp.d.next = asked.qp.get_bits::<Q>(0);
                    self.pushed_slot.d.next = next_psn.get_bits::<10>(0);
                }
                self.step.d.next = if range.beyond.any() {
                    Step::RangeEnd
                } else {
                    Step::Respond
                };
            }
            Step::RangeEnd => {
                self.word.d.next = with_range(picked, self.range_end.q.val(), is_push);
                self.word_index.d.next = select;
                self.word_changed.d.next = true;
                self.step.d.next = Step::Respond;
            }
            Step::Check => {
                let others = !(bits::<16>(1) << chosen);
                self.answer.d.next.sent = record;
                self.answer.d.next.state = state_of(word, asked.acked, self.inside.q.val());
                self.answer.d.next.verdict = judge(span, asked.bitmap);
                self.news.d.next =
                    words_with_news(span, row.una, asked.base, row.occupied) & others;
                self.step.d.next = Step::Pick;
            }
            Step::Pick => {
                if !taken {
                    self.step.d.next = Step::Respond;
                } else {
                    self.answer.d.next = with_answered(answer, asked, span, self.inside.q.val());
                    self.row.d.next = after_answer(row, answer, span, asked.bitmap);
                }
            }
            Step::Load => self.step.d.next = Step::Walk,
            Step::Walk => {}
            Step::Seek => {
                if is_pending(pending) {
                    self.step.d.next = Step::Find;
                } else if !self.sent.busy.val() {
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
                    self.step.d.next = if is_pending(rest) | self.sent.busy.val() {
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
            Step::Respond => {
                if responds {
                    self.step.d.next = Step::Idle;
                }
            }
        }

        self.request_ready.next = step == Step::Idle;
        self.response_valid.next = responds;
        self.response.next = with_row(answer, row);
        if self.reset.val() {
            self.step.d.next = Step::Idle;
            self.word_changed.d.next = false;
        }
    }
}
