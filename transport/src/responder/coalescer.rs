//! Which accepted packets of an MRC queue pair are answered, and with which part of the window (hardware block `coalesce`).

use crate::rx::Psn;

/// An accepted packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    pub psn: Psn,
    /// AckReq: the packet is acknowledged at once, and so is the last of the earlier packets that are still missing.
    pub asks: bool,
    /// It arrived with congestion experienced.
    pub ecn_ce: bool,
    /// Highest PSN before the first gap, after the packet.
    pub cack: Psn,
    /// The packet's word of the window, with the packet in it.
    pub word: Word,
}

/// 64 PSNs from a multiple of 64 on, and which of them have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    pub base: Psn,
    /// Bit i: `base + i` has arrived.
    pub bitmap: u64,
}

impl Word {
    /// Whether the cumulative PSN acknowledges the whole word.
    const fn is_covered(&self, cack: Psn) -> bool {
        self.base.plus(63).is_behind(cack.plus(1))
    }
}

/// Packets that were accepted and that no SACK has reported yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pending {
    count: u8,
    /// The packets are in this word, or before the cumulative PSN.
    word: Word,
}

/// Counts the packets of one queue pair that no SACK has reported yet.
#[derive(Clone, Debug)]
pub struct Coalescer {
    every: u8,
    /// Pending packets of even words and of odd words: there are two because spraying spreads the packets in flight over more than one word.
    pending: [Pending; 2],
    /// The packet that closes the last gap before this PSN is acknowledged at once. It is the PSN of the newest packet with AckReq, or of the newest
    /// packet that arrived without a gap before it.
    urgent_to: Psn,
    /// Packets have been pending since the last visit ([`Self::visit`]) or longer.
    aged: bool,
}

impl Coalescer {
    /// At most `every - 1` packets stay unreported; `every` is 1 to [`MAX_SACK_EVERY`](super::MAX_SACK_EVERY). `first` is the first PSN expected.
    pub const fn new(first: Psn, every: u8) -> Self {
        let word = Word {
            base: Psn::new(0),
            bitmap: 0,
        };
        Self {
            every,
            pending: [Pending { count: 0, word }; 2],
            urgent_to: first.previous(),
            aged: false,
        }
    }

    /// Records a packet. Returns the word that a SACK reports now, if one is due. It is the packet's word or the other one; in the second case the
    /// packet stays unreported.
    pub fn arrive(&mut self, arrival: &Arrival) -> Option<Word> {
        let Arrival { cack, word, .. } = *arrival;
        let urgent = self.is_urgent(arrival);
        let parity = (word.base.value() / 64 % 2) as usize;
        let (before, other) = (self.pending[parity], self.pending[1 - parity]);
        let count = before.count + 1;
        let replaces = before.count > 0 && before.word.base != word.base;
        let evicts = replaces && !before.word.is_covered(cack);
        let full = count + other.count >= self.every;
        let other_first = other.count > before.count && !other.word.is_covered(cack);
        let (told, left) = if evicts {
            (Some(before.word), 1)
        } else if full && !urgent && other_first {
            (Some(other.word), count)
        } else if full || urgent {
            (Some(word), 0)
        } else {
            (None, count)
        };
        self.pending[parity] = Pending { count: left, word };
        let tells_other = |told: Word| told == other.word || other.word.is_covered(cack);
        if told.is_some_and(tells_other) {
            self.pending[1 - parity].count = 0;
        }
        self.aged &= told.is_none();
        told
    }

    /// Whether there are packets that no SACK has reported.
    pub const fn is_pending(&self) -> bool {
        self.pending[0].count > 0 || self.pending[1].count > 0
    }

    /// Looks after a while whether packets wait for a SACK, because a sender may send the last one without AckReq. Returns the word that a SACK reports
    /// now: no SACK was sent since packets were pending at the visit before. `cack` is the highest PSN before the first gap.
    pub fn visit(&mut self, cack: Psn) -> Option<Word> {
        let [even, odd] = self.pending;
        let tells = self.aged && self.is_pending();
        let told = usize::from(odd.count > 0 && (even.count == 0 || even.word.is_covered(cack)));
        if tells {
            self.pending[told].count = 0;
            let rest = &mut self.pending[1 - told];
            if rest.word.is_covered(cack) {
                rest.count = 0;
            }
        }
        self.aged = self.is_pending();
        tells.then(|| self.pending[told].word)
    }

    /// Whether a packet is acknowledged at once. Updates `urgent_to`.
    fn is_urgent(&mut self, arrival: &Arrival) -> bool {
        let Arrival { psn, asks, .. } = *arrival;
        let late = !self.urgent_to.is_behind(psn);
        let in_order = !arrival.cack.is_behind(psn);
        if !late && (asks || in_order) {
            self.urgent_to = psn;
        }
        let closes = late && !arrival.cack.is_behind(self.urgent_to);
        asks || arrival.ecn_ce || closes
    }
}
