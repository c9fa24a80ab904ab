//! What `psn_track` keeps per queue pair, beside the expected PSN. The received bits themselves are in the word memory: a ring of 32 words of 64
//! bits, the word of a PSN is `psn[10:6]`, its bit `psn[5:0]`, its lap `psn[11]`.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::Psn;

/// The flags of a queue pair, which the next token of the queue pair needs.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct WindowFlags {
    /// The queue pair accepts no more packets until its context is written again.
    pub error: Bit,
    /// Wrap bit (lap) of the packet last accepted into each word of the ring. Once the window has left a word, its wrap bit no longer matches,
    /// so no word has to be cleared.
    pub wrap_bits: Bits<32>,
}

/// Per word of the ring, the number of ones from its bit 0 up (0 to 64, 64 = full), as seven planes of one bit per word:
/// bit `w` of `plane_j` is bit `j` of the number of word `w`. So one word's number is written and read with 32-bit logic.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Prefixes {
    pub plane_0: Bits<32>,
    pub plane_1: Bits<32>,
    pub plane_2: Bits<32>,
    pub plane_3: Bits<32>,
    pub plane_4: Bits<32>,
    pub plane_5: Bits<32>,
    /// The word is full.
    pub plane_6: Bits<32>,
}

/// The wrap bit that each word must have, for the window that begins with the word of the expected PSN. Levels: 1.
#[hdl_fn]
fn expected_wrap_bits(epsn: Psn) -> Bits<32> {
    let from_epsn = Bits::<32>::mask() << epsn.get_bits::<5>(6);
    if epsn.get_bit(11) {
        from_epsn
    } else {
        !from_epsn
    }
}

/// Returns the words that hold received packets of the window. All other words, and their prefixes, read as zero. Levels: 2.
#[hdl_fn]
pub fn live_words(wrap_bits: Bits<32>, epsn: Psn) -> Bits<32> {
    !(wrap_bits ^ expected_wrap_bits(epsn))
}

/// Wrap bits of a ring without live words. Levels: 1.
#[hdl_fn]
pub fn wrap_bits_of_empty_ring(epsn: Psn) -> Bits<32> {
    !expected_wrap_bits(epsn)
}

/// A plane with the bit of one word replaced; `word` is one-hot. Levels: 1.
#[hdl_fn]
pub fn with_plane(plane: Bits<32>, word: Bits<32>, value: Bit) -> Bits<32> {
    if value {
        plane | word
    } else {
        plane & !word
    }
}

/// Returns the prefixes with the prefix of one word replaced. `word` is one-hot. Levels: 1.
#[hdl_fn]
pub fn with_prefix(old: Prefixes, word: Bits<32>, prefix: Bits<7>) -> Prefixes {
    Prefixes {
        plane_0: with_plane(old.plane_0, word, prefix.get_bit(0)),
        plane_1: with_plane(old.plane_1, word, prefix.get_bit(1)),
        plane_2: with_plane(old.plane_2, word, prefix.get_bit(2)),
        plane_3: with_plane(old.plane_3, word, prefix.get_bit(3)),
        plane_4: with_plane(old.plane_4, word, prefix.get_bit(4)),
        plane_5: with_plane(old.plane_5, word, prefix.get_bit(5)),
        plane_6: with_plane(old.plane_6, word, prefix.get_bit(6)),
    }
}

/// Returns the prefixes of the words in `words`, and zero for all others. Levels: 1.
#[hdl_fn]
pub fn of_words(prefixes: Prefixes, words: Bits<32>) -> Prefixes {
    Prefixes {
        plane_0: prefixes.plane_0 & words,
        plane_1: prefixes.plane_1 & words,
        plane_2: prefixes.plane_2 & words,
        plane_3: prefixes.plane_3 & words,
        plane_4: prefixes.plane_4 & words,
        plane_5: prefixes.plane_5 & words,
        plane_6: prefixes.plane_6 & words,
    }
}

/// Returns the prefix of a word that is not full: its number of consecutive ones from bit 0 up. Levels: 3 (a 32:1 multiplexer).
#[hdl_fn]
pub fn prefix_of(prefixes: Prefixes, word: Bits<5>) -> Bits<6> {
    let mut prefix = bits::<6>(0);
    prefix = prefix.replace_bit(0, prefixes.plane_0.get_bit(word.index()));
    prefix = prefix.replace_bit(1, prefixes.plane_1.get_bit(word.index()));
    prefix = prefix.replace_bit(2, prefixes.plane_2.get_bit(word.index()));
    prefix = prefix.replace_bit(3, prefixes.plane_3.get_bit(word.index()));
    prefix = prefix.replace_bit(4, prefixes.plane_4.get_bit(word.index()));
    prefix.replace_bit(5, prefixes.plane_5.get_bit(word.index()))
}
