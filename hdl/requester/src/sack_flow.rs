//! What a SACK changes (reference: `MrcRequester::on_sack`).

use hdl_macros::{hdl, hdl_fn};
use hdl_spray_engine::entropy_lookup::Reflected;
use rust_hdl::prelude::*;
use stellar_wire::hw::congestion::{NsccOp, NsccRequest};
use stellar_wire::hw::messages::{MessageOp, MessageRequest, MessageResponse};
use stellar_wire::hw::requester::ControlPacket;
use stellar_wire::hw::spray::{SprayFeedback, SprayOp, SprayRequest};
use stellar_wire::hw::tx::TxSeth;
use stellar_wire::hw::window::{
    PacketState, SackVerdict, SentPacket, WindowOp, WindowRequest, WindowResponse,
};
use stellar_wire::mrc::PathHint;
use stellar_wire::mtu::LENGTH_BITS;

use crate::deadline::reached;
use crate::records::{Counted, Job, Next, Outcome, RequesterState};

/// Where the flow is.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Step {
    Idle,
    /// The window takes the SACK.
    Take,
    /// Path feedback, once there is room for it, and congestion control, once it is free, are told.
    Tell,
    /// The answer to a probe: its entropy value is told too.
    Probe,
    /// Early loss detection: the next packet in flight is asked for.
    Seek,
    /// It comes.
    Judge,
    /// The window takes note that it is lost.
    Lose,
    /// Congestion control is told, once it is free.
    Mourn,
}

/// MPR of a SACK, in packets: it comes in units of 128.
const MPR_SHIFT: u64 = 7;
/// Entropy value indices from here on name nothing.
const EV_INDICES: u64 = 144;

/// A PSN and a signed offset. Levels: a carry chain.
#[hdl_fn]
pub fn offset(psn: Bits<24>, by: Bits<16>) -> Bits<24> {
    let sign = if by.get_bit(15) {
        bits::<24>(0xff_0000)
    } else {
        bits::<24>(0)
    };
    psn + (bit_cast::<24, 16>(by) | sign)
}

/// The PSN that a SACK answers; of a probe's, whose offset is its identifier, none. Levels: 1 behind a carry chain.
#[hdl_fn]
fn answered_psn(seth: TxSeth) -> Bits<24> {
    if seth.probe_response {
        seth.cack_psn
    } else {
        offset(seth.cack_psn, seth.ack_psn_offset)
    }
}

/// Takes in the SACK `job.control`.
#[derive(LogicBlock, Default)]
pub struct SackFlow {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // The sequencer.
    pub start: Signal<In, Bit>,
    pub job: Signal<In, Job>,
    /// With `done`: `next_control`, a SACK of the same queue pair, is the next job, and is taken as this one ends.
    pub follows: Signal<In, Bit>,
    pub next_control: Signal<In, ControlPacket>,
    pub done: Signal<Out, Bit>,
    /// With `done`: the next one may follow.
    pub may_follow: Signal<Out, Bit>,
    pub outcome: Signal<Out, Outcome>,
    pub counted: Signal<Out, Counted>,

    // Calls.
    pub nscc_start: Signal<Out, Bit>,
    pub nscc_request: Signal<Out, NsccRequest>,
    pub nscc_busy: Signal<In, Bit>,
    pub window_start: Signal<Out, Bit>,
    pub window_request: Signal<Out, WindowRequest>,
    pub window_busy: Signal<In, Bit>,
    pub window: Signal<In, WindowResponse>,
    /// Nobody waits here for the answer.
    pub messages_start: Signal<Out, Bit>,
    pub messages_request: Signal<Out, MessageRequest>,
    pub messages_busy: Signal<In, Bit>,
    pub messages: Signal<In, MessageResponse>,
    /// The message table has been asked for the SACK before. If that fails the queue pair, this one changes nothing any more.
    pub completing: Signal<In, Bit>,

    // To the spray engine, which may be at work for a burst: moves when valid and ready.
    pub news_valid: Signal<Out, Bit>,
    pub news: Signal<Out, SprayRequest>,
    pub news_ready: Signal<In, Bit>,
    /// One clock: the SACK reflects this entropy value without a mark.
    pub good_valid: Signal<Out, Bit>,
    pub good: Signal<Out, Reflected>,

