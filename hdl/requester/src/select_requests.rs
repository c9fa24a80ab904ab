//! What `TransmitSelect` asks the functional units in each step. Whether a request is issued comes later in the cycle.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::{MessageOp, MessageRequest};
use stellar_wire::hw::spray::{SprayOp, SprayRequest};
use stellar_wire::hw::window::{WindowOp, WindowRequest, WindowResponse};
use stellar_wire::hw::Psn;

use crate::rc_turn::RcTurn;
use crate::records::Op;
use crate::select_step::SelectStep;

/// Returns the question to the path policy: what it tells (`Query`), what it tells and a probe that is due (`Probe`), or a path for RC (`Choose`). `probe_waits`: a probe waits already, so no other
/// one is asked for. `empty`: no packet is in flight over MRC. Levels: 2.
#[hdl_fn]
pub fn spray_question(
    step: SelectStep,
    op: Op,
    turn: RcTurn,
    probe_waits: Bit,
    empty: Bit,
) -> SprayRequest {
    let asks_policy = step == SelectStep::AskPolicy;
    let selects = step == SelectStep::Select;
    SprayRequest {
        op: if asks_policy & !turn.tells_empty {
            SprayOp::Choose
        } else if selects | asks_policy | probe_waits {
            SprayOp::Query
        } else {
            SprayOp::Probe
        },
        qp: op.qp,
        plane: op.port,
        count: bits::<6>(1),
        empty: asks_policy | (empty & selects),
        now: op.now,
        ..SprayRequest::default()
    }
}

/// Returns the question to the transmit window: its position, or the record of the packet `psn`, which is lost. Levels: 1.
#[hdl_fn]
pub fn window_question(step: SelectStep, op: Op, psn: Psn) -> WindowRequest {
    WindowRequest {
        op: if step == SelectStep::AskSentPacket {
            WindowOp::Read
        } else {
            WindowOp::Query
        },
        qp: op.qp,
        psn,
        ..WindowRequest::default()
    }
}

/// Returns the question for the message of the first packet: the next message, or that of the packet to send again. `rc_retransmits`: RC has gone back. Levels: 2.
#[hdl_fn]
pub fn message_question(
    step: SelectStep,
    op: Op,
    rc_retransmits: Bit,
    window: WindowResponse,
) -> MessageRequest {
    let selects = step == SelectStep::Select;
    MessageRequest {
        op: if step == SelectStep::ReadSentPacket {
            MessageOp::LookupBySlot
        } else if !selects & rc_retransmits {
            MessageOp::LookupByPsn
        } else {
            MessageOp::NextMessage
        },
        qp: op.qp,
        psn: if selects {
            window.next_psn
        } else {
            op.state.rc.to_send
        },
        slot: window.sent.slot,
        ..MessageRequest::default()
    }
}
