//! The transmit window, a functional unit of the requester.

use hdl_macros::hdl;
use hdl_primitives::ram::BlockRam;
use hdl_primitives::{Checked, FlowSnk, FlowSrc, Parameters, Snk};
use rust_hdl::prelude::*;
use stellar_wire::hw::window::{SackVerdict, SentPacket, WindowOp, WindowRequest, WindowResponse};

use crate::first_cycle::first_cycle;
use crate::result::{after_answer, blank, with_answered, with_row, with_sum};
use crate::row::{after_allocate, after_bytes_left_flight, after_loss, after_rollback, WindowRow};
use crate::sack::{
    answered_slot, check_sack, first_psn, measure, named_slots, words_to_visit, SackSpan,
};
use crate::search::{
    after_next_target, after_search, is_pending, next_target, pending_after, search_for,
    search_start, una_search, Pending, Search, Target,
};
use crate::sent_memory::SentMemory;
use crate::slot_memory::SlotMemory;
use crate::slot_seek::SlotSeek;
use crate::slots::{
    is_hit, lowest_of_16, range_of, slot_of, state_of, unacknowledged, with_lost, with_range,
    with_word, without, SlotWord,
};
use crate::step::{step_after_walk, Step};

/// Transmit windows of 2^`Q` queue pairs. Executes one operation at a time.
///
/// Cycles from request to response:
/// * `Query`, `Configure`: 2. `Read`, `MarkLost`: 3. `NextInFlight`: 6, or 8 if the packet is not in the first word.
/// * `Allocate`, `Rollback`: 3, or 4 if the packets lie in two words.
/// * `MarkRetransmitted`: 3. For the first packet lost on a plane it is 4, or 6 if the next lost packet is in another word.
/// * `Sack`: 4 if it is refused, or if it newly acknowledges only the answered packet. Records are read four per cycle, one from each bank (PSN mod 4). A
///   word costs one cycle for each packet in the bank that has most of its packets, at least 1. In the word of the answered packet the first of these cycles is
///   included in the 4. Every further word costs one cycle more, and the latency of the reads adds 3 once. The search for `una` costs 1 if the result is in
///   the last word walked. Every other search costs 2. A search that goes to another word costs 2 more. Searches overlap with the reads.
///
/// Records of the packets of an `Allocate` are written as they arrive, in any step. `MarkRetransmitted` and `MarkLost` wait with their own record meanwhile.
///
/// A word of slots that was changed stays in the register `word` for one cycle, and is then written, in any step. In that cycle and the next one only
/// searches read this word, and they use the register.
///
/// `Q` is at most 10. `S` = `Q` + 8 is the address width of a bank of records. LUT levels: 6 (memory, choice of the word, slots that the SACK acknowledges).
#[derive(LogicBlock, Default)]
pub struct TxWindow<const Q: usize = 10, const S: usize = 18> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    /// Aborts the operation in progress. Queue pairs have to be configured again.
    pub reset: Signal<In, Bit>,

    pub request: Snk<WindowRequest>,
    pub response: FlowSrc<WindowResponse>,

    /// Record of the next packet of the last `Allocate`, in the order of their PSNs. Always accepted, one per cycle. The first one comes at least 2 cycles
    /// after the request. All records, except those of packets that were rolled back, come before the next `Allocate`. A record is written in the next cycle;
    /// until then it must not be requested.
    pub sent_packet: FlowSnk<SentPacket>,

    rows: BlockRam<WindowRow, Q>,
    slots: SlotMemory<Q>,
    sent: SentMemory<Q, S>,
    seek: SlotSeek,

    step: DFF<Step>,
    asked: DFF<WindowRequest>,
    sent_packet_held_valid: DFF<Bit>,
    sent_packet_held: DFF<SentPacket>,
    /// Queue pair and slot of the next record.
    sent_packet_qp: DFF<Bits<Q>>,
    sent_packet_slot: DFF<Bits<10>>,
    /// Slots in the next word, for `Allocate` and `Rollback`.
    range_end: DFF<Bits<64>>,
    row: DFF<WindowRow>,
    word: DFF<SlotWord>,
    word_index: DFF<Bits<4>>,
    /// `word` has to be written.
    word_changed: DFF<Bit>,
    /// The requested PSN is in the window.
    inside: DFF<Bit>,
    span: DFF<SackSpan>,
    /// Words that may have newly acknowledged slots, without the `chosen` one.
    words_left: DFF<Bits<16>>,
    /// The word to load next. A SACK starts with the word of the answered packet, which has been read already and often is the only one.
    chosen: DFF<Bits<4>>,
    /// Slots of `word` that are newly acknowledged.
    newly_acked_held: DFF<Bits<64>>,
    pending: DFF<Pending>,
    /// Target of the search.
    target: Signal<Local, Target>,
    /// The part of the response that is not in the row.
    result: DFF<WindowResponse>,
}

