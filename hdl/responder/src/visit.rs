//! Visits the pending packets of a queue pair, because a sender may not request an acknowledgement of its last packet (reference: `Coalescer::visit`, `Responder::visit`).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::requester::TxAnswer;
use stellar_wire::hw::tx::{TxCcState, TxSeth};
use stellar_wire::mrc::PathHint;
use stellar_wire::Opcode;

use crate::answer::answer_entropy;
use crate::coalesce::is_covered;
use crate::records::{Coalescing, LookupReg, Pending, ReceiveState, Visited};

/// SETH.ACK_PSN_OFFSET of a visit's SACK: -63, a packet that was mostly reported before.
const OLD_PACKET: u64 = 0xffc1;

/// The pending packets of a word after a visit, which reports the word (`told`) or another one. Levels: 2.
#[hdl_fn]
fn after(pending: Pending, told: Bit, covered: Bit, tells: Bit) -> Pending {
    Pending {
        count: if tells & (told | covered) {
            bits::<6>(0)
        } else {
            pending.count
        },
        ..pending
    }
}

/// What a visit does with the pending packets of a queue pair. Levels: 6 (word covered 1 behind a carry chain, which word 1, counts 2, any left 2).
#[hdl_fn]
pub fn visit(state: ReceiveState) -> Visited {
    let before = state.coalescing;
    let even = before.even;
    let odd = before.odd;
    let has_even = even.count.any();
    let has_odd = odd.count.any();
    let even_covered = is_covered(even.word, state.expected);
    let odd_covered = is_covered(odd.word, state.expected);
    let tells = before.aged & (has_even | has_odd);
    let tells_odd = has_odd & (!has_even | even_covered);
    let even_left = has_even & !(tells & (!tells_odd | even_covered));
    let odd_left = has_odd & !(tells & (tells_odd | odd_covered));
    Visited {
        tells: tells & state.mrc & !state.failed,
        told: if tells_odd { odd } else { even },
        coalescing: Coalescing {
            even: after(even, !tells_odd, even_covered, tells),
            odd: after(odd, tells_odd, odd_covered, tells),
            aged: even_left | odd_left,
            ..before
        },
    }
}

/// Nothing is pending any more.
#[hdl_fn]
pub fn forget(before: Coalescing) -> Coalescing {
    let even = before.even;
    let odd = before.odd;
    Coalescing {
        even: Pending {
            count: bits::<6>(0),
            ..even
        },
        odd: Pending {
            count: bits::<6>(0),
            ..odd
        },
        aged: false,
        ..before
    }
}

/// The SACK of a visit, without the word that it reports and the counts of CC_STATE. Levels: 2, or a carry chain.
#[hdl_fn]
pub fn visit_answer(looked_up: LookupReg, state: ReceiveState) -> TxAnswer {
    let draft = looked_up.answer;
    let newest = state.newest;
    let cack = state.expected - 1;
    TxAnswer {
        qp: looked_up.operation.qp,
        opcode: bits::<8>(Opcode::MrcSack.code() as u64),
        psn: cack,
        entropy: answer_entropy(looked_up, newest.entropy),
        reflected: newest.entropy,
        seth: TxSeth {
            path_hint: bits::<2>(PathHint::Good.code() as u64),
            probe_response: false,
            ack_psn_offset: bits::<16>(OLD_PACKET),
            cack_psn: cack,
            mpr: draft.seth.mpr,
            sack_offset: bits::<16>(0),
            bitmap: bits::<64>(0),
        },
        cc_state: TxCcState {
            timestamp: newest.timestamp,
            ooo_count: bits::<15>(0),
            restore_cwnd: false,
            rcv_cwnd_pen: bits::<7>(0),
            rcvd_bytes: bits::<24>(0),
        },
        ..draft
    }
}
