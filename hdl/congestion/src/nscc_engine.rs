//! The congestion windows of all queue pairs (reference: `stellar_transport::congestion::Nscc`).

use hdl_macros::{clock_reset, hdl};
use hdl_primitives::{Checked, FlowSrc, Parameters, RowRam, Snk};
use rust_hdl::prelude::*;
use stellar_wire::hw::congestion::{
    CongestionSample, NsccConfig, NsccOp, NsccRequest, NsccResponse, WindowChange,
};
use stellar_wire::hw::QPN_BITS;

use crate::arithmetic::{clamp, count, less, normalise, quotient, saturated_rtt};
use crate::multiply::Multiply;
use crate::reciprocal_rom::ReciprocalRom;
use crate::records::{NsccState, Work};
use crate::sample::{average, compare, fresh, sample_of};
use crate::step::{decide, operands, penalised, window_after, Step};

/// Maximum number of cycles from the acceptance of a request to its response.
pub mod max_cycles {
    /// `Query`.
    pub const QUERY: u32 = 2;
    /// `Configure`.
    pub const CONFIGURE: u32 = 2;
    /// `Loss`. It takes [`PENALTY`] fewer cycles while the receiver sets no penalty.
    pub const LOSS: u32 = 7;
    /// `Change`. It takes as many fewer cycles.
    pub const CHANGE: u32 = 7;
    /// `Ack` with a decrease and an adjustment, both with a division. It takes [`PENALTY`] fewer cycles while the receiver sets no penalty.
    pub const ACK: u32 = 27;
    /// Part of the above that applies the receiver's penalty.
    pub const PENALTY: u32 = 3;
}

/// Congestion windows of 2^`Q` queue pairs, `Q` at most [`QPN_BITS`]. Executes one request at a time; [`max_cycles`] gives the cycles of each. `settings` belongs to a
/// `Configure` request.
///
/// State and registers of a queue pair are one row in each of two block RAMs. A request reads them once and writes them once. The longest path of an `Ack` is
/// a decrease (normalise, look up, divide, quotient, share, shrink), then an adjustment (the same division of another dividend), then the penalty. One
/// multiplier serves all of them.
///
/// A step that changes the window is followed by one that clamps it. Levels: 6.
#[derive(LogicBlock, Default)]
pub struct NsccEngine<const Q: usize = 10> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub request: Snk<NsccRequest>,
    /// Valid with a `Configure` request.
    pub settings: Signal<In, NsccConfig>,
    pub response: FlowSrc<NsccResponse>,
    /// Valid with the response to a SACK.
    pub sampled: Signal<Out, CongestionSample>,

    states: RowRam<NsccState, Q>,
    configs: RowRam<NsccConfig, Q>,
    multiply: Multiply,
    rom: ReciprocalRom,

    step: DFF<Step>,
    work: DFF<Work>,
}

impl<const Q: usize> Parameters for NsccEngine<Q> {
    fn check() {
        assert!(
            (1..=QPN_BITS).contains(&Q),
            "NsccEngine<{Q}>: use Q of 1 to {QPN_BITS} (2 to 65,536 queue pairs)"
        );
    }
}