impl<const Q: usize, const S: usize> Parameters for TxWindow<Q, S> {
    fn check() {
        assert!(
            (1..=10).contains(&Q) && S == Q + 8,
            "TxWindow<{Q}, {S}>: use Q = 1 (2 queue pairs) to 10 (1,024) and S = Q + 8"
        );
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
            sent_packet_held_valid,
            sent_packet_held,
            sent_packet_qp,
            sent_packet_slot,
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
        dff_setup!(
            self,
            clock,
            words_left,
            chosen,
            newly_acked_held,
            pending,
            result
        );
        clock!(self, clock, rows, slots, sent, seek);
        let step = self.step.q.val();
        let asked = self.asked.q.val();
        let span = self.span.q.val();
        let result = self.result.q.val();
        let pending = self.pending.q.val();
        let chosen = self.chosen.q.val();
        let is_next = asked.op == WindowOp::NextInFlight;
        let asked_psn = first_psn(asked);
        let fetched = self.rows.read_data.val();
        let record = self.sent.record.val();

        // In `Idle` the request at the port addresses the memories.
        let request = if step == Step::Idle {
            self.request.record.val()
        } else {
            asked
        };
        let read_psn = if step == Step::Idle {
            first_psn(request)
        } else {
            result.psn
        };
        let is_allocate = asked.op == WindowOp::Allocate;
        let writes_sent = self.sent_packet_held_valid.q.val();
        let writes_record =
            (asked.op == WindowOp::MarkRetransmitted) | (asked.op == WindowOp::MarkLost);
        let responds = (step == Step::Respond) & !(writes_record & writes_sent);
        let next_psn = self.row.q.val().next_psn;
        let sent_packet_slot = self.sent_packet_slot.q.val();
        self.rows.read_address.next = request.qp.get_bits::<Q>(0);
        self.sent.qp.next = request.qp.get_bits::<Q>(0);
        self.sent.read_slot.next = read_psn.get_bits::<10>(0);
        self.sent.write.next = writes_sent | (responds & writes_record);
        self.sent.write_qp.next = if writes_sent {
            self.sent_packet_qp.q.val()
        } else {
            asked.qp.get_bits::<Q>(0)
        };
        self.sent.write_slot.next = if writes_sent {
            sent_packet_slot
        } else {
            result.psn.get_bits::<10>(0)
        };
        self.sent.write_data.next = if writes_sent {
            self.sent_packet_held.q.val()
        } else {
            result.sent
        };
        if writes_sent {
            self.sent_packet_slot.d.next = sent_packet_slot + 1;
        }
        self.sent_packet_held_valid.d.next = self.sent_packet.valid.val();
        self.sent_packet_held.d.next = self.sent_packet.record.val();

        // Writes the word that was changed in the last cycle, and updates the summary in the row.
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

        // Adds the lengths that have been read.
        let sum = self.sent.sum.val();
        if self.sent.sum_valid.val() {
            self.result.d.next = with_sum(result, sum);
        }
        let landed = if self.sent.sum_valid.val() {
            after_bytes_left_flight(row, sum.landed)
        } else {
            row
        };
        self.row.d.next = landed;

        // Selects the word of slots.
        let loads = (step == Step::CheckSack) | (step == Step::LoadWord);
        let is_walking = (step == Step::WalkFirst) | (step == Step::WalkWord);
        self.target.next = next_target(pending);
        let target = self.target.val();
        let fetch_psn = if is_allocate {
            fetched.next_psn
        } else {
            asked_psn
        };
        let select = match step {
            Step::Fetch => fetch_psn.get_bits::<4>(6),
            Step::CheckSack | Step::LoadWord => chosen,
            Step::UpdateRange | Step::UpdateRangeEnd => word_index + 1,
            Step::SearchFarWord => self.seek.far_word.val(),
            _ => search_start(target, row).get_bits::<4>(6),
        };
        self.slots.select.next = select;
        let picked = self.slots.word.val();

        // Searches. The memory may not contain the last changed word yet, so that comes from its register.
        let newly_acked_held = self.newly_acked_held.q.val();
        let walked = without(word, newly_acked_held);
        let sought_word = if select == word_index { word } else { picked };
        let search = if is_next {
            Search {
                from: asked.psn,
                summary: fetched.occupied.in_flight,
                set_word: picked.in_flight,
            }
        } else if is_walking {
            una_search(self.row.q.val(), word_index, walked)
        } else {
            search_for(target, row, sought_word)
        };
        self.seek.start.next = (step == Step::Fetch) | (step == Step::StartSearch) | is_walking;
        self.seek.far.next = step == Step::SearchFarWord;
        self.seek.from.next = search.from;
        self.seek.summary.next = search.summary;
        self.seek.set_word.next = search.set_word;
        let hit = self.seek.hit.val();
        let sought = self.seek.psn.val();

        // Determines the newly acknowledged slots. The answered packet was received, whatever its bit says. Its length has been read already.
        let answered = answered_slot(asked.acked, self.inside.q.val(), chosen);
        let newly_acked =
            unacknowledged(picked) & (named_slots(span, asked, row.una, chosen) | answered);
        let taken = result.verdict == SackVerdict::Accepted;
        self.sent.reset.next = self.reset.val() | ((step == Step::WalkFirst) & !taken);
        self.sent.load.next = loads;
        self.sent.word.next = word_index;
        self.sent.slots.next = newly_acked & !answered;
        self.sent.lost.next = picked.lost_0 | picked.lost_1;
        let words_left = self.words_left.q.val();
        if loads {
            self.word.d.next = picked;
            self.word_index.d.next = chosen;
            self.newly_acked_held.d.next = newly_acked;
        }
        if (step == Step::WalkWord) | ((step == Step::WalkFirst) & taken) {
            let found = pending_after(pending, row, word_index, newly_acked_held);
            self.word.d.next = walked;
            self.word_changed.d.next = true;
            self.pending.d.next = found;
            if self.sent.last.val() {
                self.chosen.d.next = lowest_of_16(words_left);
                self.words_left.d.next = words_left & (words_left - 1);
            }
            self.step.d.next = step_after_walk(
                self.sent.last.val(),
                words_left.any(),
                is_hit(row.una, word_index, newly_acked_held),
                is_pending(found) | self.sent.busy.val(),
            );
        }

        match step {
            Step::Idle => {
                if self.request.valid.val() {
                    self.asked.d.next = self.request.record.val();
                    self.step.d.next = Step::Fetch;
                }
            }
            Step::Fetch => {
                let begun = first_cycle(asked, fetched, picked);
                self.row.d.next = begun.row;
                self.word.d.next = begun.word;
                self.word_index.d.next = select;
                self.chosen.d.next = select;
                self.word_changed.d.next = begun.word_changed;
                self.pending.d.next = begun.pending;
                self.result.d.next = blank(asked.psn, asked.sent);
                self.inside.d.next = (asked_psn - fetched.una) < (fetched.next_psn - fetched.una);
                self.span.d.next = measure(asked, fetched);
                self.step.d.next = begun.step;
            }
            Step::ReadRecord => {
                self.result.d.next.sent = record;
                self.result.d.next.state = state_of(word, asked.psn, self.inside.q.val());
                if asked.op == WindowOp::MarkLost {
                    let plane = record.ev.get_bit(0);
                    self.result.d.next.sent.retries = asked.sent.retries;
                    self.row.d.next = after_loss(row, asked.psn, plane, record.length);
                    self.word.d.next = with_lost(word, slot_of(asked.psn), plane);
                    self.word_changed.d.next = true;
                }
                self.step.d.next = Step::Respond;
            }
            Step::UpdateRange => {
                let first = if is_allocate { next_psn } else { asked.psn };
                let range = range_of(first, asked.count);
                self.row.d.next = if is_allocate {
                    after_allocate(row, asked.count, asked.bytes)
                } else {
                    after_rollback(row, asked.psn, asked.bytes)
                };
                self.word.d.next = with_range(word, range.here, is_allocate);
                self.word_changed.d.next = true;
                self.range_end.d.next = range.beyond;
                if is_allocate {
                    self.sent_packet_qp.d.next = asked.qp.get_bits::<Q>(0);
                    self.sent_packet_slot.d.next = next_psn.get_bits::<10>(0);
                }
                self.step.d.next = if range.beyond.any() {
                    Step::UpdateRangeEnd
                } else {
                    Step::Respond
                };
            }
            Step::UpdateRangeEnd => {
                self.word.d.next = with_range(picked, self.range_end.q.val(), is_allocate);
                self.word_index.d.next = select;
                self.word_changed.d.next = true;
                self.step.d.next = Step::Respond;
            }
            Step::CheckSack => {
                let others = !(bits::<16>(1) << chosen);
                self.result.d.next.sent = record;
                self.result.d.next.state = state_of(word, asked.acked, self.inside.q.val());
                self.result.d.next.verdict = check_sack(span, asked.bitmap);
                self.words_left.d.next =
                    words_to_visit(span, row.una, asked.base, row.occupied) & others;
                self.step.d.next = Step::WalkFirst;
            }
            Step::WalkFirst => {
                if !taken {
                    self.step.d.next = Step::Respond;
                } else {
                    self.result.d.next = with_answered(result, asked, span, self.inside.q.val());
                    self.row.d.next = after_answer(row, result);
                }
            }
            Step::LoadWord => self.step.d.next = Step::WalkWord,
            Step::WalkWord => {}
            Step::StartSearch => {
                if is_pending(pending) {
                    self.step.d.next = Step::SearchWord;
                } else if !self.sent.busy.val() {
                    self.step.d.next = Step::Respond;
                }
            }
            Step::SearchWord => {
                if self.seek.more.val() {
                    self.step.d.next = Step::SearchFarWord;
                } else if is_next {
                    self.result.d.next.psn = sought;
                    self.result.d.next.found = hit;
                    self.step.d.next = Step::CheckFound;
                } else {
                    let rest = after_next_target(pending);
                    self.row.d.next = after_search(landed, target, hit, sought);
                    self.pending.d.next = rest;
                    self.step.d.next = if is_pending(rest) | self.sent.busy.val() {
                        Step::StartSearch
                    } else {
                        Step::Respond
                    };
                }
            }
            Step::SearchFarWord => self.step.d.next = Step::SearchWord,
            Step::CheckFound => {
                // Around the ring, slots of PSNs before the requested one look like PSNs after the end of the window.
                let after_end = result.psn - row.next_psn;
                self.result.d.next.found = result.found & after_end.get_bit(23);
                self.step.d.next = Step::WaitRecord;
            }
            Step::WaitRecord => self.step.d.next = Step::ReadRecord,
            Step::Respond => {
                if responds {
                    self.step.d.next = Step::Idle;
                }
            }
        }

        self.request.ready.next = step == Step::Idle;
        self.response.valid.next = responds;
        self.response.record.next = with_row(result, row);
        if self.reset.val() {
            self.step.d.next = Step::Idle;
            self.word_changed.d.next = false;
        }
    }
}
