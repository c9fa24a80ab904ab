//! The position of a PSN relative to the expected PSN, from their word numbers. The low bits of the expected PSN are used one cycle later.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

/// Words of the window, 1,024 packets.
const WINDOW_WORDS: u64 = 16;

/// The position of a PSN.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Place {
    /// The PSN is before the expected PSN.
    pub behind: Bit,
    /// 1,024 or more after the expected PSN.
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

/// Returns the position of a PSN whose word lies `words` after the word of the expected PSN. `same`: the distance is 0. `opposite`: it is half of
/// the PSN circle. Levels: 3.
#[hdl_fn]
pub fn distance(words: Bits<18>, same: Bit, opposite: Bit) -> Distance {
    let back = words.get_bit(17);
    let far = words.get_bits::<13>(4).any();
    // If the place of the PSN in its word is below that of the expected PSN, the PSN is ahead by `words` - 1 whole words and some PSNs.
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

/// The position of the PSN. Levels: 1.
#[hdl_fn]
pub fn place_of(distance: Distance, below: Bit) -> Place {
    if below {
        distance.below
    } else {
        distance.above
    }
}