impl<const Q: usize> Logic for NsccEngine<Q> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, step, work);
        clock_reset!(self, multiply);
        clock!(self, clock, states, configs, rom);
        let step = self.step.q.val();
        let request = self.request.record.val();
        let work = self.work.q.val();
        let asked = work.asked;
        let state = work.state;
        let registers = work.registers;
        let sample = work.sample;
        let comparison = work.comparison;
        let restores =
            (asked.change == WindowChange::Restore) | (asked.change == WindowChange::Raise);
        let done = self.multiply.done.val();
        let product = self.multiply.product.val();
        let after_response = if comparison.adjust_due {
            Step::Normalise
        } else {
            Step::Penalise
        };

        let decision = decide(work);
        let window = window_after(step, work, product);
        let operands = operands(step, work, decision, product, self.rom.reciprocal.val());
        self.multiply.a.next = operands.a;
        self.multiply.b.next = operands.b;
        self.multiply.start.next = false;

        let whole = (step == Step::Penalise) & !state.penalty.any();
        let mut state_after = state;
        state_after.allowed = match step {
            Step::RespondAtOnce => state.allowed,
            Step::Penalise => state.cwnd.get_bits::<24>(8),
            _ => penalised(work, product),
        };
        let responds = ((step == Step::Respond) & done) | (step == Step::RespondAtOnce) | whole;

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
                if self.request.valid.val() {
                    self.step.d.next = if request.op == NsccOp::Configure {
                        Step::Begin
                    } else {
                        Step::Load
                    };
                }
            }
            Step::Begin => {
                self.work.d.next.state = fresh(registers, asked.now);
                self.step.d.next = Step::RespondAtOnce;
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
                    NsccOp::Loss => Step::SubtractLoss,
                    NsccOp::Change => {
                        if restores {
                            Step::Resume
                        } else {
                            Step::RespondAtOnce
                        }
                    }
                    _ => Step::RespondAtOnce,
                };
                if asked.op == NsccOp::Ack {
                    self.work.d.next.state.penalty = asked.penalty;
                }
                if (asked.op == NsccOp::Change) & (asked.change == WindowChange::Save) {
                    self.work.d.next.state.saved = self.states.read_data.val().cwnd;
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
                self.work.d.next.comparison = compare(state, registers, sample, asked);
                if sample.has_delay {
                    self.work.d.next.state.average_delay =
                        average(state, registers, sample, asked.ecn);
                }
                self.step.d.next = Step::Decide;
            }
            Step::Decide => {
                if decision.adapts {
                    self.work.d.next.window = window;
                    self.work.d.next.state.ignore_left = asked.in_flight;
                    self.work.d.next.state.increase = bits(0);
                    self.work.d.next.state.idle_bytes = bits(0);
                } else if decision.responds {
                    self.work.d.next.state.idle_bytes = comparison.idle_bytes;
                }
                if comparison.period_over {
                    self.work.d.next.state.achieved = bits(0);
                    self.work.d.next.state.loss_seen = false;
                    self.work.d.next.state.period_start = asked.now;
                }
                if decision.decreases {
                    self.work.d.next.state.last_decrease = asked.now;
                }
                self.work.d.next.decreasing = decision.decreases;
                self.multiply.start.next = decision.increases;
                self.step.d.next = if decision.adapts {
                    Step::Clamp
                } else if decision.decreases {
                    Step::Normalise
                } else if !decision.increases {
                    after_response
                } else if decision.grows {
                    Step::Grow
                } else if comparison.below_target {
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
            Step::Grow | Step::WriteShrunk => {
                if done {
                    self.work.d.next.window = window;
                    self.step.d.next = Step::Clamp;
                }
            }
            Step::Clamp => {
                self.work.d.next.state.cwnd = clamp(work.window, registers);
                self.step.d.next = after_response;
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
                self.step.d.next = Step::WriteShrunk;
            }
            Step::Adjust => {
                self.work.d.next.window = window;
                self.work.d.next.comparison.adjust_due = false;
                self.work.d.next.state.increase = bits(0);
                self.work.d.next.state.received = bits(0);
                self.work.d.next.state.last_adjust = asked.now;
                if comparison.eta_due {
                    self.work.d.next.state.last_eta = asked.now;
                }
                self.step.d.next = Step::Clamp;
            }
            Step::SubtractLoss | Step::Resume => {
                self.work.d.next.window = window;
                self.work.d.next.comparison.adjust_due = false;
                if step == Step::SubtractLoss {
                    self.work.d.next.state.loss_seen = true;
                }
                self.step.d.next = Step::Clamp;
            }
            Step::Penalise => {
                self.multiply.start.next = !whole;
                self.step.d.next = if whole { Step::Idle } else { Step::Respond };
            }
            Step::Respond | Step::RespondAtOnce => {
                if responds {
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
        self.states.write_enable.next = responds;
        self.states.write_address.next = row;
        self.states.write_data.next = state_after;
        self.configs.read_address.next = row;
        self.configs.write_enable.next = responds;
        self.configs.write_address.next = row;
        self.configs.write_data.next = registers;

        self.request.ready.next = step == Step::Idle;
        self.response.valid.next = responds;
        self.response.record.next = NsccResponse {
            cwnd: state_after.allowed,
        };
        self.sampled.next = CongestionSample {
            valid: responds & (asked.op == NsccOp::Ack) & asked.sample,
            qp: asked.qp,
            cwnd: state_after.allowed,
            in_flight: asked.in_flight,
            rtt_valid: asked.rtt_valid,
            rtt: asked.rtt,
        };
        if self.reset.val() {
            self.step.d.next = Step::Idle;
        }
    }
}
