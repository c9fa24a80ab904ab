//! The row `psn_track` keeps per queue pair.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

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

/// State of one queue pair (1,024 rows). The received bits themselves are in the word memory: a ring of 32 words of 64
/// bits, the word of a PSN is `psn[10:6]`, its bit `psn[5:0]`.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct WindowRow {
    /// First PSN not received (MRC). Everything behind it counts as received, whatever the memory says.
    pub epsn: Bits<24>,
    /// The queue pair takes no more packets until its context is written again.
    pub error: Bit,
    /// Words that hold received packets of the window; the others read as zero, and their prefixes too.
    pub touched: Bits<32>,
    pub prefixes: Prefixes,
}

#[hdl_fn]
fn with_plane(plane: Bits<32>, word: Bits<32>, value: Bit) -> Bits<32> {
    if value {
        plane | word
    } else {
        plane & !word
    }
}

/// The prefixes with that of one word replaced; `word` is one-hot.
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

/// Ones from bit 0 up of a word that is not full; zero if it is not touched. 3 levels (a 32:1 multiplexer) and a gate.
#[hdl_fn]
pub fn prefix_of(row: WindowRow, word: Bits<5>) -> Bits<6> {
    let mut prefix = bits::<6>(0);
    prefix = prefix.replace_bit(
        0,
        (row.prefixes.plane_0 & row.touched).get_bit(word.index()),
    );
    prefix = prefix.replace_bit(
        1,
        (row.prefixes.plane_1 & row.touched).get_bit(word.index()),
    );
    prefix = prefix.replace_bit(
        2,
        (row.prefixes.plane_2 & row.touched).get_bit(word.index()),
    );
    prefix = prefix.replace_bit(
        3,
        (row.prefixes.plane_3 & row.touched).get_bit(word.index()),
    );
    prefix = prefix.replace_bit(
        4,
        (row.prefixes.plane_4 & row.touched).get_bit(word.index()),
    );
    prefix.replace_bit(
        5,
        (row.prefixes.plane_5 & row.touched).get_bit(word.index()),
    )
}
