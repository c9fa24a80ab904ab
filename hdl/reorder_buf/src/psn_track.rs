//! MRC window of 1,024 packets in any order, queue pair error state, and the final decision about every token.

use hdl_macros::{hdl, join};
use hdl_primitives::{BypassRam, FlowSrc, TokenFlowSnk};
use rust_hdl::prelude::*;
use stellar_wire::hw::core::{TokenKind, TranslatedToken};
use stellar_wire::hw::receive::{ReceiveCount, RxOutcome};

use crate::distance::{distance, place_of};
use crate::psn_advance::{self, PsnAdvance};
use crate::psn_answer::{self, PsnAnswer, VerdictFlowSrc};
use crate::psn_stages::{written_by, CompareReg, DecideReg, Decision, Forwarding};
use crate::token_kind::row_of;
use crate::tracked::{is_packet_of, same_word, tracked, Tracked};
use crate::verdict::{drops_silently, is_reason, judge_mrc, judge_rc, moves_qp_to_error, Verdict};
use crate::window_row::{wrap_bits_of_empty_ring, WindowFlags};

/// Cycles from `in_` to `out`.
pub const LATENCY: usize = 3 + psn_advance::LATENCY + psn_answer::LATENCY;

/// Cycles from a token to the write of its queue pair's expected PSN. A token that comes at least this many cycles later reads the new value; an
/// earlier token may read the old one.
pub const SPACING: usize = 2 + psn_advance::LATENCY;
/// Cycles between two RC packets of one queue pair: they change only the flags, which are forwarded.
pub const RC_SPACING: usize = 1;
/// Two MRC data packets of one queue pair may follow closer than [`SPACING`] only if their PSNs differ by less than this.
pub const NEAR: u32 = 1024;

/// Decides about every token, keeps the receive windows, and requests acknowledgements.
///
/// It takes one token per cycle. Two MRC data packets of one queue pair may come in consecutive cycles if their PSNs are less than [`NEAR`] apart. Two
/// RC packets of one queue pair always may. Other tokens of one queue pair are at least [`SPACING`] cycles apart. A token that writes a queue pair's context
/// carries that context in `qp` (from `qp_fetch`) and initialises its window. No token comes in the cycle after a probe: the word memory is read a second
/// time, for the word of the expected PSN.
///
/// The expected PSN that a packet is compared with may be stale: packets of the same queue pair that are still in the pipeline may have
/// advanced it. Flags and bitmap word are forwarded, and never stale. The verdict is the same with the stale value, for two reasons. If the packet is a
/// duplicate of one in the pipeline, its bit is already set in the word. And the packet that advanced the expected PSN had the stale value as its
/// PSN. It is less than [`NEAR`] away from this packet, so this packet is not beyond the window of either value.
///
/// Stages, with levels planned:
/// * `lookup` (cycle t): read expected PSN, flags and word; compare with the two tokens before: 3.
/// * `compare` (t + 1): for a probe, read the other word; compare the PSN with the word of the expected PSN; select the bit and the word of the packet. 6 (word
///   forwarded 2, bit 3, gate 1).
/// * `decide` (t + 2): verdict 8 (PSN against the expected PSN in its word 2, choice 1, verdict 5); forwarded word 2.
/// * `write_back` (t + 3): write flags and word, and forward them to the two packets behind. 2.
/// * `advance` (t + 3 to t + 6): in [`PsnAdvance`].
/// * `answer` (t + 7): in [`PsnAnswer`].
///
/// `QP_BITS` is the log2 of the number of queue pairs, at most 10; `WORD_BITS` that of the words of all rings, `QP_BITS + 5`.
#[derive(LogicBlock, Default)]
pub struct PsnTrack<const QP_BITS: usize = 10, const WORD_BITS: usize = 15> {
    pub clock: Signal<In, Clock>,
    /// From `emtt_lookup`.
    pub in_: TokenFlowSnk<TranslatedToken>,
    pub out: VerdictFlowSrc,
    /// One for every packet that is accepted or acknowledged, in the cycle of its `out`.
    pub outcome: FlowSrc<RxOutcome>,
    /// What is counted for a queue pair, in the cycle of `out`.
    pub qp_count: FlowSrc<ReceiveCount>,

    flags: BypassRam<WindowFlags, QP_BITS>,
    /// 32 words of each queue pair: address is queue pair, `psn[10:6]`.
    words: BypassRam<Bits<64>, WORD_BITS>,
    looked_up_valid: DFF<Bit>,
    looked_up: DFF<Tracked>,
    forwarding: DFF<Forwarding>,
    compared_valid: DFF<Bit>,
    compared: DFF<CompareReg>,
    decided_valid: DFF<Bit>,
    decided: DFF<DecideReg>,
    advance: PsnAdvance<QP_BITS>,
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
        dff_setup!(self, clock, looked_up_valid, looked_up, forwarding);
        dff_setup!(
            self,
            clock,
            compared_valid,
            compared,
            decided_valid,
            decided
        );
        clock!(self, clock, flags, words, advance, answer);

        // forward: the values that the packet in `write_back` writes are forwarded to the two packets behind it.
        let decided = self.decided.q.val();
        let decision = decided.decision;
        let written = written_by(decided);

