//! Comparison of a SACK with the window: `SackView::check` of the reference, and the slots that the SACK acknowledges.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::window::{SackVerdict, WindowOp, WindowRequest};
use stellar_wire::hw::Psn;

use crate::row::WindowRow;
use crate::slots::{slot_of, words_unacknowledged, Occupied};

/// Position of a SACK relative to the window. A word number is a PSN without its low 6 bits.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct SackSpan {
    /// The cumulative PSN is before the window. If it is more than 1,024 before it, `out_of_window` is set too.
    pub overtaken: Bit,
    pub out_of_window: Bit,
    /// The cumulative or the answered PSN has not been sent.
    pub unsent_psn: Bit,
    /// Number of PSNs sent from bit 0 of the bitmap on: none, at least 64, or `sent_bits`.
    pub none_sent: Bit,
    pub all_sent: Bit,
    pub sent_bits: Bits<6>,
    /// The cumulative PSN lies in the window, this many words after the word of `una` (0 to 16).
    pub cumulative: Bit,
    pub cumulative_words: Bits<5>,
    /// The bitmap without PSNs before the window, split at the word boundary: bits of the word of its base, and of the next word.
    pub low: Bits<64>,
    pub high: Bits<64>,
}

/// Removes the bits before the window from one word of the bitmap. The word lies before the word of `una` (`before`), or is that word (`at_una`). 2 levels.
#[hdl_fn]
fn from_window(named: Bits<64>, una: Psn, before: Bit, at_una: Bit) -> Bits<64> {
    if before {
        bits::<64>(0)
    } else if at_una {
        named & (Bits::<64>::mask() << una.get_bits::<6>(0))
    } else {
        named
    }
}

/// Compares the SACK with the window. 5 levels and a carry chain behind the row.
#[hdl_fn]
pub fn measure(sack: WindowRequest, row: WindowRow) -> SackSpan {
    let cack = sack.cack;
    let base = sack.base;
    let from_before = cack + 1 - row.una;
    let after_una = cack - row.una;
    let cack_after_end = cack - row.next_psn;
    let acked_after_end = sack.acked - row.next_psn;
    let sent_from_base = row.next_psn - base;
    let base_after_end = base - row.next_psn;
    let base_sent = base_after_end.get_bit(23);
    let una_word = row.una.get_bits::<18>(6);
    let base_word = base.get_bits::<18>(6);
    let base_after_una = base_word - una_word;
    let before_una = base_after_una.get_bit(17);
    // The second word of the bitmap is the word of `una`.
    let high_at_una = base_after_una.all();
    let cut = bit_cast::<128, 64>(sack.bitmap) << base.get_bits::<6>(0);
    SackSpan {
        overtaken: from_before.get_bit(23),
        out_of_window: from_before.get_bit(23) & !from_before.get_bits::<13>(10).all(),
        unsent_psn: !cack_after_end.get_bit(23) | !acked_after_end.get_bit(23),
        none_sent: !base_sent,
        all_sent: base_sent & sent_from_base.get_bits::<18>(6).any(),
        sent_bits: sent_from_base.get_bits::<6>(0),
        cumulative: !after_una.get_bit(23),
        cumulative_words: cack.get_bits::<5>(6) - row.una.get_bits::<5>(6),
        low: from_window(
            cut.get_bits::<64>(0),
            row.una,
            before_una,
            !base_after_una.any(),
        ),
        high: from_window(
            cut.get_bits::<64>(64),
            row.una,
            before_una & !high_at_una,
            high_at_una,
        ),
    }
}

/// Does what `SackView::check` does. 6 levels.
#[hdl_fn]
pub fn check_sack(span: SackSpan, bitmap: Bits<64>) -> SackVerdict {
    let unsent = if span.all_sent {
        bits::<64>(0)
    } else if span.none_sent {
        bitmap
    } else {
        bitmap & (Bits::<64>::mask() << span.sent_bits)
    };
    if span.out_of_window {
        SackVerdict::OutOfWindow
    } else if span.unsent_psn | unsent.any() {
        SackVerdict::Inconsistent
    } else {
        SackVerdict::Accepted
    }
}

/// Returns the words that may have newly acknowledged slots: those with unacknowledged slots within reach of the SACK. 6 levels.
#[hdl_fn]
pub fn words_to_visit(span: SackSpan, una: Psn, base: Psn, occupied: Occupied) -> Bits<16> {
    let mut reached = bits::<16>(0);
    for i in 0..16 {
        let after_una = bits::<4>(i as u64) - una.get_bits::<4>(6);
        let within = span.cumulative_words.get_bit(4)
            | (after_una <= span.cumulative_words.get_bits::<4>(0));
        reached = reached.replace_bit(i, span.cumulative & within);
    }
    let base_word = base.get_bits::<4>(6);
    let low = if span.low.any() {
        bits::<16>(1) << base_word
    } else {
        bits::<16>(0)
    };
    let high = if span.high.any() {
        bits::<16>(1) << (base_word + 1)
    } else {
        bits::<16>(0)
    };
    words_unacknowledged(occupied) & (reached | low | high)
}

/// Returns the slots of a word that the cumulative PSN covers. 5 levels.
#[hdl_fn]
fn covered_slots(span: SackSpan, una: Psn, cack: Psn, word: Bits<4>) -> Bits<64> {
    let from_una = Bits::<64>::mask() << una.get_bits::<6>(0);
    let up_to_cack = !((Bits::<64>::mask() << cack.get_bits::<6>(0)) << 1);
    let after_una = word - una.get_bits::<4>(6);
    let last_word = span.cumulative_words.get_bits::<4>(0);
    let at_una = after_una == 0;
    let below_end = if after_una < last_word {
        Bits::<64>::mask()
    } else if after_una == last_word {
        up_to_cack
    } else {
        bits::<64>(0)
    };
    // The ring wraps: the word of `una` holds both the first and the last PSNs of the window.
    if !span.cumulative {
        bits::<64>(0)
    } else if span.cumulative_words.get_bit(4) {
        if at_una {
            from_una | up_to_cack
        } else {
            Bits::<64>::mask()
        }
    } else if at_una {
        below_end & from_una
    } else {
        below_end
    }
}

/// Returns the slots of a word that the SACK's bitmap and cumulative PSN acknowledge. 6 levels.
#[hdl_fn]
pub fn named_slots(span: SackSpan, sack: WindowRequest, una: Psn, word: Bits<4>) -> Bits<64> {
    let base_word = sack.base.get_bits::<4>(6);
    let low = if word == base_word {
        span.low
    } else {
        bits::<64>(0)
    };
    let high = if word == base_word + 1 {
        span.high
    } else {
        bits::<64>(0)
    };
    low | high | covered_slots(span, una, sack.cack, word)
}

/// Returns the slot of the answered packet, if that is in the window and in this word. 3 levels.
#[hdl_fn]
pub fn answered_slot(acked: Psn, inside: Bit, word: Bits<4>) -> Bits<64> {
    if inside & (word == acked.get_bits::<4>(6)) {
        slot_of(acked)
    } else {
        bits::<64>(0)
    }
}

/// Returns the PSN whose slot and record an operation reads first. `Allocate` starts at `next_psn` instead.
#[hdl_fn]
pub fn first_psn(request: WindowRequest) -> Psn {
    if request.op == WindowOp::Sack {
        request.acked
    } else {
        request.psn
    }
}
