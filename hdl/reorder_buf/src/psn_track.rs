//! MRC window of packets in any order, queue pair error state, and the final decision about every token.

use hdl_macros::{hdl, join};
use hdl_primitives::{BypassRam, Checked, FlowSrc, Parameters, TokenFlowSnk, UltraRam};
use rust_hdl::prelude::*;
use stellar_wire::config::{RECEIVE_RING, RECEIVE_RING_BITS, RECEIVE_WINDOW};
use stellar_wire::hw::core::TranslatedToken;
use stellar_wire::hw::receive::{ReceiveCount, RxOutcome};
use stellar_wire::hw::QPN_BITS;

use crate::distance::{distance, is_opposite, place_of};
use crate::psn_advance::{self, PsnAdvance};
use crate::psn_answer::{self, PsnAnswer, VerdictFlowSrc};
use crate::psn_stages::{written_by, CompareReg, DecideReg, Decision, Forwarding, Held, WaitReg};
use crate::token_kind::row_of;
use crate::tracked::{is_at, is_packet_of, tracked, Tracked};
use crate::verdict::{
    drops_silently, is_reason, judge_mrc, judge_rc, judge_token, moves_qp_to_error, Verdict,
};
use crate::window_row::{is_live, laps_beside, ring_word, word_address};

/// Cycles from `in_` to `out`.
pub const LATENCY: usize = 4 + psn_advance::LATENCY + psn_answer::LATENCY;

/// Cycles from a token to the write of its queue pair's expected PSN. A token that comes at least this many cycles later reads the new value; an
/// earlier token may read the old one.
pub const SPACING: usize = 3 + psn_advance::LATENCY;
/// Cycles between two RC packets of one queue pair: they change only the error state, which is forwarded.
pub const RC_SPACING: usize = 1;

const _: () = assert!(window(RECEIVE_RING_BITS) == RECEIVE_WINDOW);

/// Packets of the window with a ring of 2^`ring_bits` words: half of the ring, because a window may begin in the middle of a word and then has packets of one
/// word more, and every word of it needs a place of its own. Two MRC data packets of one queue pair may follow closer than [`SPACING`] only if their PSNs differ by less than this.
pub const fn window(ring_bits: usize) -> u32 {
    64 << (ring_bits - 1)
}

/// Decides about every token, keeps the receive windows, and requests acknowledgements.
///
/// It takes one token per cycle. Two MRC data packets of one queue pair may come in consecutive cycles if their PSNs are less than a window apart. Two
/// RC packets of one queue pair always may. Other tokens of one queue pair are at least [`SPACING`] cycles apart. A token that writes a queue pair's context
/// carries that context in `qp` (from `qp_fetch`) and initialises its window. No token comes in the cycle after a probe: the word memory is read a second
/// time, for the word of the expected PSN.
///
/// The expected PSN that a packet is compared with may be stale: packets of the same queue pair that are still in the pipeline may have
/// advanced it. The error state and the packet's word are forwarded, and never stale. The verdict is the same with the stale value, for two reasons. If the
/// packet is a duplicate of one in the pipeline, its bit is already set in the word. And the packet that advanced the expected PSN had the stale value as its
/// PSN. It is less than a window away from this packet, so this packet is not beyond the window of either value.
///
/// Stages, with levels planned:
/// * `lookup` (cycle t): read expected PSN, laps and word; compare with the tokens before: 3.
/// * `wait` (t + 1): the word memory has a latency of two cycles. Begin to select the lap of the word 2, behind a block RAM; for a probe, read the other word, and the laps again.
/// * `compare` (t + 2): compare the PSN with the word of the expected PSN; select the bit and the word of the packet. 6 (word
///   forwarded 2, bit 3, gate 1). Select the lap 2. For a probe, begin to select the lap of the other word.
/// * `decide` (t + 3): verdict 8 (PSN against the expected PSN in its word 2, choice 1, verdict 5); forwarded word 2.
/// * `write_back` (t + 4): write error state and word, and forward the word to the four packets behind, the error state to two of them. 2.
/// * `advance` (t + 4 to t + 8): in [`PsnAdvance`].
/// * `answer` (t + 9): in [`PsnAnswer`].
///
/// `QP_BITS` is the log2 of the number of queue pairs, at most [`QPN_BITS`]. A queue pair has a ring of `RING` = 2^`RING_BITS` words of 64 packets; its window is half of
/// that: 256 packets with `RING_BITS` of 3, up to 4,096 with 7. `WORD_BITS` is the log2 of the words of all rings, `QP_BITS` + `RING_BITS`.
#[derive(LogicBlock, Default)]
pub struct PsnTrack<
    const QP_BITS: usize = 10,
    const RING_BITS: usize = RECEIVE_RING_BITS,
    const RING: usize = RECEIVE_RING,
    const WORD_BITS: usize = { 10 + RECEIVE_RING_BITS },
> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    /// From `emtt_lookup`.
    pub in_: TokenFlowSnk<TranslatedToken>,
    pub out: VerdictFlowSrc,
    /// One for every packet that is accepted or acknowledged, in the cycle of its `out`.
    pub outcome: FlowSrc<RxOutcome>,
    /// What is counted for a queue pair, in the cycle of `out`.
    pub qp_count: FlowSrc<ReceiveCount>,

    /// The queue pair accepts no more packets until its context is written again.
    errors: BypassRam<Bit, QP_BITS>,
    /// The rings: address is queue pair, word of the ring.
    words: UltraRam<Bits<64>, WORD_BITS>,
    looked_up_valid: DFF<Bit>,
    looked_up: DFF<Tracked>,
    forwarding: DFF<Forwarding>,
    held: DFF<Held>,
    waited_valid: DFF<Bit>,
    waited: DFF<WaitReg>,
    compared_valid: DFF<Bit>,
    compared: DFF<CompareReg>,
    decided_valid: DFF<Bit>,
    decided: DFF<DecideReg>,
    advance: PsnAdvance<QP_BITS, RING_BITS, RING, WORD_BITS>,
    answer: PsnAnswer,
}

impl<const QP_BITS: usize, const RING_BITS: usize, const RING: usize, const WORD_BITS: usize>
    Parameters for PsnTrack<QP_BITS, RING_BITS, RING, WORD_BITS>
{
    fn check() {
        assert!(
            (1..=QPN_BITS).contains(&QP_BITS)
                && (3..=7).contains(&RING_BITS)
                && RING == 1 << RING_BITS
                && WORD_BITS == QP_BITS + RING_BITS,
            "PsnTrack<{QP_BITS}, {RING_BITS}, {RING}, {WORD_BITS}>: give QP_BITS of 1 to {QPN_BITS}, RING_BITS of 3 to 7, RING = 2^RING_BITS and WORD_BITS = \
             QP_BITS + RING_BITS"
        );
    }
}

