//! Decides which accepted packets are acknowledged, and with which word of the window (reference: `Coalescer`).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::receive::RxOutcome;
use stellar_wire::hw::requester::TxAnswer;
use stellar_wire::hw::responder::ResponderConfig;
use stellar_wire::hw::tx::TxSeth;

use crate::records::{BesideMark, BesideWord, Changed, Coalescing, Compared, Judged, Pending};

/// The initial state: no packet is pending, and every packet from the first PSN on may become pending.
#[hdl_fn]
pub fn nothing_pending(settings: ResponderConfig) -> Coalescing {
    let nothing = Pending {
        count: bits::<6>(0),
        word: bits::<18>(0),
        bitmap: bits::<64>(0),
    };
    Coalescing {
        most: settings.sack_every - 1,
        even: nothing,
        odd: nothing,
        urgent_to: settings.initial_psn - 1,
    }
}

/// Whether the cumulative PSN covers a whole word: the word lies before that of the first missing PSN. Levels: 1.
#[hdl_fn]
fn is_covered(word: Bits<18>, epsn: Bits<24>) -> Bit {
    (word - epsn.get_bits::<18>(6)).get_bit(17)
}

/// Levels: 1, behind a carry chain.
#[hdl_fn]
fn beside_mark(mark: Bits<24>, outcome: RxOutcome) -> BesideMark {
    BesideMark {
        late: !(mark - outcome.psn).get_bit(23),
        closes: (mark - outcome.epsn).get_bit(23),
    }
}

/// Levels: 3.
#[hdl_fn]
fn beside_word(word: Bits<18>, outcome: RxOutcome) -> BesideWord {
    BesideWord {
        differs: word != outcome.psn.get_bits::<18>(6),
        covered: is_covered(word, outcome.epsn),
    }
}

/// Compares a packet with the pending packets, and with the packet before it, which `state` may not contain yet. Levels: 4 (choice of the
/// parity, comparison 3).
#[hdl_fn]
pub fn compare(state: Coalescing, outcome: RxOutcome, last: RxOutcome) -> Compared {
    let odd = outcome.psn.get_bit(6);
    let even_pending = state.even;
    let odd_pending = state.odd;
    let own = if odd { odd_pending } else { even_pending };
    let other = if odd { even_pending } else { odd_pending };
    Compared {
        in_order: (outcome.psn - outcome.epsn).get_bit(23),
        mark: beside_mark(state.urgent_to, outcome),
        own: beside_word(own.word, outcome),
        other: beside_word(other.word, outcome),
        last_mark: beside_mark(last.psn, outcome),
        last_word: beside_word(last.psn.get_bits::<18>(6), outcome),
        last_is_own: last.psn.get_bit(6) == odd,
    }
}

/// Decides on the acknowledgement of a packet. `state` is the state after the packet before it; `changed` is what that packet changed since
/// `compared`. Levels: 4 (choice of the parity, comparison 2, gate).
#[hdl_fn]
pub fn judge(
    state: Coalescing,
    outcome: RxOutcome,
    compared: Compared,
    changed: Changed,
) -> Judged {
    let odd = outcome.psn.get_bit(6);
    let even_pending = state.even;
    let odd_pending = state.odd;
    let own_count = if odd {
        odd_pending.count
    } else {
        even_pending.count
    };
    let other_count = if odd {
        even_pending.count
    } else {
        odd_pending.count
    };
    let mark = if changed.mark {
        compared.last_mark
    } else {
        compared.mark
    };
    let own = if changed.word & compared.last_is_own {
        compared.last_word
    } else {
        compared.own
    };
    let other = if changed.word & !compared.last_is_own {
        compared.last_word
    } else {
        compared.other
    };
    let replaces = own_count.any() & own.differs;
    // At most `most` packets may be pending.
    let sum = even_pending.count + odd_pending.count;
    Judged {
        urgent: outcome.ack_req | outcome.ack.ecn_ce | (mark.late & mark.closes),
        extends: !mark.late & (outcome.ack_req | compared.in_order),
        evicts: replaces & !own.covered,
        full: sum >= state.most,
        other_first: (other_count > own_count) & !other.covered,
        other_covered: other.covered,
    }
}

/// Whether a SACK is sent with the packet, of its own or another word. Levels: 1.
#[hdl_fn]
pub fn tells(judged: Judged) -> Bit {
    judged.evicts | judged.full | judged.urgent
}

/// Whether that SACK reports the word of the other parity. Levels: 1.
#[hdl_fn]
fn tells_other(judged: Judged) -> Bit {
    judged.full & judged.other_first & !judged.evicts & !judged.urgent
}

/// Whether that SACK reports a pending word instead of the packet's word. Levels: 2.
#[hdl_fn]
pub fn tells_pending(judged: Judged) -> Bit {
    tells_other(judged) | judged.evicts
}

/// The word that the SACK reports. Levels: 2 (whose word, choice).
#[hdl_fn]
pub fn told(state: Coalescing, judged: Judged, outcome: RxOutcome) -> Pending {
    let from_odd = outcome.psn.get_bit(6) ^ tells_other(judged);
    if from_odd {
        state.odd
    } else {
        state.even
    }
}

/// The SACK of a packet that reports a pending word. Levels: 1, behind a carry chain.
#[hdl_fn]
pub fn tell(draft: TxAnswer, pending: Pending) -> TxAnswer {
    let seth = draft.seth;
    // A pending word lies near the window, so its distance always fits 16 bits.
    let offset = (bit_cast::<24, 18>(pending.word) << 6) - seth.cack_psn;
    TxAnswer {
        seth: TxSeth {
            sack_offset: offset.get_bits::<16>(0),
            bitmap: pending.bitmap,
            ..seth
        },
        ..draft
    }
}

/// The pending packets after the packet. Levels: 4 (whose word, count, choices 2).
#[hdl_fn]
pub fn coalesce(state: Coalescing, judged: Judged, outcome: RxOutcome) -> Coalescing {
    let odd = outcome.psn.get_bit(6);
    let before = if odd { state.odd } else { state.even };
    let rest = if odd { state.even } else { state.odd };
    let told_other = tells_other(judged);
    let own = Pending {
        count: if judged.evicts {
            bits::<6>(1)
        } else if told_other | !tells(judged) {
            before.count + 1
        } else {
            bits::<6>(0)
        },
        word: outcome.psn.get_bits::<18>(6),
        bitmap: outcome.ack.bitmap,
    };
    let empties = told_other | (tells(judged) & judged.other_covered);
    let other = Pending {
        count: if empties { bits::<6>(0) } else { rest.count },
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
