//! Where a PSN lies, as far as its word and that of the expected PSN say: the low bits come a clock later.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

/// Words of the window, 1,024 packets.
const WINDOW_WORDS: u64 = 16;

/// Where a PSN lies.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Place {
    /// Before the expected one.
    pub behind: Bit,
    /// After it by 1,024 or more.
    pub outside: Bit,
}

/// Where it lies by its place in its word.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Distance {
    /// Its place in its word is not below that of the expected PSN.
    pub above: Place,
    pub below: Place,
}

/// The distance of a word from that of the expected PSN; `same`: it is 0, `opposite`: half way round. Levels: 3.
#[hdl_fn]
pub fn distance(words: Bits<18>, same: Bit, opposite: Bit) -> Distance {
    let back = words.get_bit(17);
    let far = words.get_bits::<13>(4).any();
    // A PSN whose place is below is one word less than `words` ahead, and some.
    let behind_below = (back & !opposite) | same;
    Distance {
        above: Place {
            behind: back,
            outside: far & !back,
        },
        below: Place {
            behind: behind_below,
            outside: ((far & (words != WINDOW_WORDS)) | opposite) & !behind_below,
        },
    }
}

/// Where the PSN lies. Levels: 1.
#[hdl_fn]
pub fn place_of(distance: Distance, below: Bit) -> Place {
    if below {
        distance.below
    } else {
        distance.above
    }
}
