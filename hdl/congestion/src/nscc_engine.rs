//! The congestion windows of all queue pairs (reference: `stellar_transport::congestion::Nscc`).

use hdl_macros::hdl;
use hdl_primitives::BlockRam;
use rust_hdl::prelude::*;
use stellar_wire::hw::congestion::{
    CongestionSample, NsccConfig, NsccOp, NsccRequest, NsccResponse,
};

use crate::arithmetic::*;
use crate::multiply::Multiply;
use crate::reciprocal_rom::ReciprocalRom;
use crate::records::{NsccState, Work};
use crate::sample::*;
use crate::step::*;

/// Most clocks from the one in which a request is taken to that of its response.
pub mod max_clocks {
    /// Of `Query`.
    pub const QUERY: u32 = 2;
    /// Of `Configure`.
    pub const CONFIGURE: u32 = 2;
    /// Of `Loss`: less by [`PENALTY`] while the receiver asks for no penalty.
    pub const LOSS: u32 = 6;
    /// Of `Ack`, a decrease and an adjustment, both with a division; less in the same way.
    pub const ACK: u32 = 25;
    /// Of a receiver's penalty.
    pub const PENALTY: u32 = 3;
}

/// One request at a time; [`max_clocks`] says how long each takes. `settings` belongs to the request `Configure`.
///
/// State and registers of a queue pair are a row each of two block RAMs, read once and written once per request. The longest way of an `Ack`: decrease
/// (normalise, look up, divide, quotient, share, shrink) and adjustment (the same division of another dividend), then the penalty; one multiplier
/// serves them all.
///
/// `Q` is the log2 of the number of queue pairs, at most 10.
/// Levels: 8 (lost bytes off the window 1, choice of the window 2, clamp 3, state 2; two carry chains).
#[derive(LogicBlock)]
pub struct NsccEngine<const Q: usize = 10> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub request_valid: Signal<In, Bit>,
    pub request: Signal<In, NsccRequest>,
    pub request_ready: Signal<Out, Bit>,
    /// With the request.
    pub settings: Signal<In, NsccConfig>,
    pub response_valid: Signal<Out, Bit>,
    pub response: Signal<Out, NsccResponse>,
    /// With the response to a SACK.
    pub sampled: Signal<Out, CongestionSample>,

    states: BlockRam<NsccState, Q>,
    configs: BlockRam<NsccConfig, Q>,
    multiply: Multiply,
    rom: ReciprocalRom,

    step: DFF<Step>,
    work: DFF<Work>,
}

impl<const Q: usize> Default for NsccEngine<Q> {
    fn default() -> Self {
        assert!(
            (1..=10).contains(&Q),
            "NsccEngine<{Q}>: use Q of 1 to 10 (2 to 1,024 queue pairs)"
        );
        Self {
            clock: Default::default(),
            reset: Default::default(),
            request_valid: Default::default(),
            request: Default::default(),
            request_ready: Default::default(),
            settings: Default::default(),
            response_valid: Default::default(),
            response: Default::default(),
            sampled: Default::default(),
            states: Default::default(),
            configs: Default::default(),
            multiply: Default::default(),
            rom: Default::default(),
            step: Default::default(),
            work: Default::default(),
        }
    }
}

