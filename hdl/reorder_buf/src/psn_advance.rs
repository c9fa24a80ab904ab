//! The later stages of `psn_track`: they compute the expected PSN after a packet.

use hdl_macros::hdl;
use hdl_primitives::ram::BypassRam;
use hdl_primitives::trailing_ones::trailing_ones;
use rust_hdl::prelude::*;

use crate::psn_stages::{Counted, Judged, Noted, Ran, Settled};
use crate::verdict::Verdict;
use crate::window_advance::{full_words, turn_down};
use crate::window_row::{live_words, of_words, prefix_of, with_prefix, Prefixes};

/// Clocks from `in_valid` to `out_valid`.
pub const LATENCY: usize = 4;

/// Stores the expected PSNs, and how many bits from bit 0 up are set in each word of the rings.
///
/// It accepts one token per cycle, also of one queue pair. The expected PSN of a token may be stale, because earlier packets are still in
/// these stages. But the ring already contains their bits, and the expected PSN advances over all of them. So the value written last is
/// correct after every packet.
///
/// Stages, with levels planned:
/// * `count` (clock t): prefix of the packet's word 6; live words 3; ask for the prefixes of the queue pair.
/// * `note` (t + 1): insert the prefix 2, and write it; full words from that of the expected PSN on 4.
/// * `run` (t + 2): full words without a break 3, adder on a carry chain.
/// * `land` (t + 3): prefix of the word after them 3, choice 1; the expected PSN is written.
#[derive(LogicBlock, Default)]
pub struct PsnAdvance<const QP_BITS: usize = 10> {
    pub clock: Signal<In, Clock>,
    // From `psn_track`.
    pub in_valid: Signal<In, Bit>,
    pub in_judged: Signal<In, Judged>,
    /// Wrap bits (laps) of the ring after the packet.
    pub in_laps: Signal<In, Bits<32>>,
    // To `psn_answer`.
    pub out_valid: Signal<Out, Bit>,
    pub out_settled: Signal<Out, Settled>,
    // Expected PSN of a row, one cycle after the request.
    pub read_row: Signal<In, Bits<QP_BITS>>,
    pub epsn: Signal<Out, Bits<24>>,

    prefixes: BypassRam<Prefixes, QP_BITS>,
    expected: BypassRam<Bits<24>, QP_BITS>,
    counted_valid: DFF<Bit>,
    counted: DFF<Counted>,
    noted_valid: DFF<Bit>,
    noted: DFF<Noted>,
    ran_valid: DFF<Bit>,
    ran: DFF<Ran>,
    settled_valid: DFF<Bit>,
    settled: DFF<Settled>,
}

impl<const QP_BITS: usize> Logic for PsnAdvance<QP_BITS> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, counted_valid, counted, noted_valid, noted);
        dff_setup!(self, clock, ran_valid, ran, settled_valid, settled);
        clock!(self, clock, prefixes, expected);

        // count
        let judged = self.in_judged.val();
        self.prefixes.read_address.next = judged.settled.tracked.row.get_bits::<QP_BITS>(0);
        self.counted_valid.d.next = self.in_valid.val();
        self.counted.d.next = Counted {
            settled: judged.settled,
            ring_word: judged.ring_word,
            prefix: trailing_ones(judged.settled.word),
            live: live_words(self.in_laps.val(), judged.settled.epsn),
        };

        // note
        let counted = self.counted.q.val();
        let notes_psn = counted.settled.verdict == Verdict::MrcAccepted;
        let before = self.prefixes.read_data.val();
        let replaced = with_prefix(before, counted.ring_word, counted.prefix);
        let prefixes = if notes_psn { replaced } else { before };
        self.prefixes.write_enable.next = self.counted_valid.q.val() & notes_psn;
        self.prefixes.write_address.next = counted.settled.tracked.row.get_bits::<QP_BITS>(0);
        self.prefixes.write_data.next = prefixes;
        let epsn_word = counted.settled.epsn.get_bits::<5>(6);
        let of_live = of_words(prefixes, counted.live);
        self.noted_valid.d.next = self.counted_valid.q.val();
        self.noted.d.next = Noted {
            settled: counted.settled,
            prefixes: of_live,
            full: turn_down(of_live.plane_6, epsn_word),
            epsn_word_live: counted.live.get_bit(epsn_word.index()),
        };

        // run
        let noted = self.noted.q.val();
        let words = full_words(noted.full);
        self.ran_valid.d.next = self.noted_valid.q.val();
        self.ran.d.next = Ran {
            settled: noted.settled,
            prefixes: noted.prefixes,
            word: noted.settled.epsn.get_bits::<18>(6) + bit_cast::<18, 5>(words),
            stays: !noted.epsn_word_live,
        };

        // land
        let ran = self.ran.q.val();
        let tracked = ran.settled.tracked;
        let prefix = prefix_of(ran.prefixes, ran.word.get_bits::<5>(0));
        let low = if ran.stays {
            ran.settled.epsn.get_bits::<6>(0)
        } else {
            prefix
        };
        let epsn = (bit_cast::<24, 18>(ran.word) << 6) | bit_cast::<24, 6>(low);
        let lands = (ran.settled.verdict == Verdict::MrcAccepted) | tracked.writes_qp;
        self.expected.write_enable.next = self.ran_valid.q.val() & lands;
        self.expected.write_address.next = tracked.row.get_bits::<QP_BITS>(0);
        self.expected.write_data.next = if tracked.writes_qp {
            tracked.initial_psn
        } else {
            epsn
        };
        let mut settled = ran.settled;
        settled.epsn = epsn;
        self.settled_valid.d.next = self.ran_valid.q.val();
        self.settled.d.next = settled;
        self.out_valid.next = self.settled_valid.q.val();
        self.out_settled.next = self.settled.q.val();

        // Expected PSN for a token that enters `psn_track`.
        self.expected.read_address.next = self.read_row.val();
        self.epsn.next = self.expected.read_data.val();
    }
}
