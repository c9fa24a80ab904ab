//! What an acknowledgement and passing time change of an RC queue pair (reference: `RcRequester::on_ack`, `on_timer`).

use hdl_macros::{hdl, hdl_fn};
use rust_hdl::prelude::*;
use stellar_wire::host::WcStatus;
use stellar_wire::NakCode;

use crate::deadline::reached;
use crate::records::{Counted, Job, JobKind, Next, Outcome, RcState, RequesterState};

/// AETH syndromes: bits 7:5 of an ACK and of a NAK, whose code is below.
const ACK: u64 = 0b000;
const NAK: u64 = 0b011;
/// NAK codes there are.
const LAST_CODE: u64 = NakCode::InvalidRdRequest.code() as u64;

/// Where the flow is.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Step {
    Idle,
    /// Which packets it acknowledges, and what else it asks for.
    Judge,
    /// The window moves, or goes back.
    Move,
}

/// What an acknowledgement, or a timer, is.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Verdict {
    /// Packets acknowledged, from the oldest on.
    acknowledged: Bits<24>,
    /// Everything else is to be sent again, at the cost of a retry.
    goes_back: Bit,
    /// The packet behind is refused for good, with `status` for its message.
    refused: Bit,
    status: Bits<8>,
}

/// Completion status of a message that is refused with a NAK. Levels: 1.
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

/// Takes in the ACK or NAK `job.control`, or goes back if there was no progress for the timeout. It asks no server.
#[derive(LogicBlock, Default)]
pub struct RcFlow {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub start: Signal<In, Bit>,
    pub job: Signal<In, Job>,
    pub done: Signal<Out, Bit>,
    pub outcome: Signal<Out, Outcome>,
    pub counted: Signal<Out, Counted>,

    step: DFF<Step>,
    /// Packets from the oldest unacknowledged one to that of the acknowledgement, to the one to send, and to the next new one.
    answered: DFF<Bits<24>>,
    ahead: DFF<Bits<24>>,
    outstanding: DFF<Bits<24>>,
    /// The time is over.
    late: DFF<Bit>,
    verdict: DFF<Verdict>,
}

impl Logic for RcFlow {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            step,
            answered,
            ahead,
            outstanding,
            late,
            verdict
        );
        let job = self.job.val();
        let state = job.state;
        let timer = job.kind == JobKind::Timer;
        let step = self.step.q.val();

        // judge
        let answered = self.answered.q.val();
        let outstanding = self.outstanding.q.val();
        let known = !timer & (answered < outstanding);
        let syndrome = job.control.aeth.syndrome;
        let code = syndrome.get_bits::<5>(0);
        let ack = known & (syndrome.get_bits::<3>(5) == ACK);
        let nak = known & (syndrome.get_bits::<3>(5) == NAK) & (code <= LAST_CODE);
        let sequence = nak & (code == (NakCode::PsnSequenceError.code() as u64));
        let late = timer & self.late.q.val();

        // move
        let verdict = self.verdict.q.val();
        let progress = verdict.acknowledged.any();
        let una = state.una + verdict.acknowledged;
        let retries = if progress {
            bits::<8>(0)
        } else {
            state.rc.retries
        };
        let exhausted = verdict.goes_back & (retries >= job.settings.retry_budget);
        let returns = verdict.goes_back & !exhausted;
        let overtaken = self.ahead.q.val() < verdict.acknowledged;
        let anew = progress | returns;

        self.done.next = step == Step::Move;
        self.outcome.next = Outcome {
            state: RequesterState {
                una,
                armed: if returns {
                    true
                } else if progress {
                    verdict.acknowledged != outstanding
                } else {
                    state.armed
                },
                deadline: if anew {
                    job.now + bit_cast::<32, 21>(job.settings.rto)
                } else {
                    state.deadline
                },
                rc: RcState {
                    to_send: if returns | overtaken {
                        una
                    } else {
                        state.rc.to_send
                    },
                    retries: if returns { retries + 1 } else { retries },
                    ..state.rc
                },
                ..state
            },
            served: false,
            told: false,
            then: if verdict.refused | exhausted {
                Next::FailOldest
            } else if progress {
                Next::Complete
            } else {
                Next::Nothing
            },
            una,
            blame: true,
            slot: bits(0),
            status: if verdict.refused {
                verdict.status
            } else {
                bits::<8>(WcStatus::RetryExcErr.code() as u64)
            },
        };
        self.counted.next = Counted::default();

        match step {
            Step::Idle => {
                self.answered.d.next = job.control.psn - state.una;
                self.ahead.d.next = state.rc.to_send - state.una;
                self.outstanding.d.next = state.rc.sent - state.una;
                self.late.d.next = state.armed & reached(job.now, state.deadline);
                if self.start.val() {
                    self.step.d.next = Step::Judge;
                }
            }
            Step::Judge => {
                self.verdict.d.next = Verdict {
                    acknowledged: if ack {
                        answered + 1
                    } else if nak {
                        answered
                    } else {
                        bits::<24>(0)
                    },
                    goes_back: sequence | late,
                    refused: nak & !sequence,
                    status: refusal(code),
                };
                self.counted.next.ack = ack;
                self.counted.next.nak = nak;
                self.counted.next.ack_ignored = !timer & !ack & !nak;
                self.counted.next.timeout = late;
                self.step.d.next = Step::Move;
            }
            Step::Move => {
                self.step.d.next = Step::Idle;
            }
        }
        if self.reset.val() {
            self.step.d.next = Step::Idle;
        }
    }
}
