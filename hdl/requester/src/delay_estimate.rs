//! Adds a sample to the estimate of the delays of a queue pair (reference: `Estimate::fold`).

use hdl_macros::hdl;
use rust_hdl::prelude::*;

use crate::deadline::longest_tail;
use crate::records::{DelayState, TAIL_BITS};

/// Cycles from a new state to its results.
pub const FOLD_CYCLES: u64 = 8;
/// Width of the reordering window: 5/4 of 16 bits and [`LEAST_REORDERING`].
pub const REORDERING_BITS: usize = 17;
/// Least reordering window, 256 ns.
const LEAST_REORDERING: u64 = 32;
/// Least step by which the spread grows after a spurious loss, 512 ns.
const LEAST_STEP: u64 = 64;
/// log2 of the part of the distance to a sample by which the longest round trip shrinks; and that after a spurious loss.
const GAIN: u64 = 6;
const WARY_GAIN: u64 = 10;
/// Time that a receiver may take until it acknowledges, 1,024 ns.
const ANSWER_TIME: u64 = 128;

/// Computes the estimate of `state` with its sample, while the window processes a SACK. The results are valid [`FOLD_CYCLES`] cycles after `restart`, as long as
/// `state` stays. One addition or subtraction per cycle. Levels: a carry chain and 2.
#[derive(LogicBlock, Default)]
pub struct DelayEstimate {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    /// `state` changes with the next clock edge.
    pub restart: Signal<In, Bit>,
    pub state: Signal<In, DelayState>,
    /// Timeout of a packet that was sent once, in ticks.
    pub rto: Signal<In, Bits<21>>,

    pub valid: Signal<Out, Bit>,
    pub folded: Signal<Out, DelayState>,
    /// A packet overtakes another one by less than this.
    pub reordering: Signal<Out, Bits<REORDERING_BITS>>,

    age: DFF<Bits<4>>,
    /// Cycle 1: distances of the sample from the longest and the shortest round trip, both of these, and the first longest one.
    over: DFF<Bits<17>>,
    under: DFF<Bits<17>>,
    spread: DFF<Bits<16>>,
    stepped: DFF<Bits<17>>,
    first: DFF<Bits<17>>,
    /// Cycle 2: the longest one after a spurious loss, and after a shorter sample.
    wider: DFF<Bits<18>>,
    decayed: DFF<Bits<16>>,
    /// Cycle 3: the new ones.
    longest: DFF<Bits<16>>,
    shortest: DFF<Bits<16>>,
    /// Cycle 4 to 7.
    new_spread: DFF<Bits<16>>,
    wait: DFF<Bits<17>>,
    window: DFF<Bits<REORDERING_BITS>>,
    wait_answered: DFF<Bits<17>>,
    least_window: DFF<Bits<REORDERING_BITS>>,
    shifted: DFF<Bits<22>>,
    tail: DFF<Bits<TAIL_BITS>>,
}

impl Logic for DelayEstimate {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, age, over, under, spread, stepped, first, wider, decayed);
        dff_setup!(
            self,
            clock,
            longest,
            shortest,
            new_spread,
            wait,
            window,
            wait_answered
        );
        dff_setup!(self, clock, least_window, shifted, tail);
        let state = self.state.val();
        let age = self.age.q.val();
        let valid = age == FOLD_CYCLES;
        self.valid.next = valid;
        if self.restart.val() | self.reset.val() {
            self.age.d.next = bits::<4>(0);
        } else if !valid {
            self.age.d.next = age + 1;
        }

        // 1
        let sample = bit_cast::<17, 16>(state.sample);
        let old_longest = bit_cast::<17, 16>(state.longest);
        self.over.d.next = old_longest - sample;
        self.under.d.next = sample - bit_cast::<17, 16>(state.shortest);
        self.spread.d.next = state.longest - state.shortest;
        self.stepped.d.next = old_longest + LEAST_STEP;
        self.first.d.next = sample + (sample >> 2);

        // 2: a sample that is longer makes `over` negative, or 0.
        let over = self.over.q.val();
        let part = if state.wary {
            over >> WARY_GAIN
        } else {
            over >> GAIN
        };
        let less = part.get_bits::<16>(0);
        self.wider.d.next =
            bit_cast::<18, 17>(self.stepped.q.val()) + bit_cast::<18, 16>(self.spread.q.val());
        self.decayed.d.next = state.longest + !less;

        // 3
        let is_longer = over.get_bit(16) | !over.any();
        let wider = self.wider.q.val();
        let first = self.first.q.val();
        let most = bits::<16>(0xffff);
        self.longest.d.next = if state.spurious {
            if wider.get_bits::<2>(16).any() {
                most
            } else {
                wider.get_bits::<16>(0)
            }
        } else if !state.sampled {
            state.longest
        } else if !state.known {
            if first.get_bit(16) {
                most
            } else {
                first.get_bits::<16>(0)
            }
        } else if is_longer {
            state.sample
        } else {
            self.decayed.q.val()
        };
        let is_shorter = !state.known | self.under.q.val().get_bit(16);
        self.shortest.d.next = if !state.spurious & state.sampled & is_shorter {
            state.sample
        } else {
            state.shortest
        };

        // 4
        let longest = self.longest.q.val();
        self.new_spread.d.next = longest - self.shortest.q.val();
        self.wait.d.next = bit_cast::<17, 16>(longest) + bit_cast::<17, 16>(longest >> 2);

        // 5
        let spread = self.new_spread.q.val();
        self.window.d.next = bit_cast::<17, 16>(spread) + bit_cast::<17, 16>(spread >> 2);
        self.wait_answered.d.next = self.wait.q.val() + ANSWER_TIME;

        // 6
        self.least_window.d.next = self.window.q.val() + LEAST_REORDERING;
        self.shifted.d.next =
            bit_cast::<22, 17>(self.wait_answered.q.val()) << bit_cast::<22, 3>(state.shift);

        // 7
        let known = state.known | (state.sampled & !state.spurious);
        let most_tail = longest_tail(self.rto.val());
        let shifted = self.shifted.q.val();
        self.tail.d.next = if known & (shifted < bit_cast::<22, TAIL_BITS>(most_tail)) {
            shifted.get_bits::<TAIL_BITS>(0)
        } else {
            most_tail
        };

        self.reordering.next = self.least_window.q.val();
        self.folded.next = DelayState {
            known,
            longest,
            shortest: self.shortest.q.val(),
            wary: state.wary | state.spurious,
            sampled: false,
            sample: state.sample,
            spurious: false,
            shift: state.shift,
            spent: state.spent,
            tail: self.tail.q.val(),
        };
    }
}
