//! Comparison of a SACK with the window: `SackView::check` of the reference, and the slots that the SACK acknowledges.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::window::{SackVerdict, WindowOp, WindowRequest};
use stellar_wire::hw::Psn;

use crate::blocks::{place_of, slot_of, Place};
use crate::row::WindowRow;

/// Position of a SACK relative to the window. The index of a block is the number of blocks of the window before it.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct SackSpan {
    /// The cumulative PSN is before the window. If it is more than 4,096 before it, `out_of_window` is set too.
    pub overtaken: Bit,
    pub out_of_window: Bit,
    /// The cumulative or the answered PSN has not been sent.
    pub unsent_psn: Bit,
    /// Number of PSNs sent from bit 0 of the bitmap on: none, at least 64, or `sent_bits`.
    pub none_sent: Bit,
    pub all_sent: Bit,
    pub sent_bits: Bits<6>,
    /// The cumulative PSN lies in the window, in the block with this index.
    pub cumulative: Bit,
    pub cumulative_index: Bits<8>,
    /// The answered packet lies in the window, in the block with this index.
    pub answered: Bit,
    pub answered_index: Bits<8>,
    /// The bitmap, split at the boundaries of blocks: of the block of its base, and of the two behind that.
    pub low: Bits<32>,
    pub middle: Bits<32>,
    pub high: Bits<32>,
    /// Places of the three blocks.
    pub low_place: Place,
    pub middle_place: Place,
    pub high_place: Place,
    /// Index of the first of them, negative if it lies before the window.
    pub low_index: Place,
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
    let una_place = place_of(row.una);
    let base_place = place_of(base);
    let cut = bit_cast::<96, 64>(sack.bitmap) << base.get_bits::<5>(0);
    SackSpan {
        overtaken: from_before.get_bit(23),
        out_of_window: from_before.get_bit(23) & !from_before.get_bits::<11>(12).all(),
        unsent_psn: !cack_after_end.get_bit(23) | !acked_after_end.get_bit(23),
        none_sent: !base_sent,
        all_sent: base_sent & sent_from_base.get_bits::<18>(6).any(),
        sent_bits: sent_from_base.get_bits::<6>(0),
        cumulative: !after_una.get_bit(23),
        cumulative_index: cack.get_bits::<8>(5) - row.una.get_bits::<8>(5),
        answered: (sack.acked - row.una) < (row.next_psn - row.una),
        answered_index: sack.acked.get_bits::<8>(5) - row.una.get_bits::<8>(5),
        low: cut.get_bits::<32>(0),
        middle: cut.get_bits::<32>(32),
        high: cut.get_bits::<32>(64),
        low_place: base_place,
        middle_place: base_place + 1,
        high_place: base_place + 2,
        low_index: base_place - una_place,
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

/// Index of the last block of the window that an accepted SACK names.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct LastNamed {
    /// By its cumulative and answered PSNs.
    pub psns: Bits<8>,
    /// By its bitmap, if that is not empty.
    pub bitmap: Bits<8>,
    pub by_bitmap: Bit,
}

/// Returns the last block that an accepted SACK names. 5 levels and a carry chain.
#[hdl_fn]
pub fn last_named(span: SackSpan) -> LastNamed {
    let parts = if span.high.any() {
        bits::<19>(2)
    } else {
        bits::<19>(0).replace_bit(0, span.middle.any())
    };
    let bitmap_end = span.low_index + parts;
    let bitmap = if bitmap_end.get_bit(18) {
        bits::<8>(0)
    } else {
        bitmap_end.get_bits::<8>(0)
    };
    let any = span.low.any() | span.middle.any() | span.high.any();
    let cumulative = if span.cumulative {
        span.cumulative_index
    } else {
        bits::<8>(0)
    };
    let answered = if span.answered {
        span.answered_index
    } else {
        bits::<8>(0)
    };
    LastNamed {
        psns: if cumulative < answered {
            answered
        } else {
            cumulative
        },
        bitmap,
        by_bitmap: any,
    }
}

/// Returns whether the SACK names a block behind the one with this index. 1 level behind a carry chain of 8 bits.
#[hdl_fn]
pub fn names_behind(last: LastNamed, index: Bits<8>) -> Bit {
    (index < last.psns) | (last.by_bitmap & (index < last.bitmap))
}

/// Returns the slots of a block that the SACK's bitmap and cumulative PSN acknowledge. In the block of `una` slots before it count too: they are acknowledged
/// already. 5 levels.
#[hdl_fn]
pub fn named_slots(span: SackSpan, cack: Psn, place: Place, index: Bits<8>) -> Bits<32> {
    let low = if place == span.low_place {
        span.low
    } else {
        bits::<32>(0)
    };
    let middle = if place == span.middle_place {
        span.middle
    } else {
        bits::<32>(0)
    };
    let high = if place == span.high_place {
        span.high
    } else {
        bits::<32>(0)
    };
    let up_to_cack = !((Bits::<32>::mask() << cack.get_bits::<5>(0)) << 1);
    let covered = if !span.cumulative {
        bits::<32>(0)
    } else if index < span.cumulative_index {
        Bits::<32>::mask()
    } else if index == span.cumulative_index {
        up_to_cack
    } else {
        bits::<32>(0)
    };
    low | middle | high | covered
}

/// Returns whether the answered packet lies in the block with this index. 2 levels.
#[hdl_fn]
pub fn is_answered_block(span: SackSpan, index: Bits<8>) -> Bit {
    span.answered & (index == span.answered_index)
}

/// Returns the slot of the answered packet, if it lies in this block. 3 levels.
#[hdl_fn]
pub fn answered_slot(acked: Psn, here: Bit) -> Bits<32> {
    if here {
        slot_of(acked)
    } else {
        bits::<32>(0)
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
