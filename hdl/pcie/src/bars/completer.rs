//! The completer of a PCIe endpoint.

use hdl_macros::{clock, clock_reset, hdl, join};
use hdl_primitives::{BarAccessSrc, BarDataSnk, StreamSkid};
use rust_hdl::prelude::*;
use stellar_wire::hw::completer::CompleterWork;

use super::answer_beats::AnswerBeats;
use super::request_executor::RequestExecutor;
use super::request_words::RequestWords;
use crate::bundles::{AxisSnk, AxisSrc};
use crate::requester::message_gate::{INSIDE_BITS, LEFT_BITS};

/// For 1,024 bits (CPM5, PG346).
pub type Completer1024 = Completer<1024, 32, 465, 196, 165>;
/// For 512 bits (PCIE4, PCIE4C, PL PCIE5; PG213, PG343).
pub type Completer512 = Completer<512, 16, 183, 96, 81>;

/// Answers the host's requests to BARs: [`RequestWords`], [`RequestExecutor`] and [`AnswerBeats`], with their ports and parameters. `U` and `C` are the
/// bits of `tuser` of requests and completions, `D` is the bit `discontinue` of the former.
#[derive(LogicBlock, Default)]
pub struct Completer<const W: usize, const N: usize, const U: usize, const D: usize, const C: usize>
{
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // From and to AMD's block.
    pub cq: AxisSnk<W, N, U>,
    pub cc: AxisSrc<W, N, C>,
    // To the BARs, and the words that they return.
    pub access: BarAccessSrc,
    pub word: BarDataSnk,
    // Counters: one cycle per event.
    pub refused: Signal<Out, Bit>,
    pub damaged: Signal<Out, Bit>,
    /// Interrupt messages in the request stream, and those that leave it.
    pub messages: Signal<In, Bits<INSIDE_BITS>>,
    pub messages_left: Signal<In, Bits<LEFT_BITS>>,

    requests: RequestWords<W, N, U, D>,
    skid: StreamSkid<CompleterWork>,
    executor: RequestExecutor,
    answers: AnswerBeats<W, N, C>,
}

impl<const W: usize, const N: usize, const U: usize, const D: usize, const C: usize> Logic
    for Completer<W, N, U, D, C>
{
    #[hdl]
    fn update(&mut self) {
        clock_reset!(self, requests, skid, executor);
        clock!(self, clock, answers);
        join!(
            self,
            cq => requests.cq,
            requests.work => skid.in_,
            skid.out => executor.work,
            executor.access => access,
            word => executor.word,
            executor.answer => answers.answer,
            answers.cc => cc,
            messages => answers.messages,
            messages_left => answers.messages_left,
            executor.refused => refused,
            requests.damaged => damaged,
        );
    }
}