        // lookup
        let token = self.in_.token.val();
        let headers = token.token.headers;
        let row = row_of(token.token);
        self.flags.read_address.next = row.get_bits::<QP_BITS>(0);
        self.advance.read_row.next = row.get_bits::<QP_BITS>(0);
        let previous = self.looked_up.q.val();
        let before_previous = self.compared.q.val().tracked;
        // The cycle after a probe belongs to its second word, that of the expected PSN.
        let probing = self.looked_up_valid.q.val() & previous.probe;
        let epsn_read = self.advance.epsn.val();
        let word_row = if probing { previous.row } else { row };
        let word_of_ring = if probing {
            epsn_read.get_bits::<5>(6)
        } else {
            headers.psn.get_bits::<5>(6)
        };
        self.words.read_address.next = (bit_cast::<WORD_BITS, 10>(word_row)
            << ring_shift(QP_BITS, WORD_BITS))
            | bit_cast::<WORD_BITS, 5>(word_of_ring);
        self.forwarding.d.next = Forwarding {
            same_qp_1: self.looked_up_valid.q.val() & is_packet_of(previous, row),
            same_word_1: same_word(previous.psn, headers.psn),
            same_bit_1: previous.psn.get_bits::<6>(0) == headers.psn.get_bits::<6>(0),
            same_qp_2: self.compared_valid.q.val() & is_packet_of(before_previous, row),
            same_word_2: same_word(before_previous.psn, headers.psn),
        };
        self.looked_up_valid.d.next = self.in_.valid.val();
        self.looked_up.d.next = tracked(token);

        // compare
        let tracked = self.looked_up.q.val();
        let forwarding = self.forwarding.q.val();
        let flags = if forwarding.same_qp_2 {
            written.flags
        } else {
            self.flags.read_data.val()
        };
        let word_read = if forwarding.same_qp_2 & forwarding.same_word_2 & written.in_ring {
            written.word
        } else {
            self.words.read_data.val()
        };
        let psn = tracked.psn;
        let epsn_word = epsn_read.get_bits::<18>(6);
        let psn_bit = psn.get_bits::<6>(0);
        let live = flags.wrap_bits.get_bit(psn.get_bits::<5>(6).index()) == psn.get_bit(11);
        let same_half = psn.get_bit(23) == epsn_word.get_bit(17);
        let same_place = psn.get_bits::<17>(6) == epsn_word.get_bits::<17>(0);
        let in_epsn_word = same_half & same_place;
        let in_opposite_word = same_place & !same_half;
        let below_epsn = !(Bits::<64>::mask() << epsn_read.get_bits::<6>(0));
        let live_word = if live { word_read } else { bits::<64>(0) };
        let implied_word = if in_epsn_word {
            below_epsn
        } else {
            bits::<64>(0)
        };
        self.compared_valid.d.next = self.looked_up_valid.q.val();
        self.compared.d.next = CompareReg {
            tracked,
            forwarding,
            flags,
            epsn: epsn_read,
            distance: distance(
                psn.get_bits::<18>(6) - epsn_word,
                in_epsn_word,
                in_opposite_word,
            ),
            received: live & word_read.get_bit(psn_bit.index()),
            in_epsn_word,
            in_opposite_word,
            word: if tracked.probe {
                below_epsn
            } else {
                live_word | implied_word | (bits::<64>(1) << psn_bit)
            },
            epsn_word_live: flags.wrap_bits.get_bit(epsn_word.get_bits::<5>(0).index())
                == epsn_read.get_bit(11),
        };

        // decide
        let compared = self.compared.q.val();
        let tracked = compared.tracked;
        let forwarding = compared.forwarding;
        let word_forwarded = forwarding.same_qp_1 & written.in_ring & forwarding.same_word_1;
        let flags = if forwarding.same_qp_1 {
            written.flags
        } else {
            compared.flags
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
        let verdict = if tracked.kind != TokenKind::Packet {
            Verdict::NotAPacket
        } else if silent_drop {
            Verdict::Refused
        } else if flags.error {
            Verdict::InError
        } else if tracked.probe {
            Verdict::Probe
        } else if tracked.mrc {
            mrc_verdict
        } else {
            rc_verdict
        };
        // The forwarded word of the packet before, or the second read of a probe.
        let other_word = if tracked.probe {
            self.words.read_data.val()
        } else {
            written.word
        };
        let adds_word = if tracked.probe {
            compared.epsn_word_live
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
            flags,
            ring_word: bits::<32>(1) << tracked.psn.get_bits::<5>(6),
        };

        // write_back
        let fresh = WindowFlags {
            error: false,
            wrap_bits: wrap_bits_of_empty_ring(decision.tracked.initial_psn),
        };
        let writes_qp = decision.tracked.writes_qp;
        self.flags.write_enable.next = self.decided_valid.q.val()
            & (writes_qp | written.in_ring | moves_qp_to_error(decision.verdict));
        self.flags.write_address.next = decision.tracked.row.get_bits::<QP_BITS>(0);
        self.flags.write_data.next = if writes_qp { fresh } else { written.flags };
        self.words.write_enable.next = self.decided_valid.q.val() & written.in_ring;
        self.words.write_address.next = (bit_cast::<WORD_BITS, 10>(decision.tracked.row)
            << ring_shift(QP_BITS, WORD_BITS))
            | bit_cast::<WORD_BITS, 5>(decision.tracked.psn.get_bits::<5>(6));
        self.words.write_data.next = written.word;

        // advance
        self.advance.in_decided.next = decided;
        self.advance.in_wrap_bits.next = written.flags.wrap_bits;
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
