//! Decides which accepted packets are acknowledged, and with which word of the window (reference: `Coalescer`).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::receive::RxOutcome;
use stellar_wire::hw::requester::TxAnswer;
use stellar_wire::hw::responder::ResponderConfig;
use stellar_wire::hw::tx::TxSeth;
use stellar_wire::hw::Psn;

use crate::records::{
    Changed, Coalescing, Compared, Pending, SackDecision, VsPendingWord, VsUrgentPsn,
};

/// The initial state: no packet is pending, and every packet from the first PSN on may become pending.
#[hdl_fn]
pub fn nothing_pending(settings: ResponderConfig) -> Coalescing {
    let nothing = Pending {
        count: bits::<6>(0),
        word: bits::<18>(0),
        bitmap: bits::<64>(0),
    };
    Coalescing {
        max_pending: settings.sack_every - 1,
        even: nothing,
        odd: nothing,
        sack_now_until: settings.initial_psn - 1,
        aged: false,
    }
}

/// Whether the cumulative PSN covers a whole word: the word lies before that of the first missing PSN. Levels: 1.
#[hdl_fn]
pub fn is_covered(word: Bits<18>, epsn: Psn) -> Bit {
    (word - epsn.get_bits::<18>(6)).get_bit(17)
}

/// Compares the packet of `outcome` with `urgent_psn`. Levels: 1, behind a carry chain.
#[hdl_fn]
fn vs_urgent_psn(urgent_psn: Psn, outcome: RxOutcome) -> VsUrgentPsn {
    VsUrgentPsn {
        late: !(urgent_psn - outcome.psn).get_bit(23),
        closes: (urgent_psn - outcome.epsn).get_bit(23),
    }
}

/// Compares the packet of `outcome` with a pending word. Levels: 2. The halves of its number meet a stage later, because the word comes late, from a memory.
#[hdl_fn]
fn vs_pending_word(word: Bits<18>, outcome: RxOutcome) -> VsPendingWord {
    VsPendingWord {
        lower_differs: word.get_bits::<9>(0) != outcome.psn.get_bits::<9>(6),
        upper_differs: word.get_bits::<9>(9) != outcome.psn.get_bits::<9>(15),
        covered: is_covered(word, outcome.epsn),
    }
}

/// Compares a packet with the pending packets, and with the packet before it, which `state` may not contain yet. Levels: 3.
#[hdl_fn]
pub fn compare(state: Coalescing, outcome: RxOutcome, last: RxOutcome) -> Compared {
    let even = state.even;
    let odd = state.odd;
    Compared {
        in_order: (outcome.psn - outcome.epsn).get_bit(23),
        urgent_psn: vs_urgent_psn(state.sack_now_until, outcome),
        even: vs_pending_word(even.word, outcome),
        odd: vs_pending_word(odd.word, outcome),
        last_urgent: vs_urgent_psn(last.psn, outcome),
        last_word: vs_pending_word(last.psn.get_bits::<18>(6), outcome),
        last_is_own: last.psn.get_bit(6) == outcome.psn.get_bit(6),
    }
}

/// Decides on the acknowledgement of a packet. `state` is the state after the packet before it; `changed` is what that packet changed since
/// `compared`. Levels: 4 (choice of the parity, comparison 2, gate).
#[hdl_fn]
pub fn decide_sack(
    state: Coalescing,
    outcome: RxOutcome,
    compared: Compared,
    changed: Changed,
) -> SackDecision {
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
    let vs_urgent = if changed.urgent_psn {
        compared.last_urgent
    } else {
        compared.urgent_psn
    };
    let own = if changed.word & compared.last_is_own {
        compared.last_word
    } else if odd {
        compared.odd
    } else {
        compared.even
    };
    let other = if changed.word & !compared.last_is_own {
        compared.last_word
    } else if odd {
        compared.even
    } else {
        compared.odd
    };
    let replaces = own_count.any() & (own.lower_differs | own.upper_differs);
    // At most `max_pending` packets may be pending.
    let sum = even_pending.count + odd_pending.count;
    SackDecision {
        urgent: outcome.ack_req | outcome.ack.ecn_ce | (vs_urgent.late & vs_urgent.closes),
        extends: !vs_urgent.late & (outcome.ack_req | compared.in_order),
        evicts: replaces & !own.covered,
        full: sum >= state.max_pending,
        other_first: (other_count > own_count) & !other.covered,
        other_covered: other.covered,
    }
}

/// Whether a SACK is sent with the packet, of its own or another word. Levels: 1.
#[hdl_fn]
pub fn sends_sack(decision: SackDecision) -> Bit {
    decision.evicts | decision.full | decision.urgent
}

/// Whether that SACK reports the word of the other parity. Levels: 1.
#[hdl_fn]
fn sacks_other_word(decision: SackDecision) -> Bit {
    decision.full & decision.other_first & !decision.evicts & !decision.urgent
}

/// Whether that SACK reports a pending word instead of the packet's word. Levels: 2.
#[hdl_fn]
pub fn sacks_pending(decision: SackDecision) -> Bit {
    sacks_other_word(decision) | decision.evicts
}

/// Returns the word that the SACK reports. Levels: 2 (which of the two words, choice).
#[hdl_fn]
pub fn sacked(state: Coalescing, decision: SackDecision, outcome: RxOutcome) -> Pending {
    let from_odd = outcome.psn.get_bit(6) ^ sacks_other_word(decision);
    if from_odd {
        state.odd
    } else {
        state.even
    }
}

/// The SACK of a packet that reports a pending word. Levels: 1, behind a carry chain.
#[hdl_fn]
pub fn with_pending_word(draft: TxAnswer, pending: Pending) -> TxAnswer {
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

/// Returns the pending packets after this packet. Levels: 4 (which word, count, choices 2).
#[hdl_fn]
pub fn coalesce(state: Coalescing, decision: SackDecision, outcome: RxOutcome) -> Coalescing {
    let odd = outcome.psn.get_bit(6);
    let before = if odd { state.odd } else { state.even };
    let rest = if odd { state.even } else { state.odd };
    let sacked_other = sacks_other_word(decision);
    let own = Pending {
        count: if decision.evicts {
            bits::<6>(1)
        } else if sacked_other | !sends_sack(decision) {
            before.count + 1
        } else {
            bits::<6>(0)
        },
        word: outcome.psn.get_bits::<18>(6),
        bitmap: outcome.ack.bitmap,
    };
    let empties = sacked_other | (sends_sack(decision) & decision.other_covered);
    let other = Pending {
        count: if empties { bits::<6>(0) } else { rest.count },
        ..rest
    };
    Coalescing {
        even: if odd { other } else { own },
        odd: if odd { own } else { other },
        sack_now_until: if decision.extends {
            outcome.psn
        } else {
            state.sack_now_until
        },
        aged: state.aged & !sends_sack(decision),
        ..state
    }
}
