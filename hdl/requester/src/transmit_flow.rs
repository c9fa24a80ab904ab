//! What a queue pair sends: a probe, the lowest lost packet, or a new one (reference: `MrcRequester::transmit`).

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::host::WcStatus;
use stellar_wire::hw::congestion::{NsccOp, NsccRequest, NsccResponse};
use stellar_wire::hw::messages::{Message, MessageOp, MessageRequest, MessageResponse};
use stellar_wire::hw::requester::{LocateRequest, LocateResponse, TxRequest};
use stellar_wire::hw::spray::{SprayOp, SprayRequest, SprayResponse};
use stellar_wire::hw::tx::{TxMeth, TxReth};
use stellar_wire::hw::window::{SentPacket, WindowOp, WindowRequest, WindowResponse};
use stellar_wire::Opcode;

use crate::deadline::{earlier, earlier__hdl, timeout, timeout__hdl};
use crate::records::{Counted, Job, Next, Outcome, RequesterState};
use crate::segment::{
    payload_length, payload_length__hdl, place_of, place_of__hdl, write_opcode, write_opcode__hdl,
    Place,
};

/// Where the flow is.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Step {
    Idle,
    /// Waits for spray engine and congestion control, which may still be at work for the operation before, then asks
    /// them and the window.
    Look,
    /// Probe, lost packet or new packet?
    Choose,
    /// A lost packet: its last transmission comes.
    Recall,
    /// Its message comes, or the message a new packet belongs to.
    Fetch,
    /// Where in the message the packet lies.
    Place,
    /// How long it is.
    Measure,
    /// Whether the congestion window lets it go.
    Admit,
    /// Path and payload location come.
    Aim,
    /// The window takes note.
    Commit,
    /// The message table takes note of a buffer that cannot be read.
    Blame,
}

/// Sends at most one packet of `job.qp` by `job.port`, for which there is room.
///
/// Path and payload location are asked for at once: a packet whose local buffer cannot be read has drawn a path, as in the reference.
#[derive(LogicBlock, Default)]
pub struct TransmitFlow {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // The sequencer.
    pub start: Signal<In, Bit>,
    pub job: Signal<In, Job>,
    /// One clock: the flow is through, and this is what it did.
    pub done: Signal<Out, Bit>,
    pub outcome: Signal<Out, Outcome>,
    pub counted: Signal<Out, Counted>,

    // Calls.
    pub spray_start: Signal<Out, Bit>,
    pub spray_request: Signal<Out, SprayRequest>,
    pub spray_busy: Signal<In, Bit>,
    pub spray: Signal<In, SprayResponse>,
    pub nscc_start: Signal<Out, Bit>,
    pub nscc_request: Signal<Out, NsccRequest>,
    pub nscc_busy: Signal<In, Bit>,
    pub nscc: Signal<In, NsccResponse>,
    pub window_start: Signal<Out, Bit>,
    pub window_request: Signal<Out, WindowRequest>,
    pub window_busy: Signal<In, Bit>,
    pub window: Signal<In, WindowResponse>,
    pub messages_start: Signal<Out, Bit>,
    pub messages_request: Signal<Out, MessageRequest>,
    pub messages_busy: Signal<In, Bit>,
    pub messages: Signal<In, MessageResponse>,
    pub locate_start: Signal<Out, Bit>,
    pub locate_request: Signal<Out, LocateRequest>,
    pub locate_busy: Signal<In, Bit>,
    pub locate: Signal<In, LocateResponse>,

    /// One clock: a packet leaves.
    pub tx_valid: Signal<Out, Bit>,
    pub tx: Signal<Out, TxRequest>,

    step: DFF<Step>,
    state: DFF<RequesterState>,
    una: DFF<Bits<24>>,
    window_next: DFF<Bits<24>>,
    in_flight: DFF<Bits<24>>,
    psn: DFF<Bits<24>>,
    /// A packet is sent again; `old` is its last transmission.
    again: DFF<Bit>,
    old: DFF<SentPacket>,
    message: DFF<Message>,
    place: DFF<Place>,
    length: DFF<Bits<13>>,
    timeout: DFF<Bits<32>>,
    /// The payload lies in memory.
    in_memory: DFF<Bit>,
}

