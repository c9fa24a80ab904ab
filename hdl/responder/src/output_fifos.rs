//! The output FIFOs of the responder.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{QpSrc, Src, SyncFifo};
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::Completion;
use stellar_wire::hw::requester::TxAnswer;
use stellar_wire::hw::Qpn;

use crate::records::{Committed, UpdateReg};

/// The output FIFOs of the responder, one for each output stream. An operation in the stage `commit` may write all of them in one cycle, so it waits until all of them have space.
/// Levels: room 1, completions 2.
#[derive(LogicBlock, Default)]
pub struct OutputFifos {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // An operation commits. Only when `room` is high.
    pub commits: Signal<In, Bit>,
    pub updated: Signal<In, UpdateReg>,
    pub committed: Signal<In, Committed>,
    pub room: Signal<Out, Bit>,
    /// The completion of the operation leaves before it commits, because others follow from the stash. Accepted if there is space.
    pub early: Signal<In, Bit>,
    // A completion of the stash, in a cycle in which no operation commits. Accepted if there is space.
    pub stashed_valid: Signal<In, Bit>,
    pub stashed: Signal<In, Completion>,
    pub completion_room: Signal<Out, Bit>,

    pub answer: Src<TxAnswer>,
    pub completion: Src<Completion>,
    pub failed: QpSrc,

    // Four entries cover the cycle of delay of `room`, for a receiver that accepts one per cycle. Two entries are enough for the other stream.
    answers: SyncFifo<TxAnswer, 2, 3>,
    completions: SyncFifo<Completion, 2, 3>,
    failures: SyncFifo<Qpn, 1, 2>,
}

impl Logic for OutputFifos {
    #[hdl]
    fn update(&mut self) {
        clock_reset!(self, answers, completions, failures);

        let commits = self.commits.val();
        let updated = self.updated.val();
        let committed = self.committed.val();
        self.room.next = self.answers.in_.ready.val()
            & self.completions.in_.ready.val()
            & self.failures.in_.ready.val();

        self.answers.in_.valid.next = commits & committed.answered;
        self.answers.in_.data.next = committed.answer;

        let stashed_valid = self.stashed_valid.val();
        self.completions.in_.valid.next =
            stashed_valid | self.early.val() | (commits & committed.completed);
        self.completions.in_.data.next = if stashed_valid {
            self.stashed.val()
        } else {
            committed.completion
        };
        self.completion_room.next = self.completions.in_.ready.val();

        self.failures.in_.valid.next = commits & updated.fails;
        self.failures.in_.data.next = updated.operation.qp;

        join!(
            self,
            answers.out => answer,
            completions.out => completion,
            failures.out.valid => failed.valid,
            failures.out.data => failed.qp,
            failed.ready => failures.out.ready,
        );
    }
}
