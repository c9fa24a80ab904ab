//! Stores which PSNs of the receive window have arrived, and counts the missing ones in a range.

use hdl_macros::{hdl, hdl_fn};
use hdl_primitives::UltraRam;
use rust_hdl::prelude::*;
use stellar_wire::config::{RECEIVE_PLACE_BITS, RECEIVE_RING_BITS};
use stellar_wire::hw::{Qpn, QPN_BITS};

use crate::count_records::MissingQuery;

/// A word that is read.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Asked {
    valid: Bit,
    first: Bit,
    last: Bit,
    touched: Bit,
}

/// Returns the number of ones in a byte.
#[hdl_fn]
fn ones_of_byte(octet: Bits<8>) -> Bits<4> {
    let mut count = bits::<4>(0);
    for i in 0..8 {
        count = count + bit_cast::<4, 1>(octet.get_bits::<1>(i));
    }
    count
}

/// Returns the number of ones in a word. Levels planned: 5 (sums of bytes 2, three sums).
#[hdl_fn]
pub fn ones_of(word: Bits<64>) -> Bits<7> {
    let mut count = bits::<7>(0);
    for i in 0..8 {
        count = count + bit_cast::<7, 4>(ones_of_byte(word.get_bits::<8>(8 * i)));
    }
    count
}

/// Address of a word of a queue pair's ring.
#[hdl_fn]
fn place<const Q: usize, const R: usize>(qp: Qpn, word: Bits<RECEIVE_RING_BITS>) -> Bits<R> {
    let in_ring = bit_cast::<R, RECEIVE_RING_BITS>(word) & ((1 << (R - Q)) - 1);
    (bit_cast::<R, QPN_BITS>(qp) << ((R - Q) as u64)) | in_ring
}

/// Stores which PSNs of the receive windows have arrived, and counts the missing ones in a range.
///
/// The memory has a ring of words of 64 PSNs for each of 2^`Q` queue pairs, and 2^`R` words in all. The bit of a PSN in its word is `psn[5:0]`; words are named by their place
/// in the largest ring, and a smaller one takes the low bits.
///
/// A count takes 5 cycles plus one for each word of its range, at most 70 with a window of 4,096 packets. Arrivals are accepted in every cycle; a count includes those of earlier
/// cycles. The memory is never cleared, so the caller says which words are valid (`touched`).
#[derive(LogicBlock, Default)]
pub struct MissingCount<const Q: usize, const R: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // Arrivals: the new value of a word.
    pub note_valid: Signal<In, Bit>,
    pub note_qp: Signal<In, Qpn>,
    pub note_word: Signal<In, Bits<RECEIVE_RING_BITS>>,
    pub note_bits: Signal<In, Bits<64>>,

    // Counting. `start` must not be raised again before `done`.
    pub start: Signal<In, Bit>,
    pub query: Signal<In, MissingQuery>,
    /// One pulse. `missing` is the result, and stays until the next start.
    pub done: Signal<Out, Bit>,
    pub missing: Signal<Out, Bits<RECEIVE_PLACE_BITS>>,

    ring: UltraRam<Bits<64>, R>,
    range: DFF<MissingQuery>,
    walking: DFF<Bit>,
    word: DFF<Bits<RECEIVE_RING_BITS>>,
    reading: DFF<Asked>,
    read: DFF<Asked>,
    found_valid: DFF<Bit>,
    found_last: DFF<Bit>,
    /// PSNs of one word that are in the range and have arrived.
    found: DFF<Bits<64>>,
    ones_last: DFF<Bit>,
    /// Number of bits set in `found`; 0 for a word outside the range.
    ones: DFF<Bits<7>>,
    left: DFF<Bits<RECEIVE_PLACE_BITS>>,
    finished: DFF<Bit>,
}

impl<const Q: usize, const R: usize> Logic for MissingCount<Q, R> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, range, walking, word, reading, read);
        dff_setup!(
            self,
            clock,
            found_valid,
            found_last,
            found,
            ones_last,
            ones,
            left,
            finished
        );
        clock!(self, clock, ring);

        self.ring.write_enable.next = self.note_valid.val();
        self.ring.write_address.next = place::<Q, R>(self.note_qp.val(), self.note_word.val());
        self.ring.write_data.next = self.note_bits.val();

        // read: one word per cycle.
        let range = self.range.q.val();
        let word = self.word.q.val();
        self.ring.read_address.next = place::<Q, R>(range.qp, word);
        let last = word == range.to.get_bits::<RECEIVE_RING_BITS>(6);
        self.reading.d.next = Asked {
            valid: self.walking.q.val(),
            first: word == range.from.get_bits::<RECEIVE_RING_BITS>(6),
            last,
            touched: range.touched.bits.get_bit(word.index()),
        };
        if self.walking.q.val() {
            self.word.d.next = word + 1;
        }
        if last {
            self.walking.d.next = false;
        }

        // The memory has a latency of two cycles.
        self.read.d.next = self.reading.q.val();

        // mask
        let read = self.read.q.val();
        let from = Bits::<64>::mask() << range.from.get_bits::<6>(0);
        let below = !(Bits::<64>::mask() << range.to.get_bits::<6>(0));
        let above = if read.first { from } else { Bits::<64>::mask() };
        let under = if read.last { below } else { Bits::<64>::mask() };
        let stored = self.ring.read_data.val();
        self.found.d.next = if read.touched {
            stored & above & under
        } else {
            bits::<64>(0)
        };
        self.found_valid.d.next = read.valid;
        self.found_last.d.next = read.valid & read.last;

        // count
        self.ones.d.next = if self.found_valid.q.val() {
            ones_of(self.found.q.val())
        } else {
            bits::<7>(0)
        };
        self.ones_last.d.next = self.found_last.q.val();

        // subtract
        self.left.d.next = self.left.q.val() - bit_cast::<RECEIVE_PLACE_BITS, 7>(self.ones.q.val());
        self.finished.d.next = self.ones_last.q.val();
        self.done.next = self.finished.q.val();
        self.missing.next = self.left.q.val();

        let query = self.query.val();
        if self.start.val() {
            self.range.d.next = query;
            self.word.d.next = query.from.get_bits::<RECEIVE_RING_BITS>(6);
            self.left.d.next = query.count;
            self.walking.d.next = true;
        }
        if self.reset.val() {
            self.walking.d.next = false;
            self.reading.d.next.valid = false;
            self.read.d.next.valid = false;
            self.found_valid.d.next = false;
            self.found_last.d.next = false;
            self.ones_last.d.next = false;
            self.ones.d.next = bits::<7>(0);
            self.finished.d.next = false;
        }
    }
}