impl Logic for TransmitFlow {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, step, state, una, window_next, in_flight, psn);
        dff_setup!(self, clock, again, old, message, place, length, timeout, in_memory);
        let job = self.job.val();
        let step = self.step.q.val();
        let state = self.state.q.val();
        let message = self.message.q.val();
        let place = self.place.q.val();
        let psn = self.psn.q.val();
        let again = self.again.q.val();
        let old = self.old.q.val();
        let length = self.length.q.val();
        let in_memory = self.in_memory.q.val();
        let spray = self.spray.val();
        let window = self.window.val();
        let messages = self.messages.val();
        let servers_free = !self.spray_busy.val() & !self.nscc_busy.val();

        // choose
        let looked = servers_free & !self.window_busy.val();
        let new_probe = !state.probe & spray.found;
        let probe = state.probe | new_probe;
        let probe_index = if state.probe {
            state.probe_index
        } else {
            spray.index
        };
        let probe_entropy = if state.probe {
            state.probe_entropy
        } else {
            spray.entropy
        };
        let port = job.port;
        let send_probe = probe & (probe_index.get_bit(0) == port);
        let other_usable = if port {
            spray.usable.get_bit(0)
        } else {
            spray.usable.get_bit(1)
        };
        let lost_here = if port {
            window.lost.get_bit(1)
        } else {
            window.lost.get_bit(0)
        };
        let lost_other = if port {
            window.lost.get_bit(0)
        } else {
            window.lost.get_bit(1)
        };
        let first_here = if port {
            window.first_lost1
        } else {
            window.first_lost0
        };
        let first_other = if port {
            window.first_lost0
        } else {
            window.first_lost1
        };
        let lost = lost_other | (lost_here & !other_usable);
        let lost_psn = if lost_other { first_other } else { first_here };

        // admit
        let in_window = self.window_next.q.val() - self.una.q.val();
        let window_full = !again & (in_window >= bit_cast::<24, 11>(state.mpr));
        let after = bit_cast::<25, 24>(self.in_flight.q.val()) + bit_cast::<25, 13>(length);
        let may_send =
            !self.in_flight.q.val().any() | (bit_cast::<25, 24>(self.nscc.val().cwnd) >= after);

        // aim
        let aimed = !self.spray_busy.val() & !self.locate_busy.val();
        let unreadable = in_memory & self.locate.val().fault;
        let retries = if again { old.retries } else { bits::<8>(0) };
        let sent = SentPacket {
            ev: spray.index,
            at: job.now,
            retries,
            length,
            slot: message.slot,
        };

        // What is asked, whenever it is.
        self.spray_start.next = false;
        self.spray_request.next = SprayRequest {
            op: if step == Step::Look {
                if state.probe {
                    SprayOp::Query
                } else {
                    SprayOp::Probe
                }
            } else {
                SprayOp::Choose
            },
            qp: job.qp,
            plane: port,
            avoid_valid: again,
            avoid: old.ev,
            index: bits(0),
            entropy: bits(0),
            feedback: stellar_wire::hw::spray::SprayFeedback::Good,
            now: job.now,
        };
        self.nscc_start.next = false;
        self.nscc_request.next = NsccRequest {
            op: NsccOp::Query,
            qp: job.qp,
            now: job.now,
            sample: false,
            bytes: bits(0),
            rtt_valid: false,
            rtt: bits(0),
            ecn: false,
            in_flight: bits(0),
            penalty: bits(0),
        };
        self.window_start.next = false;
        self.window_request.next = WindowRequest {
            op: match step {
                Step::Look => WindowOp::Query,
                Step::Choose => WindowOp::Read,
                _ => {
                    if again {
                        WindowOp::Resend
                    } else {
                        WindowOp::Push
                    }
                }
            },
            qp: job.qp,
            psn: if step == Step::Choose { lost_psn } else { psn },
            sent,
            cack: bits(0),
            acked: bits(0),
            base: bits(0),
            bitmap: bits(0),
            stamp: bits(0),
        };
        self.messages_start.next = false;
        self.messages_request.next = MessageRequest {
            op: match step {
                Step::Choose => MessageOp::Current,
                Step::Recall => MessageOp::Get,
                _ => MessageOp::Fault,
            },
            qp: job.qp,
            psn: window.next_psn,
            slot: if step == Step::Recall {
                window.sent.slot
            } else {
                message.slot
            },
            failed: false,
            status: bits::<8>(WcStatus::LocProtErr.code() as u64),
        };
        self.locate_start.next = false;
        self.locate_request.next = LocateRequest {
            qp: job.qp,
            pd: job.settings.pd,
            lkey: message.lkey,
            va: message.local_va,
            message_length: message.length,
            offset: place.offset,
            length,
        };

        // What leaves.
        let is_probe = step == Step::Choose;
        self.tx_valid.next = false;
        self.tx.next = TxRequest {
            qp: job.qp,
            port,
            opcode: if is_probe {
                bits::<8>(Opcode::MrcProbe.code() as u64)
            } else {
                write_opcode(place, message.has_immediate)
            },
            psn: if is_probe { window.next_psn - 1 } else { psn },
            ack_req: !is_probe & place.last,
            retransmission: !is_probe & again,
            timestamp: job.now.get_bits::<16>(0),
            meth: TxMeth {
                rqmsn: message.rqmsn,
                msn: message.msn,
            },
            reth: TxReth {
                va: message.remote_va + bit_cast::<64, 32>(place.offset),
                rkey: message.rkey,
                dma_length: message.length,
            },
            immediate: message.immediate,
            probe_id: bit_cast::<16, 8>(probe_index),
            entropy: if is_probe {
                probe_entropy
            } else {
                spray.entropy
            },
            length: if is_probe { bits::<13>(0) } else { length },
            pieces: self.locate.val().pieces,
            inline: message.inline,
            inline_data: message.inline_data,
            slot: message.slot,
        };

        // What came of it, whenever the flow is through.
        let due = job.now + self.timeout.q.val();
        self.done.next = false;
        self.outcome.next = Outcome {
            state,
            served: false,
            then: Next::Complete,
            una: self.una.q.val(),
            blame: false,
            slot: bits(0),
            status: bits(0),
        };
        self.counted.next = Counted::default();

        match step {
            Step::Idle => {
                if self.start.val() {
                    self.state.d.next = job.state;
                    self.again.d.next = false;
                    if job.state.failed | !job.settings.valid {
                        self.done.next = true;
                        self.outcome.next.state = job.state;
                        self.outcome.next.then = Next::Nothing;
                    } else {
                        self.step.d.next = Step::Look;
                    }
                }
            }
            Step::Look => {
                if servers_free {
                    self.spray_start.next = true;
                    self.nscc_start.next = true;
                    self.window_start.next = true;
                    self.step.d.next = Step::Choose;
                }
            }
            Step::Choose => {
                self.una.d.next = window.una;
                self.window_next.d.next = window.next_psn;
                self.in_flight.d.next = window.in_flight;
                if looked {
                    self.state.d.next.probe = probe;
                    self.state.d.next.probe_index = probe_index;
                    self.state.d.next.probe_entropy = probe_entropy;
                    if send_probe {
                        self.tx_valid.next = true;
                        self.done.next = true;
                        self.counted.next.probe = true;
                        self.outcome.next.state.probe = false;
                        self.outcome.next.served = true;
                        self.outcome.next.una = window.una;
                        self.step.d.next = Step::Idle;
                    } else if lost {
                        self.window_start.next = true;
                        self.again.d.next = true;
                        self.psn.d.next = lost_psn;
                        self.step.d.next = Step::Recall;
                    } else {
                        self.messages_start.next = true;
                        self.psn.d.next = window.next_psn;
                        self.step.d.next = Step::Fetch;
                    }
                }
            }
            Step::Recall => {
                self.old.d.next = window.sent;
                if !self.window_busy.val() {
                    self.messages_start.next = true;
                    self.step.d.next = Step::Fetch;
                }
            }
            Step::Fetch => {
                self.message.d.next = messages.message;
                if !self.messages_busy.val() {
                    if messages.found & !(again & messages.message.fault) {
                        self.step.d.next = Step::Place;
                    } else {
                        self.done.next = true;
                        self.step.d.next = Step::Idle;
                    }
                }
            }
            Step::Place => {
                self.place.d.next = place_of(message, psn, job.settings.mtu_log2);
                self.timeout.d.next = timeout(job.settings, retries);
                self.in_memory.d.next = !message.inline & message.length.any();
                self.step.d.next = Step::Measure;
            }
            Step::Measure => {
                self.length.d.next = payload_length(message, place, job.settings.mtu_log2);
                self.step.d.next = Step::Admit;
            }
            Step::Admit => {
                if may_send & !window_full {
                    self.spray_start.next = true;
                    self.locate_start.next = in_memory;
                    self.step.d.next = Step::Aim;
                } else {
                    self.done.next = true;
                    self.step.d.next = Step::Idle;
                }
            }
            Step::Aim => {
                if aimed {
                    if !spray.found {
                        self.done.next = true;
                        self.step.d.next = Step::Idle;
                    } else if unreadable {
                        self.messages_start.next = true;
                        self.step.d.next = Step::Blame;
                    } else {
                        self.window_start.next = true;
                        self.tx_valid.next = true;
                        self.counted.next.packet = true;
                        self.counted.next.retransmission = again;
                        self.state.d.next.armed = true;
                        self.state.d.next.deadline = earlier(state.armed, state.deadline, due);
                        self.step.d.next = Step::Commit;
                    }
                }
            }
            Step::Commit => {
                if !self.window_busy.val() {
                    self.done.next = true;
                    self.outcome.next.served = true;
                    self.step.d.next = Step::Idle;
                }
            }
            Step::Blame => {
                if !self.messages_busy.val() {
                    self.done.next = true;
                    self.step.d.next = Step::Idle;
                }
            }
        }
        if self.reset.val() {
            self.step.d.next = Step::Idle;
        }
    }
}
