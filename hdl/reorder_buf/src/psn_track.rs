//! MRC window of 1,024 packets in any order, queue pair error state, and the final decision about every token.

use hdl_macros::hdl;
use hdl_primitives::ram::BypassRam;
use rust_hdl::prelude::*;
use stellar_wire::hw::core::{TokenKind, TranslatedToken};
use stellar_wire::hw::dma::PlaceCommand;
use stellar_wire::hw::frame::DropReason;
use stellar_wire::hw::receive::RxOutcome;
use stellar_wire::mtu::LENGTH_BITS;

use crate::distance::{distance, distance__hdl, place_of, place_of__hdl};
use crate::psn_answer::{self, PsnAnswer};
use crate::psn_stages::{Classified, Judged, Settled, Tracked};
use crate::token_kind::{
    is_packet, is_packet__hdl, row_of, row_of__hdl, writes_qp, writes_qp__hdl,
};
use crate::trailing_ones::{trailing_ones, trailing_ones__hdl};
use crate::verdict::*;
use crate::window_advance::*;
use crate::window_row::*;

/// Clocks from `in_valid` to `out_valid`.
pub const LATENCY: usize = 4 + psn_answer::LATENCY;

/// Decides about every token, keeps the windows, asks for acknowledgements.
///
/// One token per clock; two tokens of one queue pair at least 3 clocks apart, or 2 if both are MRC data packets: what the first of these makes of row and
/// word is then handed on in the clock in which it is written. A token that writes a queue pair's context
/// carries that context in `qp` (from `qp_fetch`) and starts its window anew. No token comes in the clock after a probe: for the word of the
/// expected PSN, known only from the row, the word memory is read a second time.
///
/// Stages, with levels planned:
/// * `read` (clock t): ask for row and word. 3.
/// * `classify` (t + 1): for a probe, ask for the other word; PSN against the word of the expected one and the touched word's bit; the packet's word. 8 (row
///   handed on 4, 18-bit equality 3, gate 1).
/// * `judge` (t + 2): verdict 8 (PSN against the expected one in its word 2, choice 1, verdict 5); prefix of the word 6; run of full words 2 + 3, adder on a
///   carry chain; words left 2 + 3.
/// * `advance` (t + 3): expected PSN (prefix of the word after the run 4, choice 3); row and word are written in this clock.
/// * `answer` (t + 4): in [`PsnAnswer`].
///
/// `QP_BITS` is the log2 of the number of queue pairs, at most 10; `WORD_BITS` that of the words of all rings, `QP_BITS + 5`.
#[derive(LogicBlock, Default)]
pub struct PsnTrack<const QP_BITS: usize = 10, const WORD_BITS: usize = 15> {
    pub clock: Signal<In, Clock>,
    // From emtt_lookup.
    pub in_valid: Signal<In, Bit>,
    pub in_token: Signal<In, TranslatedToken>,
    // To the place command FIFO: one per frame and fence.
    pub out_valid: Signal<Out, Bit>,
    pub out_command: Signal<Out, PlaceCommand>,
    /// Lane of the frame.
    pub out_lane: Signal<Out, Bit>,
    // To the counters.
    /// In the clock of `out_valid`, if the command is of a frame: to be counted by `out_reason`.
    pub out_counted: Signal<Out, Bit>,
    /// `None`: accepted.
    pub out_reason: Signal<Out, DropReason>,
    /// Payload bytes that will be placed, 0 for a packet dropped.
    pub out_payload_bytes: Signal<Out, Bits<LENGTH_BITS>>,
    // To the outcomes: one per packet that is accepted or to be answered, in the clock of its `out_valid`.
    pub outcome_valid: Signal<Out, Bit>,
    pub outcome: Signal<Out, RxOutcome>,

    rows: BypassRam<WindowRow, QP_BITS>,
    /// 32 words of each queue pair: address is queue pair, `psn[10:6]`.
    words: BypassRam<Bits<64>, WORD_BITS>,
    read_valid: DFF<Bit>,
    read: DFF<Tracked>,
    /// The token before the last one is a packet of the same queue pair, and its PSN of the same word.
    follows: DFF<Bit>,
    follows_word: DFF<Bit>,
    classified_valid: DFF<Bit>,
    classified: DFF<Classified>,
    judged_valid: DFF<Bit>,
    judged: DFF<Judged>,
    settled_valid: DFF<Bit>,
    settled: DFF<Settled>,
    answer: PsnAnswer,
}

/// Words of a queue pair's ring, as log2.
const RING_BITS: usize = 5;

/// Shift that makes room for the ring word in a word address; checks the parameters of the block.
const fn ring_shift(qp_bits: usize, word_bits: usize) -> u64 {
    assert!(
        qp_bits <= 10 && word_bits == qp_bits + RING_BITS,
        "PsnTrack: give QP_BITS of at most 10 and WORD_BITS = QP_BITS + 5"
    );
    RING_BITS as u64
}

