//! The position of a PSN relative to the expected PSN, from their word numbers. The low bits of the expected PSN are used one cycle later.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

/// The position of a PSN.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Place {
    /// The PSN is before the expected PSN.
    pub behind: Bit,
    /// A whole window or more after the expected PSN.
    pub outside: Bit,
}

/// The position of a PSN relative to the expected PSN, for both possible results of a comparison of their places in their words.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Distance {
    /// Position if the place of the PSN in its word is not below that of the expected PSN.
    pub above: Place,
    /// Position if it is below.
    pub below: Place,
}

/// Whether two words lie half way round the PSN circle from each other. Levels: 3.
#[hdl_fn]
pub fn is_opposite(a: Bits<18>, b: Bits<18>) -> Bit {
    (a.get_bit(17) != b.get_bit(17)) & (a.get_bits::<17>(0) == b.get_bits::<17>(0))
}

/// Returns the position of a PSN whose word lies `words` after the word of the expected PSN, in a window of 2^`window_bits` words. `same`: the distance
/// is 0. `opposite`: it is half of the PSN circle. Levels: 3.
#[hdl_fn]
pub fn distance(words: Bits<18>, same: Bit, opposite: Bit, window_bits: usize) -> Distance {
    let back = words.get_bit(17);
    let far = (words.get_bits::<17>(0) >> (window_bits as u64)).any();
    // If the place of the PSN in its word is below that of the expected PSN, the PSN is ahead by `words` - 1 whole words and some PSNs.
    let behind_below = (back & !opposite) | same;
    Distance {
        above: Place {
            behind: back,
            outside: far & !back,
        },
        below: Place {
            behind: behind_below,
            outside: ((far & (words != bits::<18>(1 << window_bits))) | opposite) & !behind_below,
        },
    }
}

/// The position of the PSN. Levels: 1.
#[hdl_fn]
pub fn place_of(distance: Distance, below: Bit) -> Place {
    if below {
        distance.below
    } else {
        distance.above
    }
}
