//! The output FIFOs of the responder.

use hdl_macros::hdl;
use hdl_primitives::SyncFifo;
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::Completion;
use stellar_wire::hw::requester::TxAnswer;
use stellar_wire::hw::Qpn;

use crate::records::{Committed, ThresholdReached, UpdateReg};

/// A FIFO for each output stream. An operation that settles writes all of them in one cycle, so it waits until all of them have space.
/// Levels: room 1, completions 2.
#[derive(LogicBlock, Default)]
pub struct OutputFifos {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // An operation settles. Only when `room` is high.
    pub settles: Signal<In, Bit>,
    pub accounted: Signal<In, UpdateReg>,
    pub settled: Signal<In, Committed>,
    pub room: Signal<Out, Bit>,
    // A completion of the stash, in a cycle in which no operation settles. Accepted if there is space.
    pub stashed_valid: Signal<In, Bit>,
    pub stashed: Signal<In, Completion>,
    pub completion_room: Signal<Out, Bit>,

    pub answer_valid: Signal<Out, Bit>,
    pub answer: Signal<Out, TxAnswer>,
    pub answer_ready: Signal<In, Bit>,
    pub completion_valid: Signal<Out, Bit>,
    pub completion: Signal<Out, Completion>,
    pub completion_ready: Signal<In, Bit>,
    pub threshold_valid: Signal<Out, Bit>,
    pub threshold: Signal<Out, ThresholdReached>,
    pub threshold_ready: Signal<In, Bit>,
    pub failed_valid: Signal<Out, Bit>,
    pub failed_qp: Signal<Out, Qpn>,
    pub failed_ready: Signal<In, Bit>,

    // Four entries cover the cycle of delay of `room`, for a receiver that accepts one per cycle. Two entries are enough for the other streams.
    answers: SyncFifo<TxAnswer, 2, 3>,
    completions: SyncFifo<Completion, 2, 3>,
    thresholds: SyncFifo<ThresholdReached, 1, 2>,
    failures: SyncFifo<Qpn, 1, 2>,
}

impl Logic for OutputFifos {
    #[hdl]
    fn update(&mut self) {
        clock!(self, clock, answers, completions, thresholds, failures);
        self.answers.reset.next = self.reset.val();
        self.completions.reset.next = self.reset.val();
        self.thresholds.reset.next = self.reset.val();
        self.failures.reset.next = self.reset.val();

        let settles = self.settles.val();
        let updated = self.accounted.val();
        let committed = self.settled.val();
        self.room.next = self.answers.in_ready.val()
            & self.completions.in_ready.val()
            & self.thresholds.in_ready.val()
            & self.failures.in_ready.val();

        self.answers.in_valid.next = settles & committed.answered;
        self.answers.in_data.next = committed.answer;
        self.answer_valid.next = self.answers.out_valid.val();
        self.answer.next = self.answers.out_data.val();
        self.answers.out_ready.next = self.answer_ready.val();

        let stashed_valid = self.stashed_valid.val();
        self.completions.in_valid.next = stashed_valid | (settles & committed.completed);
        self.completions.in_data.next = if stashed_valid {
            self.stashed.val()
        } else {
            committed.completion
        };
        self.completion_room.next = self.completions.in_ready.val();
        self.completion_valid.next = self.completions.out_valid.val();
        self.completion.next = self.completions.out_data.val();
        self.completions.out_ready.next = self.completion_ready.val();

        self.thresholds.in_valid.next = settles & committed.reached;
        self.thresholds.in_data.next = ThresholdReached {
            qp: updated.operation.qp,
            count: committed.state.count,
        };
        self.threshold_valid.next = self.thresholds.out_valid.val();
        self.threshold.next = self.thresholds.out_data.val();
        self.thresholds.out_ready.next = self.threshold_ready.val();

        self.failures.in_valid.next = settles & updated.fails;
        self.failures.in_data.next = updated.operation.qp;
        self.failed_valid.next = self.failures.out_valid.val();
        self.failed_qp.next = self.failures.out_data.val();
        self.failures.out_ready.next = self.failed_ready.val();
    }
}
