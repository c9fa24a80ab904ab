//! The later stages of `psn_track`: they compute the expected PSN after a packet.

use hdl_macros::hdl;
use hdl_primitives::ram::BypassRam;
use hdl_primitives::trailing_ones::trailing_ones;
use rust_hdl::prelude::*;
use stellar_wire::hw::Psn;

use crate::psn_stages::{DecideReg, Decision, EpsnWordReg, PrefixReg, RingReg};
use crate::verdict::Verdict;
use crate::window_advance::{full_words, turn_down};
use crate::window_row::{live_words, of_words, prefix_of, with_prefix, Prefixes};

/// Cycles from `in_valid` to `out_valid`.
pub const LATENCY: usize = 4;

/// Stores the expected PSNs, and how many bits from bit 0 up are set in each word of the rings.
///
/// It accepts one token per cycle, also of one queue pair. The expected PSN of a token may be stale, because earlier packets are still in
/// these stages. But the ring already contains their bits, and the expected PSN advances over all of them. So the value written last is
/// correct after every packet.
///
/// Stages, with levels planned:
/// * `count_prefix` (cycle t): prefix of the packet's word 6; live words 3; read the prefixes of the queue pair.
/// * `update_ring` (t + 1): insert the prefix 2, and write it; full words from that of the expected PSN on 4.
/// * `find_word` (t + 2): full words without a break 3, adder on a carry chain.
/// * `commit_epsn` (t + 3): prefix of the word after them 3, choice 1; the expected PSN is written.
#[derive(LogicBlock, Default)]
pub struct PsnAdvance<const QP_BITS: usize = 10> {
    pub clock: Signal<In, Clock>,
    // From `psn_track`.
    pub in_valid: Signal<In, Bit>,
    pub in_decided: Signal<In, DecideReg>,
    /// Wrap bits of the ring after the packet.
    pub in_wrap_bits: Signal<In, Bits<32>>,
    // To `psn_answer`.
    pub out_valid: Signal<Out, Bit>,
    pub out_decision: Signal<Out, Decision>,
    // Expected PSN of a row, one cycle after the request.
    pub read_row: Signal<In, Bits<QP_BITS>>,
    pub epsn: Signal<Out, Psn>,

    prefixes: BypassRam<Prefixes, QP_BITS>,
    expected: BypassRam<Psn, QP_BITS>,
    counted_valid: DFF<Bit>,
    counted: DFF<PrefixReg>,
    updated_valid: DFF<Bit>,
    updated: DFF<RingReg>,
    located_valid: DFF<Bit>,
    located: DFF<EpsnWordReg>,
    committed_valid: DFF<Bit>,
    committed: DFF<Decision>,
}

impl<const QP_BITS: usize> Logic for PsnAdvance<QP_BITS> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, counted_valid, counted, updated_valid, updated);
        dff_setup!(
            self,
            clock,
            located_valid,
            located,
            committed_valid,
            committed
        );
        clock!(self, clock, prefixes, expected);

        // count_prefix
        let decided = self.in_decided.val();
        self.prefixes.read_address.next = decided.decision.tracked.row.get_bits::<QP_BITS>(0);
        self.counted_valid.d.next = self.in_valid.val();
        self.counted.d.next = PrefixReg {
            decision: decided.decision,
            ring_word: decided.ring_word,
            prefix: trailing_ones(decided.decision.word),
            live: live_words(self.in_wrap_bits.val(), decided.decision.epsn),
        };

        // update_ring
        let counted = self.counted.q.val();
        let in_ring = counted.decision.verdict == Verdict::MrcAccepted;
        let before = self.prefixes.read_data.val();
        let replaced = with_prefix(before, counted.ring_word, counted.prefix);
        let prefixes = if in_ring { replaced } else { before };
        self.prefixes.write_enable.next = self.counted_valid.q.val() & in_ring;
        self.prefixes.write_address.next = counted.decision.tracked.row.get_bits::<QP_BITS>(0);
        self.prefixes.write_data.next = prefixes;
        let epsn_word = counted.decision.epsn.get_bits::<5>(6);
        let of_live = of_words(prefixes, counted.live);
        self.updated_valid.d.next = self.counted_valid.q.val();
        self.updated.d.next = RingReg {
            decision: counted.decision,
            prefixes: of_live,
            full: turn_down(of_live.plane_6, epsn_word),
            epsn_word_live: counted.live.get_bit(epsn_word.index()),
        };

        // find_word
        let updated = self.updated.q.val();
        let words = full_words(updated.full);
        self.located_valid.d.next = self.updated_valid.q.val();
        self.located.d.next = EpsnWordReg {
            decision: updated.decision,
            prefixes: updated.prefixes,
            word: updated.decision.epsn.get_bits::<18>(6) + bit_cast::<18, 5>(words),
            stays: !updated.epsn_word_live,
        };

        // commit_epsn
        let located = self.located.q.val();
        let tracked = located.decision.tracked;
        let prefix = prefix_of(located.prefixes, located.word.get_bits::<5>(0));
        let low = if located.stays {
            located.decision.epsn.get_bits::<6>(0)
        } else {
            prefix
        };
        let epsn = (bit_cast::<24, 18>(located.word) << 6) | bit_cast::<24, 6>(low);
        let moves = (located.decision.verdict == Verdict::MrcAccepted) | tracked.writes_qp;
        self.expected.write_enable.next = self.located_valid.q.val() & moves;
        self.expected.write_address.next = tracked.row.get_bits::<QP_BITS>(0);
        self.expected.write_data.next = if tracked.writes_qp {
            tracked.initial_psn
        } else {
            epsn
        };
        let mut decision = located.decision;
        decision.epsn = epsn;
        self.committed_valid.d.next = self.located_valid.q.val();
        self.committed.d.next = decision;
        self.out_valid.next = self.committed_valid.q.val();
        self.out_decision.next = self.committed.q.val();

        // Expected PSN for a token that enters `psn_track`.
        self.expected.read_address.next = self.read_row.val();
        self.epsn.next = self.expected.read_data.val();
    }
}