impl<const QP_BITS: usize, const WORD_BITS: usize> Logic for PsnTrack<QP_BITS, WORD_BITS> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            read_valid,
            read,
            follows,
            follows_word,
            classified_valid,
            classified,
            judged_valid,
            judged
        );
        dff_setup!(self, clock, settled_valid, settled);
        clock!(self, clock, answer);
        self.rows.clock.next = self.clock.val();
        self.words.clock.next = self.clock.val();

        // read
        let token = self.in_token.val();
        let headers = token.token.headers;
        let row = row_of(token.token);
        self.rows.read_address.next = row.get_bits::<QP_BITS>(0);
        let probing = self.read_valid.q.val() & self.read.q.val().probe;
        let epsn_read = self.rows.read_data.val().epsn;
        let word_row = if probing { self.read.q.val().row } else { row };
        let word_of_ring = if probing {
            epsn_read.get_bits::<5>(6)
        } else {
            headers.psn.get_bits::<5>(6)
        };
        self.words.read_address.next = (bit_cast::<WORD_BITS, 10>(word_row)
            << ring_shift(QP_BITS, WORD_BITS))
            | bit_cast::<WORD_BITS, 5>(word_of_ring);
        let before_last = self.classified.q.val().tracked;
        let was_packet = self.classified_valid.q.val() & is_packet(before_last.kind);
        self.follows.d.next = was_packet & (before_last.row == row);
        self.follows_word.d.next = before_last.psn.get_bits::<5>(6) == headers.psn.get_bits::<5>(6);
        self.read_valid.d.next = self.in_valid.val();
        self.read.d.next = Tracked {
            kind: token.token.kind,
            lane: token.token.lane,
            writes_qp: writes_qp(token.token),
            row,
            initial_psn: token.qp.initial_psn,
            mrc: headers.mrc,
            probe: headers.probe & is_packet(token.token.kind),
            psn: headers.psn,
            ack_req: headers.ack_req,
            position: headers.position,
            bad_frame: is_reason(headers.reason),
            reason: token.reason,
            access_reason: token.access_reason,
            rc_class: token.rc_class,
            rc_epsn: token.rc_epsn,
            rc_msn: token.rc_msn,
            ecn_ce: headers.ecn_ce,
            entropy: headers.entropy,
            has_timestamp: headers.has_timestamp,
            timestamp: headers.timestamp,
            has_immediate: headers.has_immediate,
            immediate: headers.immediate,
            msn: headers.msn,
            rqmsn: headers.rqmsn,
            dma_length: headers.dma_length,
            span: token.token.span,
            payload_offset: headers.payload_offset,
            payload_length: headers.payload_length,
            pieces: token.pieces,
        };

        // advance: row and word after the token before last, which the next stage may need at once.
        let judged = self.judged.q.val();
        let old = judged.window;
        let notes_psn = judged.verdict == Verdict::MrcAccepted;
        let moves = notes_psn & judged.in_epsn_word;
        let fills = moves & judged.prefix.get_bit(6);
        let prefix_after_run = prefix_of(old, judged.word_after_run.get_bits::<5>(0));
        let moved_within = (bit_cast::<24, 18>(old.epsn.get_bits::<18>(6)) << 6)
            | bit_cast::<24, 7>(judged.prefix);
        let moved_beyond =
            (bit_cast::<24, 18>(judged.word_after_run) << 6) | bit_cast::<24, 6>(prefix_after_run);
        let epsn = if fills {
            moved_beyond
        } else if moves {
            moved_within
        } else {
            old.epsn
        };
        let ring_word = bits::<32>(1) << judged.tracked.psn.get_bits::<5>(6);
        let touched = if fills {
            (old.touched | ring_word) & !judged.left_behind
        } else if notes_psn {
            old.touched | ring_word
        } else {
            old.touched
        };
        let noted = with_prefix(old.prefixes, ring_word, judged.prefix);
        let prefixes = if notes_psn { noted } else { old.prefixes };
        let breaks = breaks_qp(judged.verdict);
        let next = WindowRow {
            epsn,
            error: old.error | breaks,
            touched,
            prefixes,
        };
        let fresh = WindowRow {
            epsn: judged.tracked.initial_psn,
            error: false,
            touched: bits::<32>(0),
            prefixes: old.prefixes,
        };

        // classify
        let tracked = self.read.q.val();
        let follows = self.follows.q.val();
        let read_row = self.rows.read_data.val();
        let window = if follows { next } else { read_row };
        let stored = if follows & self.follows_word.q.val() & notes_psn {
            judged.word
        } else {
            self.words.read_data.val()
        };
        let psn = tracked.psn;
        // Where the row has just moved to another word, the bits below its expected PSN are in the memory, and nothing need know its low bits yet.
        let crosses = follows & fills;
        let low = if follows & moves {
            judged.prefix.get_bits::<6>(0)
        } else if follows {
            old.epsn.get_bits::<6>(0)
        } else {
            read_row.epsn.get_bits::<6>(0)
        };
        let epsn_word = window.epsn.get_bits::<18>(6);
        let psn_bit = psn.get_bits::<6>(0);
        let touched = window.touched.get_bit(psn.get_bits::<5>(6).index());
        let same_half = psn.get_bit(23) == epsn_word.get_bit(17);
        let same_place = psn.get_bits::<17>(6) == epsn_word.get_bits::<17>(0);
        let in_epsn_word = same_half & same_place;
        let in_opposite_word = same_place & !same_half;
        let below_epsn = if crosses {
            bits::<64>(0)
        } else {
            !(Bits::<64>::mask() << low)
        };
        let stored_word = if touched { stored } else { bits::<64>(0) };
        let implied_word = if in_epsn_word {
            below_epsn
        } else {
            bits::<64>(0)
        };
        self.classified_valid.d.next = self.read_valid.q.val();
        self.classified.d.next = Classified {
            tracked,
            window,
            distance: distance(
                psn.get_bits::<18>(6) - epsn_word,
                in_epsn_word,
                in_opposite_word,
            ),
            received: touched & stored.get_bit(psn_bit.index()),
            in_epsn_word,
            in_opposite_word,
            word: if tracked.probe {
                below_epsn
            } else {
                stored_word | implied_word | (bits::<64>(1) << psn_bit)
            },
            epsn_word_touched: window.touched.get_bit(epsn_word.get_bits::<5>(0).index()),
            full: turn_down(
                window.prefixes.plane_6 & window.touched,
                epsn_word.get_bits::<5>(0),
            ),
        };

        // judge
        let classified = self.classified.q.val();
        let tracked = classified.tracked;
        let window = classified.window;
        let invalid = is_reason(tracked.reason);
        let no_access = is_reason(tracked.access_reason);
        let rc_verdict = judge_rc(tracked.rc_class, invalid, no_access);
        let below = tracked.psn.get_bits::<6>(0) < window.epsn.get_bits::<6>(0);
        let place = place_of(classified.distance, below);
        let behind = place.behind & !tracked.probe;
        let mrc_verdict = judge_mrc(
            behind | classified.received & !place.outside,
            place.outside,
            invalid,
            tracked.access_reason,
        );
        let unheard = tracked.bad_frame | refuses_unheard(tracked.reason);
        let verdict = if tracked.kind != TokenKind::Packet {
            Verdict::NotAPacket
        } else if unheard {
            Verdict::Refused
        } else if window.error {
            Verdict::InError
        } else if tracked.probe {
            Verdict::Probe
        } else if tracked.mrc {
            mrc_verdict
        } else {
            rc_verdict
        };
        let run = run_of_full(classified.full);
        let epsn_word = window.epsn.get_bits::<18>(6);
        // The word of the expected PSN itself, and the run after it.
        let passed = (bit_cast::<32, 16>(run) << 1) | bits::<32>(1);
        // What the second read of a probe brings.
        let epsn_stored = self.words.read_data.val();
        let word = if tracked.probe & classified.epsn_word_touched {
            classified.word | epsn_stored
        } else {
            classified.word
        };
        self.judged_valid.d.next = self.classified_valid.q.val();
        self.judged.d.next = Judged {
            tracked,
            verdict,
            window,
            behind,
            in_epsn_word: classified.in_epsn_word,
            in_opposite_word: classified.in_opposite_word,
            word,
            prefix: trailing_ones(classified.word),
            word_after_run: epsn_word + bit_cast::<18, 5>(length_of_run(run)) + 1,
            left_behind: turn_up(passed, epsn_word.get_bits::<5>(0)),
        };

        // write
        self.rows.write_enable.next =
            self.judged_valid.q.val() & (judged.tracked.writes_qp | notes_psn | breaks);
        self.rows.write_address.next = judged.tracked.row.get_bits::<QP_BITS>(0);
        self.rows.write_data.next = if judged.tracked.writes_qp {
            fresh
        } else {
            next
        };
        self.words.write_enable.next = self.judged_valid.q.val() & notes_psn;
        self.words.write_address.next = (bit_cast::<WORD_BITS, 10>(judged.tracked.row)
            << ring_shift(QP_BITS, WORD_BITS))
            | bit_cast::<WORD_BITS, 5>(judged.tracked.psn.get_bits::<5>(6));
        self.words.write_data.next = judged.word;
        self.settled_valid.d.next = self.judged_valid.q.val();
        self.settled.d.next = Settled {
            tracked: judged.tracked,
            verdict: judged.verdict,
            epsn,
            behind: judged.behind,
            in_epsn_word: judged.in_epsn_word,
            in_opposite_word: judged.in_opposite_word,
            word: judged.word,
        };

        // answer
        self.answer.in_valid.next = self.settled_valid.q.val();
        self.answer.in_settled.next = self.settled.q.val();
        self.out_valid.next = self.answer.out_valid.val();
        self.out_command.next = self.answer.out_command.val();
        self.out_lane.next = self.answer.out_lane.val();
        self.out_counted.next = self.answer.out_counted.val();
        self.out_reason.next = self.answer.out_reason.val();
        self.out_payload_bytes.next = self.answer.out_payload_bytes.val();
        self.outcome_valid.next = self.answer.outcome_valid.val();
        self.outcome.next = self.answer.outcome.val();
    }
}
