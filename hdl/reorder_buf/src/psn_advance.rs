//! The later stages of `psn_track`: they compute the expected PSN after a packet.

use hdl_macros::hdl;
use hdl_primitives::ram::BypassRam;
use hdl_primitives::trailing_ones::trailing_ones;
use rust_hdl::prelude::*;
use stellar_wire::hw::Psn;

use crate::psn_stages::{DecideReg, Decision, EpsnWordReg, PrefixReg};
use crate::verdict::Verdict;
use crate::window_advance::{first_open, from_half, place_in_half};
use crate::window_row::{lap_of, laps_of_window, ring_word, with_bit, word_address};

/// Cycles from `in_valid` to `out_valid`.
pub const LATENCY: usize = 5;

/// Stores the expected PSNs, which words of the rings are live and full, and how many bits from bit 0 up are set in each word.
///
/// It accepts one token per cycle, also of one queue pair. The expected PSN of a token may be stale, because earlier packets are still in
/// these stages. But the ring already contains their bits, and the expected PSN advances over all of them. So the value written last is
/// correct after every packet.
///
/// A prefix is written in the stage that reads one, so a packet sees those of the packets before it and of none behind it.
///
/// Stages, with levels planned:
/// * `count_prefix` (cycle t): prefix of the packet's word 6; laps of the window 2; read the rows of the queue pair.
/// * `update_ring` (t + 1): behind block RAMs. Insert the packet's lap and whether its word is full 1, and write them; which words are full and live 1; turn the ring to the half of the expected PSN 1.
/// * `find_word` (t + 2): the first word from there that is not full 7, adder on a carry chain.
/// * `read_prefix` (t + 3): write the prefix of the packet's word, read that of the word found; is that word live 5.
/// * `commit_epsn` (t + 4): choice 2; the expected PSN is written.
#[derive(LogicBlock, Default)]
pub struct PsnAdvance<
    const QP_BITS: usize = 10,
    const RING_BITS: usize = 7,
    const RING: usize = 128,
    const WORD_BITS: usize = 17,
> {
    pub clock: Signal<In, Clock>,
    // From `psn_track`.
    pub in_valid: Signal<In, Bit>,
    pub in_decided: Signal<In, DecideReg>,
    // To `psn_answer`.
    pub out_valid: Signal<Out, Bit>,
    pub out_decision: Signal<Out, Decision>,
    // Expected PSN and laps of a row, one cycle after the request.
    pub read_row: Signal<In, Bits<QP_BITS>>,
    pub epsn: Signal<Out, Psn>,
    pub laps: Signal<Out, Bits<RING>>,

    expected: BypassRam<Psn, QP_BITS>,
    /// Laps, for tokens that enter `psn_track`.
    laps_to_read: BypassRam<Bits<RING>, QP_BITS>,
    /// The same, for packets that change them.
    laps_to_change: BypassRam<Bits<RING>, QP_BITS>,
    /// Words all of whose packets were received on their lap.
    full: BypassRam<Bits<RING>, QP_BITS>,
    /// For each word that is not full, its number of ones from bit 0 up.
    prefixes: BypassRam<Bits<6>, WORD_BITS>,
    counted_valid: DFF<Bit>,
    counted: DFF<PrefixReg>,
    /// One-hot: the word that the packet enters; 0 if it enters none.
    entered: DFF<Bits<RING>>,
    window_laps: DFF<Bits<RING>>,
    updated_valid: DFF<Bit>,
    updated: DFF<PrefixReg>,
    updated_live: DFF<Bits<RING>>,
    /// Full words, from the half of the ring on that has the word of the expected PSN; those below that word are set.
    updated_full: DFF<Bits<RING>>,
    located_valid: DFF<Bit>,
    located: DFF<EpsnWordReg>,
    located_live: DFF<Bits<RING>>,
    asked_valid: DFF<Bit>,
    asked: DFF<EpsnWordReg>,
    committed_valid: DFF<Bit>,
    committed: DFF<Decision>,
}