impl<const Q: usize> Logic for NsccEngine<Q> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, step, work);
        clock!(self, clock, states, configs, multiply, rom);
        self.multiply.reset.next = self.reset.val();
        let step = self.step.q.val();
        let request = self.request.val();
        let work = self.work.q.val();
        let asked = work.asked;
        let state = work.state;
        let registers = work.registers;
        let sample = work.sample;
        let compared = work.compared;
        let done = self.multiply.done.val();
        let product = self.multiply.product.val();
        let after_response = if compared.adjust_due {
            Step::Normalise
        } else {
            Step::Penalise
        };

        let judgement = judge(work);
        let window = window_after(step, work, product);
        let operands = operands(step, work, judgement, product, self.rom.reciprocal.val());
        self.multiply.a.next = operands.a;
        self.multiply.b.next = operands.b;
        self.multiply.start.next = false;

        let whole = (step == Step::Penalise) & !state.penalty.any();
        let mut answered = state;
        answered.allowed = match step {
            Step::Tell => state.allowed,
            Step::Penalise => state.cwnd.get_bits::<24>(8),
            _ => penalised(work, product),
        };
        let answers = ((step == Step::Answer) & done) | (step == Step::Tell) | whole;

        self.rom.mantissa.next = work.normalised.mantissa;
        let divisor = if work.decreasing {
            state.average_delay
        } else {
            state.cwnd
        };
        if done {
            self.work.d.next.quotient = quotient(product, work.normalised.exponent);
        }

        match step {
            Step::Idle => {
                self.work.d.next.asked = request;
                self.work.d.next.registers = self.settings.val();
                if self.request_valid.val() {
                    self.step.d.next = if request.op == NsccOp::Configure {
                        Step::Begin
                    } else {
                        Step::Load
                    };
                }
            }
            Step::Begin => {
                self.work.d.next.state = fresh(registers, asked.now);
                self.step.d.next = Step::Tell;
            }
            Step::Load => {
                self.work.d.next.state = self.states.read_data.val();
                self.work.d.next.registers = self.configs.read_data.val();
                self.step.d.next = match asked.op {
                    NsccOp::Ack => {
                        if asked.sample {
                            Step::Count
                        } else {
                            Step::Penalise
                        }
                    }
                    NsccOp::Loss => Step::Lose,
                    _ => Step::Tell,
                };
                if asked.op == NsccOp::Ack {
                    self.work.d.next.state.penalty = asked.penalty;
                }
            }
            Step::Count => {
                let sample = sample_of(state, registers, asked);
                let rtt = saturated_rtt(asked.rtt);
                self.work.d.next.sample = sample;
                if sample.has_delay & (rtt < state.base_rtt) {
                    self.work.d.next.state.base_rtt = rtt;
                }
                self.work.d.next.state.ignore_left = less(
                    bit_cast::<32, 24>(state.ignore_left),
                    bit_cast::<32, 24>(asked.bytes),
                )
                .get_bits::<24>(0);
                self.work.d.next.state.received = count(state.received, asked.bytes);
                self.work.d.next.state.achieved = count(state.achieved, asked.bytes);
                self.step.d.next = Step::Compare;
            }
            Step::Compare => {
                self.work.d.next.compared = compare(state, registers, sample, asked);
                if sample.has_delay {
                    self.work.d.next.state.average_delay =
                        average(state, registers, sample, asked.ecn);
                }
                self.step.d.next = Step::Judge;
            }
            Step::Judge => {
                if judgement.adapts {
                    self.work.d.next.state.cwnd = window;
                    self.work.d.next.state.ignore_left = asked.in_flight;
                    self.work.d.next.state.increase = bits(0);
                    self.work.d.next.state.idle_bytes = bits(0);
                } else if judgement.responds {
                    self.work.d.next.state.idle_bytes = compared.idle_bytes;
                }
                if compared.period_over {
                    self.work.d.next.state.achieved = bits(0);
                    self.work.d.next.state.loss_seen = false;
                    self.work.d.next.state.period_start = asked.now;
                }
                if judgement.decreases {
                    self.work.d.next.state.last_decrease = asked.now;
                }
                self.work.d.next.decreasing = judgement.decreases;
                self.multiply.start.next = judgement.increases;
                self.step.d.next = if judgement.decreases {
                    Step::Normalise
                } else if !judgement.increases {
                    after_response
                } else if judgement.grows {
                    Step::Grow
                } else if compared.below_target {
                    Step::Gain
                } else {
                    Step::Collect
                };
            }
            Step::Gain => {
                self.multiply.start.next = done;
                if done {
                    self.step.d.next = Step::Collect;
                }
            }
            Step::Collect => {
                if done {
                    self.work.d.next.state.increase = state.increase + product.get_bits::<48>(0);
                    self.step.d.next = after_response;
                }
            }
            Step::Grow => {
                if done {
                    self.work.d.next.state.cwnd = window;
                    self.step.d.next = after_response;
                }
            }
            Step::Normalise => {
                self.work.d.next.normalised = normalise(divisor);
                self.step.d.next = Step::LookUp;
            }
            Step::LookUp => self.step.d.next = Step::Divide,
            Step::Divide => {
                self.multiply.start.next = true;
                self.step.d.next = Step::Quotient;
            }
            Step::Quotient => {
                if done {
                    self.step.d.next = if work.decreasing {
                        Step::Shrink
                    } else {
                        Step::Adjust
                    };
                }
            }
            Step::Shrink => {
                self.multiply.start.next = true;
                self.work.d.next.decreasing = false;
                self.step.d.next = Step::Shrunk;
            }
            Step::Shrunk => {
                if done {
                    self.work.d.next.state.cwnd = window;
                    self.step.d.next = after_response;
                }
            }
            Step::Adjust => {
                self.work.d.next.state.cwnd = window;
                self.work.d.next.state.increase = bits(0);
                self.work.d.next.state.received = bits(0);
                self.work.d.next.state.last_adjust = asked.now;
                if compared.eta_due {
                    self.work.d.next.state.last_eta = asked.now;
                }
                self.step.d.next = Step::Penalise;
            }
            Step::Lose => {
                self.work.d.next.state.cwnd = window;
                self.work.d.next.state.loss_seen = true;
                self.step.d.next = Step::Penalise;
            }
            Step::Penalise => {
                self.multiply.start.next = !whole;
                self.step.d.next = if whole { Step::Idle } else { Step::Answer };
            }
            Step::Answer | Step::Tell => {
                if answers {
                    self.step.d.next = Step::Idle;
                }
            }
        }

        let row = if step == Step::Idle {
            request.qp.get_bits::<Q>(0)
        } else {
            asked.qp.get_bits::<Q>(0)
        };
        self.states.read_address.next = row;
        self.states.write_enable.next = answers;
        self.states.write_address.next = row;
        self.states.write_data.next = answered;
        self.configs.read_address.next = row;
        self.configs.write_enable.next = answers;
        self.configs.write_address.next = row;
        self.configs.write_data.next = registers;

        self.request_ready.next = step == Step::Idle;
        self.response_valid.next = answers;
        self.response.next = NsccResponse {
            cwnd: answered.allowed,
        };
        self.sampled.next = CongestionSample {
            valid: answers & (asked.op == NsccOp::Ack) & asked.sample,
            qp: asked.qp,
            cwnd: answered.allowed,
            in_flight: asked.in_flight,
            rtt_valid: asked.rtt_valid,
            rtt: asked.rtt,
        };
        if self.reset.val() {
            self.step.d.next = Step::Idle;
        }
    }
}
