//! One path that changes when it is congested (reference: `transport/src/spray/policy/flow_bender.rs`).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::{SprayFeedback, SprayOp, SprayRequest};
use stellar_wire::hw::Psn;
use stellar_wire::rows::BEND_ONE_IN;

// `rounded` multiplies by 16 and by 4.
const _: () = assert!(BEND_ONE_IN == 20);

/// Bits of the counts of a round.
const COUNT_BITS: usize = 14;

/// The round trip that is counted.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct BendRow {
    /// There is a round. It is over when `end` and everything before is acknowledged.
    pub open: Bit,
    pub end: Psn,
    /// Packets acknowledged in this round, and those of them with a mark. They saturate.
    pub packets: Bits<COUNT_BITS>,
    pub marked: Bits<COUNT_BITS>,
    /// Congested rounds in a row.
    pub congested: Bits<4>,
}

/// Returns the row with the packets of an acknowledgement. 2 levels and a carry chain.
#[hdl_fn]
pub fn counted(row: BendRow, request: SprayRequest) -> BendRow {
    let packets = bit_cast::<15, COUNT_BITS>(row.packets) + bit_cast::<15, 13>(request.ack.packets);
    let is_marked = (request.feedback != SprayFeedback::Good) & request.ack.packets.any();
    let more = is_marked & !row.marked.all();
    let all = request.op == SprayOp::Ack;
    BendRow {
        packets: if !all {
            row.packets
        } else if packets.get_bit(14) {
            Bits::<COUNT_BITS>::mask()
        } else {
            packets.get_bits::<COUNT_BITS>(0)
        },
        marked: row.marked + bit_cast::<COUNT_BITS, 1>((more & all).into()),
        ..row
    }
}

/// The end of a round, or not.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Rounded {
    pub row: BendRow,
    /// Another path is drawn.
    pub bends: Bit,
}

/// Returns the row after a request whose packets were counted. `bend_after`: congested rounds before the path changes. 4 levels and two carry chains.
#[hdl_fn]
pub fn rounded(row: BendRow, request: SprayRequest, bend_after: Bits<4>) -> Rounded {
    let acks = request.op == SprayOp::Ack;
    let feedback = request.feedback;
    let beyond = request.ack.una - row.end;
    let ends = acks & (!row.open | !beyond.get_bit(23));
    let sixteen = bit_cast::<19, COUNT_BITS>(row.marked) << 4;
    let four = bit_cast::<19, COUNT_BITS>(row.marked) << 2;
    let congested = (sixteen + four) > bit_cast::<19, COUNT_BITS>(row.packets);
    let late = (request.op == SprayOp::Feedback) & (feedback == SprayFeedback::Timeout);
    let asked =
        (acks | (request.op == SprayOp::Feedback)) & (feedback == SprayFeedback::AlwaysSkip);
    let one_more = row.congested + 1;
    let enough = one_more == bend_after;
    let is_congested = row.open & congested;
    let next = BendRow {
        open: true,
        end: request.ack.next_psn,
        packets: bits::<COUNT_BITS>(0),
        marked: bits::<COUNT_BITS>(0),
        congested: if is_congested & !enough {
            one_more
        } else {
            bits::<4>(0)
        },
    };
    Rounded {
        row: if ends { next } else { row },
        bends: (ends & is_congested & enough) | late | asked,
    }
}