impl<const QP_BITS: usize, const RING_BITS: usize, const RING: usize, const WORD_BITS: usize> Logic
    for PsnAdvance<QP_BITS, RING_BITS, RING, WORD_BITS>
{
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, counted_valid, counted, entered, window_laps);
        dff_setup!(
            self,
            clock,
            updated_valid,
            updated,
            updated_live,
            updated_full
        );
        dff_setup!(self, clock, located_valid, located, located_live);
        dff_setup!(self, clock, asked_valid, asked, committed_valid, committed);
        clock!(
            self,
            clock,
            expected,
            laps_to_read,
            laps_to_change,
            full,
            prefixes
        );

        // count_prefix
        let decided = self.in_decided.val().decision;
        let deciding = decided.tracked;
        let enters = decided.verdict == Verdict::MrcAccepted;
        let row = deciding.row.get_bits::<QP_BITS>(0);
        self.laps_to_change.read_address.next = row;
        self.full.read_address.next = row;
        self.counted_valid.d.next = self.in_valid.val();
        self.counted.d.next = PrefixReg {
            decision: decided,
            prefix: trailing_ones(decided.word),
        };
        let entered = bits::<RING>(1) << ring_word::<RING_BITS>(deciding.psn);
        self.entered.d.next = if enters { entered } else { bits::<RING>(0) };
        let first = if deciding.writes_qp {
            deciding.initial_psn
        } else {
            decided.epsn
        };
        self.window_laps.d.next = laps_of_window::<RING_BITS, RING>(first);

        // update_ring
        let counted = self.counted.q.val();
        let tracked = counted.decision.tracked;
        let in_ring = counted.decision.verdict == Verdict::MrcAccepted;
        let entered = self.entered.q.val();
        let window_laps = self.window_laps.q.val();
        let laps_before = self.laps_to_change.read_data.val();
        let laps_after = with_bit(laps_before, entered, lap_of::<RING_BITS>(tracked.psn));
        let full_before = self.full.read_data.val();
        let is_full = counted.prefix.get_bit(6);
        let full = with_bit(full_before, entered, is_full);
        // The word that a packet enters is live: an accepted packet lies in the window.
        let live_before = !(laps_before ^ window_laps);
        let live_full = with_bit(full_before & live_before, entered, is_full);
        let row = tracked.row.get_bits::<QP_BITS>(0);
        // No word of a ring that begins is live.
        let laps = if tracked.writes_qp {
            !window_laps
        } else {
            laps_after
        };
        let writes_laps = self.counted_valid.q.val() & (in_ring | tracked.writes_qp);
        self.laps_to_change.write_enable.next = writes_laps;
        self.laps_to_change.write_address.next = row;
        self.laps_to_change.write_data.next = laps;
        self.laps_to_read.write_enable.next = writes_laps;
        self.laps_to_read.write_address.next = row;
        self.laps_to_read.write_data.next = laps;
        self.full.write_enable.next = self.counted_valid.q.val() & in_ring;
        self.full.write_address.next = row;
        self.full.write_data.next = full;
        self.updated_valid.d.next = self.counted_valid.q.val();
        self.updated.d.next = counted;
        self.updated_live.d.next = live_before | entered;
        self.updated_full.d.next =
            from_half::<RING_BITS, RING>(live_full, ring_word::<RING_BITS>(counted.decision.epsn));

        // find_word
        let updated = self.updated.q.val();
        let place = place_in_half::<RING_BITS>(ring_word::<RING_BITS>(updated.decision.epsn));
        let half = (updated.decision.epsn.get_bits::<18>(6) >> (RING_BITS as u64 - 1))
            << (RING_BITS as u64 - 1);
        self.located_valid.d.next = self.updated_valid.q.val();
        self.located.d.next = EpsnWordReg {
            decision: updated.decision,
            prefix: updated.prefix.get_bits::<6>(0),
            word: half + bit_cast::<18, 7>(first_open::<RING>(self.updated_full.q.val())),
            moves: self.updated_full.q.val().get_bit(place.index()),
            live: false,
        };
        self.located_live.d.next = self.updated_live.q.val();

        // read_prefix
        let mut located = self.located.q.val();
        let tracked = located.decision.tracked;
        let in_ring = located.decision.verdict == Verdict::MrcAccepted;
        let word = located.word.get_bits::<RING_BITS>(0);
        let own_word = ring_word::<RING_BITS>(tracked.psn);
        self.prefixes.read_address.next = word_address::<RING_BITS, WORD_BITS>(tracked.row, word);
        self.prefixes.write_enable.next = self.located_valid.q.val() & in_ring;
        self.prefixes.write_address.next =
            word_address::<RING_BITS, WORD_BITS>(tracked.row, own_word);
        self.prefixes.write_data.next = located.prefix;
        located.live = self.located_live.q.val().get_bit(word.index());
        self.asked_valid.d.next = self.located_valid.q.val();
        self.asked.d.next = located;

        // commit_epsn
        let asked = self.asked.q.val();
        let tracked = asked.decision.tracked;
        let low_before = if asked.moves {
            bits::<6>(0)
        } else {
            asked.decision.epsn.get_bits::<6>(0)
        };
        let low = if asked.live {
            self.prefixes.read_data.val()
        } else {
            low_before
        };
        let epsn = (bit_cast::<24, 18>(asked.word) << 6) | bit_cast::<24, 6>(low);
        let moves = (asked.decision.verdict == Verdict::MrcAccepted) | tracked.writes_qp;
        self.expected.write_enable.next = self.asked_valid.q.val() & moves;
        self.expected.write_address.next = tracked.row.get_bits::<QP_BITS>(0);
        self.expected.write_data.next = if tracked.writes_qp {
            tracked.initial_psn
        } else {
            epsn
        };
        let mut decision = asked.decision;
        decision.epsn = epsn;
        self.committed_valid.d.next = self.asked_valid.q.val();
        self.committed.d.next = decision;
        self.out_valid.next = self.committed_valid.q.val();
        self.out_decision.next = self.committed.q.val();

        // For a token that enters `psn_track`.
        self.expected.read_address.next = self.read_row.val();
        self.epsn.next = self.expected.read_data.val();
        self.laps_to_read.read_address.next = self.read_row.val();
        self.laps.next = self.laps_to_read.read_data.val();
    }
}