    step: DFF<Step>,
    state: DFF<RequesterState>,
    taken: DFF<Bit>,
    /// It moved the window, so messages may complete.
    moved: DFF<Bit>,
    answered: DFF<Bit>,
    /// Of the answered packet.
    at: DFF<Bits<32>>,
    una: DFF<Bits<24>>,
    in_flight: DFF<Bits<24>>,
    /// There is a sample for the congestion window.
    sample: DFF<Bit>,
    bytes: DFF<Bits<24>>,
    rtt: DFF<Bits<32>>,
    /// Where early loss detection goes on.
    from: DFF<Bits<24>>,
    suspect: DFF<SentPacket>,
}

impl Logic for SackFlow {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, step, state, taken, moved, answered, at, una, in_flight, sample);
        dff_setup!(self, clock, bytes, rtt, from, suspect);
        let job = self.job.val();
        let seth = job.control.seth;
        let step = self.step.q.val();
        let window = self.window.val();
        let suspect = self.suspect.q.val();
        let una = self.una.q.val();

        // what the window is asked
        let asked = if step == Step::Tell {
            self.next_control.val()
        } else {
            job.control
        };

        // view
        let acked = answered_psn(seth);
        let marked = seth.path_hint == (PathHint::SkipOnce.code() as u64);
        let good = seth.path_hint == (PathHint::Good.code() as u64);
        let hint = if marked {
            SprayFeedback::Skip
        } else {
            SprayFeedback::AlwaysSkip
        };
        let taken = self.taken.q.val();
        let probe_good = seth.probe_response & good & taken;
        let probe_index = seth.ack_psn_offset.get_bits::<8>(0);
        let probe_known = !seth.ack_psn_offset.get_bits::<8>(8).any() & (probe_index < EV_INDICES);

        // mpr
        let said = bit_cast::<16, 8>(seth.mpr) << MPR_SHIFT;
        let most = job.settings.mpr;
        let mpr = if said < bit_cast::<16, 11>(most) {
            said.get_bits::<11>(0)
        } else {
            most
        };

        // early loss detection
        let threshold = job.settings.early_loss;
        let ahead = acked - una;
        let margin = ahead - bit_cast::<24, 10>(threshold);
        let detects =
            self.answered.q.val() & threshold.any() & !ahead.get_bit(23) & !margin.get_bit(23);
        let within = (window.psn - una) <= margin;
        let at = self.at.q.val();
        let before = (window.sent.at != at) & reached(at, window.sent.at);

        self.news_valid.next = false;
        self.news.next = SprayRequest {
            op: if step == Step::Probe {
                SprayOp::Feedback
            } else {
                SprayOp::Reflect
            },
            qp: job.qp,
            index: probe_index,
            entropy: job.control.reflected,
            feedback: if step == Step::Probe {
                SprayFeedback::ProbeAnswered
            } else {
                hint
            },
            now: job.now,
            ..SprayRequest::default()
        };
        let changes_path = taken & !seth.probe_response & !good;
        self.good_valid.next = false;
        self.good.next = Reflected {
            qp: job.qp,
            entropy: job.control.reflected,
        };
        self.nscc_start.next = false;
        self.nscc_request.next = NsccRequest {
            op: if step == Step::Tell {
                NsccOp::Ack
            } else {
                NsccOp::Loss
            },
            qp: job.qp,
            now: job.now,
            sample: self.sample.q.val(),
            bytes: if step == Step::Tell {
                self.bytes.q.val()
            } else {
                bit_cast::<24, LENGTH_BITS>(suspect.length)
            },
            rtt_valid: self.answered.q.val(),
            rtt: self.rtt.q.val(),
            ecn: marked,
            in_flight: self.in_flight.q.val(),
            penalty: job.control.cc_state.rcv_cwnd_pen,
        };
        self.window_start.next = false;
        self.window_request.next = WindowRequest {
            op: match step {
                Step::Idle | Step::Tell => WindowOp::Sack,
                Step::Seek => WindowOp::NextInFlight,
                _ => WindowOp::Lose,
            },
            qp: job.qp,
            psn: if step == Step::Seek {
                self.from.q.val()
            } else {
                window.psn
            },
            sent: window.sent,
            count: bits::<6>(0),
            bytes: bits::<24>(0),
            cack: asked.seth.cack_psn,
            acked: answered_psn(asked.seth),
            base: offset(asked.seth.cack_psn, asked.seth.sack_offset),
            bitmap: asked.seth.bitmap,
            stamp: asked.cc_state.timestamp,
        };

        self.messages_start.next = false;
        self.messages_request.next = MessageRequest {
            op: MessageOp::Complete,
            qp: job.qp,
            psn: window.una,
            ..MessageRequest::default()
        };

        self.done.next = false;
        self.may_follow.next = false;
        self.outcome.next = Outcome {
            state: self.state.q.val(),
            served: false,
            told: false,
            then: if self.moved.q.val() {
                Next::Completing
            } else {
                Next::Nothing
            },
            una,
            blame: true,
            slot: self.messages.val().slot,
            status: self.messages.val().status,
        };
        self.counted.next = Counted::default();

        match step {
            Step::Idle => {
                if self.start.val() {
                    self.state.d.next = job.state;
                    self.window_start.next = true;
                    self.step.d.next = Step::Take;
                }
            }
            Step::Take => {
                let is_taken = window.verdict == SackVerdict::Taken;
                let moves = is_taken & (window.una != self.state.q.val().una);
                self.taken.d.next = is_taken;
                self.moved.d.next = moves;
                self.answered.d.next = is_taken & window.answered;
                self.at.d.next = window.sent.at;
                self.una.d.next = window.una;
                self.from.d.next = window.una;
                self.in_flight.d.next = window.in_flight;
                self.sample.d.next = window.packets.any() | (window.state != PacketState::Free);
                self.bytes.d.next = window.bytes;
                self.rtt.d.next = job.now - window.sent.at;
                if self.window_busy.val() | self.messages_busy.val() {
                    self.step.d.next = Step::Take;
                } else if self.completing.val() & self.messages.val().found {
                    self.done.next = true;
                    self.outcome.next.then = Next::Fail;
                    self.step.d.next = Step::Idle;
                } else {
                    self.messages_start.next = moves;
                    self.counted.next.sack = is_taken;
                    self.counted.next.sack_out_of_window =
                        window.verdict == SackVerdict::OutOfWindow;
                    self.counted.next.sack_inconsistent =
                        window.verdict == SackVerdict::Inconsistent;
                    self.counted.next.stale_sack =
                        is_taken & window.overtaken & !window.packets.any();
                    self.counted.next.ecn_mark = is_taken & marked & !seth.probe_response;
                    self.counted.next.probe_answer = is_taken & seth.probe_response;
                    if is_taken {
                        self.counted.next.spurious = window.spurious;
                        self.state.d.next.una = window.una;
                        if seth.mpr.any() {
                            self.state.d.next.mpr = mpr;
                        }
                    }
                    self.step.d.next = Step::Tell;
                }
            }
            Step::Tell => {
                if self.news_ready.val() & (!taken | !self.nscc_busy.val()) {
                    self.news_valid.next = changes_path;
                    self.good_valid.next = good;
                    self.nscc_start.next = taken;
                    if probe_good & probe_known {
                        self.step.d.next = Step::Probe;
                    } else if detects {
                        self.step.d.next = Step::Seek;
                    } else {
                        self.done.next = true;
                        self.may_follow.next = true;
                        self.window_start.next = self.follows.val();
                        self.step.d.next = if self.follows.val() {
                            Step::Take
                        } else {
                            Step::Idle
                        };
                    }
                }
            }
            Step::Probe => {
                if self.news_ready.val() {
                    self.news_valid.next = true;
                    if detects {
                        self.step.d.next = Step::Seek;
                    } else {
                        self.done.next = true;
                        self.step.d.next = Step::Idle;
                    }
                }
            }
            Step::Seek => {
                self.window_start.next = true;
                self.step.d.next = Step::Judge;
            }
            Step::Judge => {
                self.suspect.d.next = window.sent;
                self.from.d.next = window.psn + 1;
                if !self.window_busy.val() {
                    if !window.found | !within {
                        self.done.next = true;
                        self.step.d.next = Step::Idle;
                    } else if before {
                        self.window_start.next = true;
                        self.counted.next.early_loss = true;
                        self.step.d.next = Step::Lose;
                    } else {
                        self.step.d.next = Step::Seek;
                    }
                }
            }
            Step::Lose => {
                if !self.window_busy.val() {
                    self.step.d.next = Step::Mourn;
                }
            }
            Step::Mourn => {
                if !self.nscc_busy.val() {
                    self.nscc_start.next = true;
                    self.step.d.next = Step::Seek;
                }
            }
        }
        if self.reset.val() {
            self.step.d.next = Step::Idle;
        }
    }
}
