//! Received PSNs of a receive window, in memory that follows the span in use: a cluster has many queue pairs, and few of them with a wide window.

use super::Psn;
use crate::bits::low_bits;

/// PSNs per word.
const WORD: u32 = 64;

/// The PSNs that were received from the first missing one, `epsn`, on. The caller gives `epsn`, which only [`Self::take_run`] moves.
///
/// The ring has a power of two of words, and PSN p is bit p modulo the ring's bits. It grows when a PSN lies beyond it. The word of `epsn` also is the word of
/// the ring's last PSNs: its bits below that of `epsn` are theirs. The bit of `epsn` is 0.
#[derive(Clone, Debug, Default)]
pub struct Ring(Box<[u64]>);

impl Ring {
    /// PSNs that the ring has room for.
    const fn span(&self) -> u32 {
        self.0.len() as u32 * WORD
    }

    /// Word of a PSN in a ring that is not empty.
    const fn index(&self, psn: Psn) -> usize {
        (psn.value() % self.span() / WORD) as usize
    }

    /// Asks for the memory of a PSN's bit ([`stellar_fetch`]).
    pub fn fetch(&self, psn: Psn) {
        if !self.0.is_empty() {
            stellar_fetch::fetch_at(&self.0, self.index(psn));
        }
    }

    /// Whether a PSN that is not behind `epsn` was received.
    pub fn contains(&self, epsn: Psn, psn: Psn) -> bool {
        psn.distance_from(epsn) < self.span() && self.0[self.index(psn)] >> bit_of(psn) & 1 == 1
    }

    /// Records a PSN that is not behind `epsn`.
    pub fn insert(&mut self, epsn: Psn, psn: Psn) {
        let distance = psn.distance_from(epsn);
        if distance >= self.span() {
            self.grow(epsn, distance);
        }
        let index = self.index(psn);
        self.0[index] |= 1 << bit_of(psn);
    }

    /// Makes room for a PSN at this distance from `epsn`.
    fn grow(&mut self, epsn: Psn, distance: u32) {
        let words = (distance / WORD + 1).next_power_of_two();
        let mut wider = Self(vec![0; words as usize].into_boxed_slice());
        let first = Psn::new(epsn.value() & !(WORD - 1));
        // The word of `epsn` counts twice: its upper bits are the first PSNs, its lower bits the last ones.
        for step in 0..=self.0.len() as u32 {
            let base = first.plus(step * WORD);
            let index = wider.index(base);
            wider.0[index] |= self.word(epsn, base);
        }
        *self = wider;
    }

    /// Bit i: PSN `base + i` was received and is not behind `epsn`. `base` is a multiple of 64.
    pub fn word(&self, epsn: Psn, base: Psn) -> u64 {
        let (ahead, behind) = (base.distance_from(epsn), epsn.distance_from(base));
        if self.0.is_empty() {
            return 0;
        }
        let word = self.0[self.index(base)];
        if behind < WORD {
            word & !low_bits(behind)
        } else {
            word & low_bits(self.span().saturating_sub(ahead).min(WORD))
        }
    }

    /// Removes everything received from `epsn` on up to the first missing PSN, which it returns.
    pub fn take_run(&mut self, epsn: Psn) -> Psn {
        let mut epsn = epsn;
        if self.0.is_empty() {
            return epsn;
        }
        loop {
            let (index, bit) = (self.index(epsn), bit_of(epsn));
            let word = &mut self.0[index];
            let received = (*word >> bit).trailing_ones();
            *word &= !(low_bits(received) << bit);
            epsn = epsn.plus(received);
            // A run that fills the word may go on in the next one.
            if received == 0 || bit + received < WORD {
                return epsn;
            }
        }
    }
}

/// Bit of a PSN in its word.
const fn bit_of(psn: Psn) -> u32 {
    psn.value() % WORD
}
