//! Which accepted packets are answered, and with which word of the window (reference: `Coalescer`).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::receive::RxOutcome;
use stellar_wire::hw::requester::TxAnswer;
use stellar_wire::hw::responder::ResponderConfig;
use stellar_wire::hw::tx::TxSeth;

use crate::records::{Coalescing, Judged, Pending};

/// Nothing is pending; what comes from the first PSN on may be.
#[hdl_fn]
pub fn nothing_pending(settings: ResponderConfig) -> Coalescing {
    let nothing = Pending {
        count: bits::<5>(0),
        word: bits::<18>(0),
        bitmap: bits::<64>(0),
    };
    Coalescing {
        every: settings.sack_every,
        even: nothing,
        odd: nothing,
        urgent_to: settings.initial_psn - 1,
    }
}

/// What the cumulative PSN says everything of: all of a word before that of the first PSN missing. Levels: 1.
#[hdl_fn]
fn is_covered(word: Bits<18>, epsn: Bits<24>) -> Bit {
    (word - epsn.get_bits::<18>(6)).get_bit(17)
}

/// Compares a packet with what is pending. Levels: 4 (choice of the parity, comparison 2, gate).
#[hdl_fn]
pub fn judge(state: Coalescing, outcome: RxOutcome) -> Judged {
    let odd = outcome.psn.get_bit(6);
    let even_pending = state.even;
    let odd_pending = state.odd;
    let own = if odd { odd_pending } else { even_pending };
    let other = if odd { even_pending } else { odd_pending };
    let other_covered = is_covered(other.word, outcome.epsn);
    let replaces = own.count.any() & (own.word != outcome.psn.get_bits::<18>(6));
    let sum = bit_cast::<6, 5>(even_pending.count) + bit_cast::<6, 5>(odd_pending.count);
    let margin = bit_cast::<6, 5>(own.count) + 1;
    let late = !(state.urgent_to - outcome.psn).get_bit(23);
    let in_order = (outcome.psn - outcome.epsn).get_bit(23);
    // Nothing is missing any more up to there.
    let closes = (state.urgent_to - outcome.epsn).get_bit(23);
    Judged {
        urgent: outcome.ack_req | outcome.ack.ecn_ce | (late & closes),
        extends: !late & (outcome.ack_req | in_order),
        evicts: replaces & !is_covered(own.word, outcome.epsn),
        full: sum >= (state.every - 1),
        other_first: (bit_cast::<6, 5>(other.count) > margin) & !other_covered,
        other_covered,
    }
}

/// The packet tells of a word, its own or another. Levels: 1.
#[hdl_fn]
pub fn tells(judged: Judged) -> Bit {
    judged.evicts | judged.full | judged.urgent
}

/// It tells of the other parity's word. Levels: 1.
#[hdl_fn]
fn tells_other(judged: Judged) -> Bit {
    judged.full & judged.other_first & !judged.evicts & !judged.urgent
}

/// The SACK of the packet, of the word to tell of. Levels: 4 (whose word, choice, subtraction, choice).
#[hdl_fn]
pub fn choose_word(
    draft: TxAnswer,
    state: Coalescing,
    judged: Judged,
    outcome: RxOutcome,
) -> TxAnswer {
    let seth = draft.seth;
    let other = tells_other(judged);
    let from_odd = outcome.psn.get_bit(6) ^ other;
    let pending = if from_odd { state.odd } else { state.even };
    // A word that is pending lies near the window: its distance always has a code.
    let offset = (bit_cast::<24, 18>(pending.word) << 6) - outcome.ack.cack_psn;
    let earlier = other | judged.evicts;
    TxAnswer {
        seth: TxSeth {
            sack_offset: if earlier {
                offset.get_bits::<16>(0)
            } else {
                seth.sack_offset
            },
            bitmap: if earlier { pending.bitmap } else { seth.bitmap },
            ..seth
        },
        ..draft
    }
}

/// What is pending after the packet. Levels: 4 (whose word, count, choices 2).
#[hdl_fn]
pub fn coalesce(state: Coalescing, judged: Judged, outcome: RxOutcome) -> Coalescing {
    let odd = outcome.psn.get_bit(6);
    let before = if odd { state.odd } else { state.even };
    let rest = if odd { state.even } else { state.odd };
    let told_other = tells_other(judged);
    let own = Pending {
        count: if judged.evicts {
            bits::<5>(1)
        } else if told_other | !tells(judged) {
            before.count + 1
        } else {
            bits::<5>(0)
        },
        word: outcome.psn.get_bits::<18>(6),
        bitmap: outcome.ack.bitmap,
    };
    let empties = told_other | (tells(judged) & judged.other_covered);
    let other = Pending {
        count: if empties { bits::<5>(0) } else { rest.count },
        ..rest
    };
    Coalescing {
        even: if odd { other } else { own },
        odd: if odd { own } else { other },
        urgent_to: if judged.extends {
            outcome.psn
        } else {
            state.urgent_to
        },
        ..state
    }
}
