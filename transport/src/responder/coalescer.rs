//! Which accepted packets of an MRC queue pair are answered, and with which part of the window (hardware: `coalesce`).

use crate::rx::Psn;

/// Most packets that one SACK may be sent for: what a register of 6 bits holds.
pub const MAX_SACK_EVERY: u8 = 63;

/// Packets of a path MTU of `mtu` bytes to send one SACK for, if nobody says otherwise: 16 KiB, but 16 packets at least. A requester has as much to do for
/// a SACK as for several small packets.
pub const fn default_sack_every(mtu: u32) -> u8 {
    match 16 * 1024 / mtu {
        0..16 => 16,
        packets @ 16..63 => packets as u8,
        _ => MAX_SACK_EVERY,
    }
}

/// An accepted packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    pub psn: Psn,
    /// It asks for an answer (AckReq), and what comes before it and has not arrived shall have one.
    pub asks: bool,
    /// It arrived with congestion experienced.
    pub ecn_ce: bool,
    /// Highest PSN before the first gap, after the packet.
    pub cack: Psn,
    /// Its word after it.
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
    /// Whether the cumulative PSN says everything there is to say of it.
    const fn is_covered(&self, cack: Psn) -> bool {
        self.base.plus(63).is_behind(cack.plus(1))
    }
}

/// Packets that were accepted and not told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pending {
    count: u8,
    /// They are in this word, or before the cumulative PSN.
    word: Word,
}

/// Counts the packets of one queue pair that no SACK has told of.
#[derive(Clone, Debug)]
pub struct Coalescer {
    every: u8,
    /// Words that take turns: spraying spreads what is under way over more than one.
    pending: [Pending; 2],
    /// The packet that leaves nothing missing up to here is answered at once: a packet has asked for that, or nothing was missing there.
    urgent_to: Psn,
}

impl Coalescer {
    /// No more than `every - 1` packets untold, 1 to [`MAX_SACK_EVERY`]. `first` is the first PSN expected.
    pub const fn new(first: Psn, every: u8) -> Self {
        let word = Word {
            base: Psn::new(0),
            bitmap: 0,
        };
        Self {
            every,
            pending: [Pending { count: 0, word }; 2],
            urgent_to: first.previous(),
        }
    }

    /// Takes note of a packet. If it is to be answered, the word to tell of: its own, or another one, and then the packet
    /// itself is untold.
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
        told
    }

    /// Whether a packet cannot wait, and from now on, which ones cannot.
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