impl<const QP_BITS: usize, const RING_BITS: usize, const RING: usize, const WORD_BITS: usize> Logic
    for PsnTrack<QP_BITS, RING_BITS, RING, WORD_BITS>
{
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, looked_up_valid, looked_up, forwarding, held);
        dff_setup!(self, clock, waited_valid, waited, compared_valid, compared);
        dff_setup!(self, clock, decided_valid, decided);
        clock!(self, clock, errors, words, advance, answer);

        // forward: the values that the packet in `write_back` writes are forwarded to the packets behind it.
        let decided = self.decided.q.val();
        let decision = decided.decision;
        let written = written_by(decided);
        let writes_word = self.decided_valid.q.val() & written.in_ring;

        // lookup
        let token = self.in_.token.val();
        let headers = token.token.headers;
        let row = row_of::<QP_BITS>(token.token);
        let word = ring_word::<RING_BITS>(headers.psn);
        let previous = self.looked_up.q.val();
        let before_previous = self.waited.q.val().tracked;
        // The cycle after a probe belongs to its second word, that of the expected PSN, and to the lap of that word.
        let probing = self.looked_up_valid.q.val() & previous.probe;
        let epsn_read = self.advance.epsn.val();
        let epsn_word = ring_word::<RING_BITS>(epsn_read);
        let read_row = if probing { previous.row } else { row };
        let read_word = if probing { epsn_word } else { word };
        self.advance.read_row.next = read_row.get_bits::<QP_BITS>(0);
        self.words.read_address.next = word_address::<RING_BITS, WORD_BITS>(read_row, read_word);
        self.forwarding.d.next = Forwarding {
            same_qp_1: self.looked_up_valid.q.val() & is_packet_of(previous, row),
            same_word_1: ring_word::<RING_BITS>(previous.psn) == word,
            same_bit_1: previous.psn.get_bits::<6>(0) == headers.psn.get_bits::<6>(0),
            same_qp_2: self.waited_valid.q.val() & is_packet_of(before_previous, row),
            same_word_2: ring_word::<RING_BITS>(before_previous.psn) == word,
        };
        // The memory does not show what is written while it is read.
        self.held.d.next = Held {
            is: writes_word & is_at::<RING_BITS>(decision.tracked, row, word),
            word: written.word,
        };
        self.looked_up_valid.d.next = self.in_.valid.val();
        self.looked_up.d.next = tracked::<QP_BITS>(token);

        // wait
        let held = self.held.q.val();
        let own_word = ring_word::<RING_BITS>(previous.psn);
        let holds = writes_word & is_at::<RING_BITS>(decision.tracked, previous.row, own_word);
        self.errors.read_address.next = previous.row.get_bits::<QP_BITS>(0);
        self.waited_valid.d.next = self.looked_up_valid.q.val();
        self.waited.d.next = WaitReg {
            tracked: previous,
            forwarding: self.forwarding.q.val(),
            epsn: epsn_read,
            held: Held {
                is: holds | held.is,
                word: if holds { written.word } else { held.word },
            },
            laps: laps_beside::<RING_BITS, RING>(self.advance.laps.val(), own_word),
        };

        // compare
        let waited = self.waited.q.val();
        let tracked = waited.tracked;
        let forwarding = waited.forwarding;
        let held = waited.held;
        let error = if forwarding.same_qp_2 {
            written.error
        } else {
            self.errors.read_data.val()
        };
        let live_word = if is_live::<RING_BITS>(waited.laps, tracked.psn) {
            self.words.read_data.val()
        } else {
            bits::<64>(0)
        };
        let forwards = forwarding.same_qp_2 & forwarding.same_word_2 & written.in_ring;
        let word_before = if forwards {
            written.word
        } else if held.is {
            held.word
        } else {
            live_word
        };
        let psn = tracked.psn;
        let epsn_word = waited.epsn.get_bits::<18>(6);
        let psn_bit = psn.get_bits::<6>(0);
        let in_epsn_word = psn.get_bits::<18>(6) == epsn_word;
        let in_opposite_word = is_opposite(psn.get_bits::<18>(6), epsn_word);
        // Of a probe: the laps have been read again.
        let epsn_ring_word = ring_word::<RING_BITS>(waited.epsn);
        let below_epsn = !(Bits::<64>::mask() << waited.epsn.get_bits::<6>(0));
        let implied_word = if in_epsn_word {
            below_epsn
        } else {
            bits::<64>(0)
        };
        self.compared_valid.d.next = self.waited_valid.q.val();
        self.compared.d.next = CompareReg {
            tracked,
            forwarding,
            error,
            epsn: waited.epsn,
            distance: distance(
                psn.get_bits::<18>(6) - epsn_word,
                in_epsn_word,
                in_opposite_word,
                RING_BITS - 1,
            ),
            received: word_before.get_bit(psn_bit.index()),
            in_epsn_word,
            in_opposite_word,
            word: if tracked.probe {
                below_epsn
            } else {
                word_before | implied_word | (bits::<64>(1) << psn_bit)
            },
            epsn_laps: laps_beside::<RING_BITS, RING>(self.advance.laps.val(), epsn_ring_word),
        };

        // decide
        let compared = self.compared.q.val();
        let tracked = compared.tracked;
        let forwarding = compared.forwarding;
        let word_forwarded = forwarding.same_qp_1 & written.in_ring & forwarding.same_word_1;
        let error = if forwarding.same_qp_1 {
            written.error
        } else {
            compared.error
        };
        let received = compared.received | word_forwarded & forwarding.same_bit_1;
        let invalid = is_reason(tracked.reason);
        let no_access = is_reason(tracked.access_reason);
        let rc_verdict = judge_rc(tracked.rc_class, invalid, no_access);
        let below = tracked.psn.get_bits::<6>(0) < compared.epsn.get_bits::<6>(0);
        let place = place_of(compared.distance, below);
        let behind = place.behind & !tracked.probe;
        let mrc_verdict = judge_mrc(
            behind | received & !place.outside,
            place.outside,
            invalid,
            tracked.access_reason,
        );
        let silent_drop = tracked.bad_frame | drops_silently(tracked.reason);
        let own_verdict = if tracked.probe {
            Verdict::Probe
        } else if tracked.mrc {
            mrc_verdict
        } else {
            rc_verdict
        };
        let verdict = judge_token(tracked.kind, silent_drop, error, own_verdict);
        // The forwarded word of the packet before, or the second read of a probe.
        let other_word = if tracked.probe {
            self.words.read_data.val()
        } else {
            written.word
        };
        let adds_word = if tracked.probe {
            is_live::<RING_BITS>(compared.epsn_laps, compared.epsn)
        } else {
            word_forwarded
        };
        let word = if adds_word {
            compared.word | other_word
        } else {
            compared.word
        };
        self.decided_valid.d.next = self.compared_valid.q.val();
        self.decided.d.next = DecideReg {
            decision: Decision {
                tracked,
                verdict,
                epsn: compared.epsn,
                behind,
                in_epsn_word: compared.in_epsn_word,
                in_opposite_word: compared.in_opposite_word,
                word,
            },
            error,
        };

        // write_back
        let writes_qp = decision.tracked.writes_qp;
        self.errors.write_enable.next =
            self.decided_valid.q.val() & (writes_qp | moves_qp_to_error(decision.verdict));
        self.errors.write_address.next = decision.tracked.row.get_bits::<QP_BITS>(0);
        self.errors.write_data.next = !writes_qp;
        let own_word = ring_word::<RING_BITS>(decision.tracked.psn);
        self.words.write_enable.next = writes_word;
        self.words.write_address.next =
            word_address::<RING_BITS, WORD_BITS>(decision.tracked.row, own_word);
        self.words.write_data.next = written.word;

        // advance
        self.advance.in_decided.next = decided;
        join!(
            self,
            decided_valid.q => advance.in_valid,

            // answer
            advance.out_valid => answer.in_valid,
            advance.out_decision => answer.in_decision,
            answer.out => out,
            answer.outcome => outcome,
            answer.qp_count => qp_count,
        );
    }
}
