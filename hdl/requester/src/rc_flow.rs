//! Processes an acknowledgement or an expired timer of an RC queue pair (reference: `RcRequester::on_ack`, `on_timer`).

use hdl_macros::{hdl, hdl_fn};
use rust_hdl::prelude::*;
use stellar_wire::host::WcStatus;
use stellar_wire::NakCode;

use crate::deadline::reached;
use crate::records::{NextAction, Op, OpKind, OpResult, RcState, RequesterState, StatPulses};

/// AETH syndromes: bits 7:5 of an ACK and of a NAK. Bits 4:0 of a NAK are its code.
const ACK: u64 = 0b000;
const NAK: u64 = 0b011;
/// Highest NAK code that is defined.
const LAST_CODE: u64 = NakCode::InvalidRdRequest.code() as u64;

/// Step of the flow.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Step {
    Idle,
    /// Determines what is acknowledged, and whether to retransmit or to fail.
    Classify,
    /// Moves the window, or goes back.
    UpdateWindow,
}

/// Meaning of an acknowledgement or of a timeout.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct AckVerdict {
    /// Packets newly acknowledged, from the oldest on.
    acknowledged: Bits<24>,
    /// Go-back-N: all other packets are retransmitted, at the cost of a retry.
    goes_back_n: Bit,
    /// The peer refused the packet after those acknowledged. Its message fails with `status`.
    refused: Bit,
    status: Bits<8>,
}

/// Returns the completion status of a message that was refused with a NAK. Levels: 1.
#[hdl_fn]
fn refusal(code: Bits<5>) -> Bits<8> {
    if code == (NakCode::RemoteAccessError.code() as u64) {
        bits::<8>(WcStatus::RemAccessErr.code() as u64)
    } else if code == (NakCode::InvalidRequest.code() as u64) {
        bits::<8>(WcStatus::RemInvReqErr.code() as u64)
    } else {
        bits::<8>(WcStatus::RemOpErr.code() as u64)
    }
}

/// Processes the ACK or NAK `op.control`, or goes back if there was no progress within the timeout. It uses no functional unit.
#[derive(LogicBlock, Default)]
pub struct RcFlow {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub start: Signal<In, Bit>,
    pub op: Signal<In, Op>,
    pub done: Signal<Out, Bit>,
    pub result: Signal<Out, OpResult>,
    pub stats: Signal<Out, StatPulses>,

    step: DFF<Step>,
    /// Distances from `una`: to the PSN of the acknowledgement, to the next PSN to send, and to the next new PSN.
    acked_offset: DFF<Bits<24>>,
    to_send_offset: DFF<Bits<24>>,
    outstanding: DFF<Bits<24>>,
    /// The deadline has passed.
    late: DFF<Bit>,
    verdict: DFF<AckVerdict>,
}

impl Logic for RcFlow {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            step,
            acked_offset,
            to_send_offset,
            outstanding,
            late,
            verdict
        );
        let op = self.op.val();
        let state = op.state;
        let timer = op.kind == OpKind::Timer;
        let step = self.step.q.val();

        // classify
        let acked_offset = self.acked_offset.q.val();
        let outstanding = self.outstanding.q.val();
        let known = !timer & (acked_offset < outstanding);
        let syndrome = op.control.aeth.syndrome;
        let code = syndrome.get_bits::<5>(0);
        let ack = known & (syndrome.get_bits::<3>(5) == ACK);
        let nak = known & (syndrome.get_bits::<3>(5) == NAK) & (code <= LAST_CODE);
        let sequence = nak & (code == (NakCode::PsnSequenceError.code() as u64));
        let late = timer & self.late.q.val();

        // update the window
        let verdict = self.verdict.q.val();
        let progress = verdict.acknowledged.any();
        let una = state.una + verdict.acknowledged;
        let retries = if progress {
            bits::<8>(0)
        } else {
            state.rc.retries
        };
        let exhausted = verdict.goes_back_n & (retries >= op.settings.retry_budget);
        let retransmits = verdict.goes_back_n & !exhausted;
        let overtaken = self.to_send_offset.q.val() < verdict.acknowledged;
        let restarts_timer = progress | retransmits;

        self.done.next = step == Step::UpdateWindow;
        self.result.next = OpResult {
            state: RequesterState {
                una,
                armed: if retransmits {
                    true
                } else if progress {
                    verdict.acknowledged != outstanding
                } else {
                    state.armed
                },
                deadline: if restarts_timer {
                    op.now + bit_cast::<32, 21>(op.settings.rto)
                } else {
                    state.deadline
                },
                rc: RcState {
                    to_send: if retransmits | overtaken {
                        una
                    } else {
                        state.rc.to_send
                    },
                    retries: if retransmits { retries + 1 } else { retries },
                    ..state.rc
                },
                ..state
            },
            packet_sent: false,
            tried_again: false,
            next_action: if verdict.refused | exhausted {
                NextAction::FailOldest
            } else if progress {
                NextAction::Complete
            } else {
                NextAction::Nothing
            },
            una,
            failed_slot_valid: true,
            slot: bits(0),
            status: if verdict.refused {
                verdict.status
            } else {
                bits::<8>(WcStatus::RetryExcErr.code() as u64)
            },
        };
        self.stats.next = StatPulses::default();

        match step {
            Step::Idle => {
                self.acked_offset.d.next = op.control.psn - state.una;
                self.to_send_offset.d.next = state.rc.to_send - state.una;
                self.outstanding.d.next = state.rc.sent - state.una;
                self.late.d.next = state.armed & reached(op.now, state.deadline);
                if self.start.val() {
                    self.step.d.next = Step::Classify;
                }
            }
            Step::Classify => {
                self.verdict.d.next = AckVerdict {
                    acknowledged: if ack {
                        acked_offset + 1
                    } else if nak {
                        acked_offset
                    } else {
                        bits::<24>(0)
                    },
                    goes_back_n: sequence | late,
                    refused: nak & !sequence,
                    status: refusal(code),
                };
                self.stats.next.ack = ack;
                self.stats.next.nak = nak;
                self.stats.next.ack_ignored = !timer & !ack & !nak;
                self.stats.next.timeout = late;
                self.step.d.next = Step::UpdateWindow;
            }
            Step::UpdateWindow => {
                self.step.d.next = Step::Idle;
            }
        }
        if self.reset.val() {
            self.step.d.next = Step::Idle;
        }
    }
}
