//! Turns that slots are skipped, 0 to 15 (reference: `transport/src/spray/ev_table.rs`; policy: `transport/src/spray/policy/bitmap.rs`).
//!
//! EV state counts to 1. The numbers are stored by bit, so that every slot is changed at once.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::SprayFeedback;
use stellar_wire::rows::{MARK_TURNS, MOST_TURNS, TRIM_TURNS};

use crate::ev_update::Change;

// `lost` adds these numbers.
const _: () = assert!(MARK_TURNS == 1 && TRIM_TURNS == 4 && MOST_TURNS == 15);

/// Turns of the 64 slots of a plane: bit `i` of the number of slot `s` is bit `s` of map `i`.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Turns {
    pub ones: Bits<64>,
    pub twos: Bits<64>,
    pub fours: Bits<64>,
    pub eights: Bits<64>,
}

/// Returns the change that feedback makes with [`super::counts_turns`].
#[hdl_fn]
pub fn change(feedback: SprayFeedback) -> Change {
    match feedback {
        SprayFeedback::Skip => Change::LoseTurn,
        SprayFeedback::Trimmed => Change::LoseFourTurns,
        SprayFeedback::Timeout | SprayFeedback::AlwaysSkip => Change::LoseMostTurns,
        _ => Change::Nothing,
    }
}

/// Returns the slots that are skipped. 1 level.
#[hdl_fn]
pub fn skipped(turns: Turns) -> Bits<64> {
    turns.ones | turns.twos | turns.fours | turns.eights
}

/// Returns the turns after `slots` had one. 1 level.
#[hdl_fn]
pub fn passed(turns: Turns, slots: Bits<64>) -> Turns {
    let from_ones = slots & skipped(turns);
    let from_twos = from_ones & !turns.ones;
    let from_fours = from_twos & !turns.twos;
    let from_eights = from_fours & !turns.fours;
    Turns {
        ones: turns.ones ^ from_ones,
        twos: turns.twos ^ from_twos,
        fours: turns.fours ^ from_fours,
        eights: turns.eights ^ from_eights,
    }
}

/// Returns the turns without those of `slots`. 1 level.
#[hdl_fn]
pub fn without(turns: Turns, slots: Bits<64>) -> Turns {
    Turns {
        ones: turns.ones & !slots,
        twos: turns.twos & !slots,
        fours: turns.fours & !slots,
        eights: turns.eights & !slots,
    }
}

/// Returns the turns after slots lost one, four or most of them; at most one of these maps has a bit for a slot. 2 levels.
#[hdl_fn]
pub fn lost(turns: Turns, one: Bits<64>, four: Bits<64>, most: Bits<64>) -> Turns {
    let to_twos = turns.ones & one;
    let to_fours = (turns.twos & to_twos) | four;
    let to_eights = turns.fours & to_fours;
    let full = (turns.eights & to_eights) | most;
    Turns {
        ones: (turns.ones ^ one) | full,
        twos: (turns.twos ^ to_twos) | full,
        fours: (turns.fours ^ to_fours) | full,
        eights: (turns.eights ^ to_eights) | full,
    }
}
