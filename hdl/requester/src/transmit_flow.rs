//! Transmits for a queue pair. MRC: a probe, the lowest lost packet, or new packets. RC: the packets to retransmit after go-back-N, or new ones (reference:
//! `MrcRequester::transmit_burst`, `RcRequester::transmit_burst`).

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{FlowSnk, FlowSrc, OfferSrc};
use rust_hdl::prelude::*;
use stellar_wire::host::WcStatus;
use stellar_wire::hw::congestion::{NsccOp, NsccRequest, NsccResponse};
use stellar_wire::hw::fence::EpochEnd;
use stellar_wire::hw::messages::{Message, MessageOp, MessageRequest, MessageResponse};
use stellar_wire::hw::requester::{TranslateRequest, TranslateResponse, TxRequest};
use stellar_wire::hw::spray::{SprayOp, SprayRequest, SprayResponse};
use stellar_wire::hw::window::{SentPacket, WindowOp, WindowRequest, WindowResponse};
use stellar_wire::hw::{Psn, Qpn};
use stellar_wire::mtu::LENGTH_BITS;
use stellar_wire::Opcode;

use crate::bundles::CallSrc;
use crate::burst::{Burst, BurstSend};
use crate::choice::choose;
use crate::deadline::{earlier, timeout};
use crate::ports::of_port;
use crate::rc_space::rc_space;
use crate::records::{
    NextAction, Op, OpKind, OpResult, RcState, RequesterState, StatPulses, TAIL_BITS,
};
use crate::segment::{
    at_most_63, burst_limit, bytes_of, measured, payload_length, segment_at, smaller, Segment,
};

/// The other port starts to prepare the next burst when this many packets of the current one remain. Preparation takes about as long as sending them.
const NEAR_END: u64 = 12;

/// Step of the flow.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Step {
    Idle,
    /// MRC: waits for the spray engine, which may still execute a request of the previous operation, then queries it and the window. RC: waits until the
    /// previous burst has been sent.
    WaitForUnits,
    /// Selects a probe, a lost packet, or new packets.
    Select,
    /// Reads the record of a lost packet from the window.
    ReadSentPacket,
    /// Waits for the message: of the retransmission, or of the new packets. Computes the segment of the first packet.
    LookupMessage,
    /// Computes the remainder of the message, and the space in both windows.
    MeasureSpace,
    /// Computes the number of packets.
    CountPackets,
    /// Waits until the previous burst has been sent and the spray engine has processed all feedback, then checks that the first packet may be sent.
    Admit,
    /// Sends a retransmission, or a burst over RC. The window may still process its request when the flow is done.
    Send,
    /// The window removes the packets that were not sent.
    Rollback,
    /// The message table marks a message whose buffer cannot be read.
    MarkMessageFault,
}

/// Transmits a probe, a lost packet or a burst of new packets of `op.qp` on `op.port`, which has space for a burst. For an RC queue pair it transmits a
/// burst, new or retransmitted. RC starts at `LookupMessage`, because it uses neither spray engine nor congestion control nor transmit window.
///
/// A burst of new MRC packets is sent in the background: the window allocates all of its packets, and the flow is done. If the burst ends early, the
/// operation `Rollback` removes the remaining packets. Until the burst has been sent, no other burst is sent, and no operation starts that reads the records
/// of its packets. Near its end the other port may prepare the next burst; if the burst ends early, the preparation is discarded.
///
/// Paths and translations are requested at the same time, so packets whose local buffer cannot be read have consumed paths, as in the reference. Congestion
/// control is queried as soon as it is free; the response is needed in `MeasureSpace`.
#[derive(LogicBlock, Default)]
pub struct TransmitFlow {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // Sequencer.
    pub start: Signal<In, Bit>,
    pub op: Signal<In, Op>,
    /// High for one cycle: the flow is done, with this result.
    pub done: Signal<Out, Bit>,
    pub result: Signal<Out, OpResult>,
    pub stats: Signal<Out, StatPulses>,
    /// Bit p: port p can send.
    pub plane_up: Signal<In, Bits<2>>,

    // The burst that is sent in the background.
    pub bg_burst_active: Signal<Out, Bit>,
    /// Few of its packets remain: the next `Transmit` of the other port may start.
    pub ends_soon: Signal<Out, Bit>,
    /// Valid with `bg_burst_active`.
    pub bg_burst_qp: Signal<Out, Qpn>,
    pub bg_burst_port: Signal<Out, Bit>,
    pub bg_burst_first_psn: Signal<Out, Psn>,
    /// High for one cycle when its first packet is sent.
    pub first_packet_leaves: Signal<Out, Bit>,
    /// It ended early, and waits for `Rollback`.
    pub ended_early: Signal<Out, Bit>,

    // Functional units.
    pub spray: CallSrc<SprayRequest>,
    pub spray_response: Signal<In, SprayResponse>,
    /// Responses as they arrive: a burst has many.
    pub path: FlowSnk<SprayResponse>,
    pub nscc: CallSrc<NsccRequest>,
    /// The request in progress, or the last one, was about this queue pair: `nscc` is or will be its window.
    pub cwnd_cached: Signal<In, Bit>,
    pub nscc_response: Signal<In, NsccResponse>,
    pub window: CallSrc<WindowRequest>,
    pub window_response: Signal<In, WindowResponse>,
    pub messages: CallSrc<MessageRequest>,
    pub messages_response: Signal<In, MessageResponse>,
    /// The message table still processes the previous SACK. If that moves the queue pair to the error state, nothing is sent.
    pub completing: Signal<In, Bit>,

    /// The spray engine still has to return paths.
    pub paths_pending: Signal<Out, Bit>,

    // Records of the packets of a burst, for the window.
    pub sent_packet: FlowSrc<SentPacket>,

    // Local translation. A request is accepted when valid and ready are high. Responses come in the order of the requests.
    pub xlate_req: OfferSrc<TranslateRequest>,
    pub xlate_rsp: FlowSnk<TranslateResponse>,
    pub dropped: Signal<Out, EpochEnd>,

    /// High for one cycle per packet sent.
    pub tx: FlowSrc<TxRequest>,

    send: BurstSend,
    /// A burst is sent in the background.
    bg_active: DFF<Bit>,
    bg_qp: DFF<Qpn>,
    bg_port: DFF<Bit>,
    bg_first_psn: DFF<Psn>,
    /// Timer before the burst.
    armed_before_burst: DFF<Bit>,
    deadline_before_burst: DFF<Bits<32>>,
    burst_ended_early: DFF<Bit>,
    near_end: DFF<Bit>,
    step: DFF<Step>,
    state: DFF<RequesterState>,
    una: DFF<Psn>,
    /// Packets that the PSN window allows, 63 if more.
    window_space: DFF<Bits<6>>,
    /// RC: the last packet of the burst fills the window.
    fills_window: DFF<Bit>,
    in_flight: DFF<Bits<24>>,
    /// The spray engine was queried; congestion control was queried.
    spray_requested: DFF<Bit>,
    cwnd_requested: DFF<Bit>,
    /// `message` comes from `PeekNext`; `PeekNext` found none.
    peeked: DFF<Bit>,
    peek_found_none: DFF<Bit>,
    psn: DFF<Psn>,
    /// The packets are retransmissions; MRC: `last_sent` is the record of the last transmission.
    is_retransmit: DFF<Bit>,
    last_sent: DFF<SentPacket>,
    message: DFF<Message>,
    segment: DFF<Segment>,
    /// Payload bytes of the first packet.
    length: DFF<Bits<LENGTH_BITS>>,
    /// Bytes and packets that the congestion window allows.
    cwnd_space: DFF<Bits<25>>,
    fits: DFF<Bits<6>>,
    count: DFF<Bits<6>>,
    timeout: DFF<Bits<32>>,
    /// The payload is read from memory.
    in_memory: DFF<Bit>,
    /// MRC: every packet requests a SACK.
    ack_req_all: DFF<Bit>,
    /// RC: the last packet requests an acknowledgement.
    ack_req_last: DFF<Bit>,
}

impl Logic for TransmitFlow {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            step,
            state,
            una,
            window_space,
            in_flight,
            spray_requested,
            cwnd_requested,
            peeked,
            peek_found_none,
            psn
        );
        dff_setup!(
            self,
            clock,
            is_retransmit,
            last_sent,
            message,
            segment,
            length,
            cwnd_space,
            fits,
            count
        );
        dff_setup!(
            self,
            clock,
            timeout,
            in_memory,
            ack_req_all,
            ack_req_last,
            fills_window
        );
        dff_setup!(
            self,
            clock,
            bg_active,
            bg_qp,
            bg_port,
            bg_first_psn,
            burst_ended_early,
            near_end
        );
        dff_setup!(self, clock, armed_before_burst, deadline_before_burst);
        clock_reset!(self, send);
        let op = self.op.val();
        let step = self.step.q.val();
        let state = self.state.q.val();
        let message = self.message.q.val();
        let segment = self.segment.q.val();
        let psn = self.psn.q.val();
        let is_retransmit = self.is_retransmit.q.val();
        let peeked = self.peeked.q.val();
        let bg_active = self.bg_active.q.val();
        let last_sent = self.last_sent.q.val();
        let mtu_log2 = op.settings.mtu_log2;
        let rc = op.settings.rc;
        let spray = self.spray_response.val();
        let window = self.window_response.val();
        let messages = self.messages_response.val();
        let cwnd = self.nscc_response.val().cwnd;

        // select
        let port = op.port;
        // Only a policy that probes has a probe due, and only lost packets need to know which planes are usable. Otherwise the spray engine is not queried.
        let spray_requested = self.spray_requested.q.val();
        let mut query_response = spray;
        query_response.found = spray.found & spray_requested;
        let needs_spray_query = !spray_requested & window.lost.any();
        let units_ready = !self.window.busy.val()
            & !needs_spray_query
            & !(spray_requested & self.spray.busy.val());
        let choice = choose(state, port, query_response, window);
        let rc_space = rc_space(op.settings, op.state);
        let other_port = rc & (op.settings.plane != port);

        // measure, admit
        let cwnd_known = rc | (self.cwnd_requested.q.val() & !self.nscc.busy.val());
        let in_flight = self.in_flight.q.val();
        let cwnd_space = bit_cast::<25, 24>(cwnd) - bit_cast::<25, 24>(in_flight);
        let overdrawn = cwnd_space.get_bit(24);
        let whole = cwnd_space.get_bits::<24>(0) >> bit_cast::<24, 4>(mtu_log2);
        let length = self.length.q.val();
        let cwnd_left = self.cwnd_space.q.val();
        let may_send = !in_flight.any()
            | (!cwnd_left.get_bit(24)
                & (cwnd_left.get_bits::<24>(0) >= bit_cast::<24, LENGTH_BITS>(length)));
        let window_space = self.window_space.q.val();
        let window_full = !is_retransmit & !window_space.any();
        let by_windows = smaller(window_space, self.fits.q.val());
        let by_message = smaller(at_most_63(segment.left), burst_limit(mtu_log2));
        let limit = smaller(by_windows, by_message);
        let count = self.count.q.val();
        let retries = if is_retransmit {
            last_sent.retries
        } else {
            bits::<8>(0)
        };

        // send
        let admitted = may_send & !window_full;
        let spray_free = rc | !self.spray.busy.val();
        let starts_burst = (step == Step::Admit) & admitted & spray_free & !bg_active;
        let in_memory = self.in_memory.q.val();
        self.send.start.next = starts_burst;
        self.send.op.next = op;
        self.send.burst.next = Burst {
            message,
            segment,
            count,
            in_memory,
            ack_req_all: self.ack_req_all.q.val() | is_retransmit,
            ack_req_last: self.ack_req_last.q.val(),
            is_retransmit: is_retransmit & !rc,
            retries,
        };
        join!(
            self,
            path => send.path,
            send.xlate_req => xlate_req,
            xlate_rsp => send.xlate_rsp,
            send.dropped => dropped,
        );
        self.paths_pending.next = self.send.paths_pending.val();
        let leaves = self.send.tx.valid.val();
        let any = self.send.any.val();
        let rest = self.send.rest.val();
        let left = self.send.left.val();
        let is_new = !is_retransmit & !rc;
        let next_psn = rest.psn;
        let rc_sent = RcState {
            to_send: next_psn,
            sent: if is_retransmit {
                state.rc.sent
            } else {
                next_psn
            },
            retries: state.rc.retries,
            pkts_since_ack_req: self.send.pkts_since_ack_req.val(),
        };

        // send in the background
        self.sent_packet.valid.next = leaves & bg_active;
        self.sent_packet.record.next = self.send.sent.val();
        self.bg_burst_active.next = bg_active;
        self.bg_burst_qp.next = self.bg_qp.q.val();
        self.bg_burst_port.next = self.bg_port.q.val();
        self.bg_burst_first_psn.next = self.bg_first_psn.q.val();
        self.first_packet_leaves.next = bg_active & leaves & !any;
        self.ended_early.next = self.burst_ended_early.q.val();
        self.ends_soon.next = self.near_end.q.val();
        self.near_end.d.next = bg_active & any & (left <= NEAR_END);
        if bg_active & self.send.done.val() {
            self.bg_active.d.next = self.send.ended_early.val();
            self.burst_ended_early.d.next = self.send.ended_early.val();
        }

        // roll back: since the burst began, only the burst itself has changed the deadline.
        let is_rollback = op.kind == OpKind::Rollback;
        let mut unsent_state = op.state;
        unsent_state.armed = if any {
            op.state.armed
        } else {
            self.armed_before_burst.q.val()
        };
        unsent_state.deadline = if any {
            op.state.deadline
        } else {
            self.deadline_before_burst.q.val()
        };

        // Requests. Whether they are issued is decided below.
        // A probe whose plane went down is dropped, so that it does not keep the values of the other plane from being probed.
        let probe_port_up = of_port(self.plane_up.val(), op.state.probe_index.get_bit(0));
        let may_leave = op.state.probe & probe_port_up;
        let probe_waits = if step == Step::Idle {
            may_leave
        } else {
            state.probe
        };
        self.spray.start.next = false;
        self.spray.request.next = SprayRequest {
            op: match step {
                Step::Idle | Step::WaitForUnits => {
                    if probe_waits {
                        SprayOp::Query
                    } else {
                        SprayOp::Probe
                    }
                }
                Step::Select => SprayOp::Query,
                _ => SprayOp::Choose,
            },
            qp: op.qp,
            plane: port,
            count,
            avoid_valid: is_retransmit,
            avoid: last_sent.ev,
            now: op.now,
            ..SprayRequest::default()
        };
        self.nscc.start.next = false;
        self.nscc.request.next = NsccRequest {
            op: NsccOp::Query,
            qp: op.qp,
            now: op.now,
            ..NsccRequest::default()
        };
        self.window.start.next = false;
        self.window.request.next = WindowRequest {
            op: match step {
                Step::Idle | Step::WaitForUnits => {
                    if is_rollback {
                        WindowOp::Rollback
                    } else {
                        WindowOp::Query
                    }
                }
                Step::Select => WindowOp::Read,
                _ => {
                    if is_retransmit {
                        WindowOp::MarkRetransmitted
                    } else {
                        WindowOp::Allocate
                    }
                }
            },
            qp: op.qp,
            psn: match step {
                Step::Idle => next_psn,
                Step::Select => choice.lost_psn,
                _ => psn,
            },
            sent: self.send.sent.val(),
            count: if is_rollback { left } else { count },
            bytes: if is_rollback {
                bytes_of(rest, left, mtu_log2)
            } else {
                bytes_of(segment, count, mtu_log2)
            },
            ..WindowRequest::default()
        };
        self.messages.start.next = false;
        self.messages.request.next = MessageRequest {
            op: match step {
                Step::Idle | Step::WaitForUnits => {
                    if rc_space.is_retransmit {
                        MessageOp::LookupByPsn
                    } else {
                        MessageOp::NextMessage
                    }
                }
                Step::Select => {
                    if bg_active {
                        MessageOp::PeekNext
                    } else {
                        MessageOp::NextMessage
                    }
                }
                Step::ReadSentPacket => MessageOp::LookupBySlot,
                Step::Send | Step::Rollback => MessageOp::Fault,
                // No packet is sent.
                _ => {
                    if peeked {
                        MessageOp::NextMessage
                    } else {
                        MessageOp::Complete
                    }
                }
            },
            qp: op.qp,
            psn: match step {
                Step::Idle | Step::WaitForUnits => op.state.rc.to_send,
                Step::Select => window.next_psn,
                _ => {
                    if peeked {
                        psn
                    } else {
                        self.una.q.val()
                    }
                }
            },
            slot: if step == Step::ReadSentPacket {
                window.sent.slot
            } else {
                self.send.slot.val()
            },
            failed: false,
            status: bits::<8>(WcStatus::LocProtErr.code() as u64),
        };

        // Packets.
        self.tx.valid.next = leaves;
        self.tx.record.next = if (step == Step::Select) & !bg_active {
            TxRequest {
                qp: op.qp,
                port,
                opcode: bits::<8>(Opcode::MrcProbe.code() as u64),
                psn: window.next_psn - 1,
                timestamp: op.now.get_bits::<16>(0),
                probe_id: bit_cast::<16, 8>(choice.probe_index),
                entropy: choice.probe_entropy,
                ..TxRequest::default()
            }
        } else {
            self.send.tx.record.val()
        };

        // Result. When it is valid is decided below.
        let due = op.now + self.timeout.q.val();
        let armed_state = RequesterState {
            armed: true,
            deadline: earlier(state.armed, state.deadline, due),
            ..state
        };
        let mut sent = if any { armed_state } else { state };
        sent.rc = rc_sent;
        let ended = if is_rollback { state } else { sent };
        self.done.next = false;
        self.result.next = OpResult {
            state,
            packet_sent: false,
            already_reported: false,
            next_action: NextAction::Complete,
            una: self.una.q.val(),
            failed_slot_valid: false,
            slot: bits(0),
            status: bits(0),
        };
        self.stats.next = StatPulses::default();
        self.stats.next.packet = leaves;
        self.stats.next.retransmission = leaves & is_retransmit & !bg_active;
        self.stats.next.sent_qp = if leaves {
            self.send.tx.record.val().qp
        } else {
            bits::<10>(0)
        };
        self.stats.next.bytes = if leaves {
            self.send.tx.record.val().length
        } else {
            bits::<LENGTH_BITS>(0)
        };

        // query congestion control
        if self.start.val() {
            self.cwnd_requested.d.next = rc | is_rollback;
        } else if (step != Step::Idle) & !self.cwnd_requested.q.val() {
            // Congestion control is not queried if the request in progress, or the last one, was about this queue pair.
            let cached = self.cwnd_cached.val();
            self.nscc.start.next = !cached & !self.nscc.busy.val();
            self.cwnd_requested.d.next = cached | !self.nscc.busy.val();
        }

        match step {
            Step::Idle => {
                if self.start.val() {
                    self.state.d.next = if is_rollback { unsent_state } else { op.state };
                    self.state.d.next.probe = if is_rollback {
                        op.state.probe
                    } else {
                        may_leave
                    };
                    self.una.d.next = op.state.una;
                    self.psn.d.next = op.state.rc.to_send;
                    self.is_retransmit.d.next = rc & rc_space.is_retransmit;
                    self.last_sent.d.next = SentPacket::default();
                    self.window_space.d.next = rc_space.packets;
                    self.fills_window.d.next = rc_space.fills_window;
                    self.in_flight.d.next = bits::<24>(0);
                    self.spray_requested.d.next = op.state.may_probe;
                    self.peeked.d.next = false;
                    self.peek_found_none.d.next = false;
                    if op.state.failed | !op.settings.valid | other_port {
                        self.done.next = true;
                        self.result.next.state = op.state;
                        self.result.next.already_reported = is_rollback & any;
                        self.result.next.next_action = NextAction::Nothing;
                    } else if is_rollback {
                        self.window.start.next = true;
                        self.step.d.next = Step::Rollback;
                    } else if rc & !bg_active {
                        self.messages.start.next = true;
                        self.step.d.next = Step::LookupMessage;
                    } else if rc | (op.state.may_probe & self.spray.busy.val()) {
                        self.step.d.next = Step::WaitForUnits;
                    } else {
                        self.spray.start.next = op.state.may_probe;
                        self.window.start.next = true;
                        self.step.d.next = Step::Select;
                    }
                }
            }
            Step::WaitForUnits => {
                if rc {
                    if self.burst_ended_early.q.val() {
                        self.done.next = true;
                        self.result.next.already_reported = true;
                        self.result.next.next_action = NextAction::Nothing;
                        self.step.d.next = Step::Idle;
                    } else if !bg_active {
                        self.messages.start.next = true;
                        self.step.d.next = Step::LookupMessage;
                    }
                } else if !self.spray.busy.val() {
                    self.spray.start.next = true;
                    self.window.start.next = true;
                    self.step.d.next = Step::Select;
                }
            }
            Step::Select => {
                self.una.d.next = window.una;
                self.window_space.d.next = choice.window_space;
                self.in_flight.d.next = window.in_flight;
                if needs_spray_query & !self.window.busy.val() & !self.spray.busy.val() {
                    self.spray.start.next = true;
                    self.spray_requested.d.next = true;
                }
                let fails = self.completing.val() & messages.found;
                if units_ready & !self.messages.busy.val() {
                    self.state.d.next.probe = choice.probe;
                    self.state.d.next.probe_index = choice.probe_index;
                    self.state.d.next.probe_entropy = choice.probe_entropy;
                    self.result.next.state.probe = choice.probe;
                    self.result.next.state.probe_index = choice.probe_index;
                    self.result.next.state.probe_entropy = choice.probe_entropy;
                    if fails {
                        self.done.next = true;
                        self.result.next.next_action = NextAction::Fail;
                        self.result.next.failed_slot_valid = true;
                        self.result.next.slot = messages.slot;
                        self.result.next.status = messages.status;
                        self.step.d.next = Step::Idle;
                    } else if self.burst_ended_early.q.val() {
                        // Discards the preparation: the operation is tried again after the rollback.
                        self.done.next = true;
                        self.result.next.already_reported = true;
                        self.result.next.next_action = NextAction::Nothing;
                        self.step.d.next = Step::Idle;
                    } else if bg_active {
                        // An operation that changes state waits until the previous burst has been sent.
                        let is_new = !choice.probes & !choice.is_retransmit;
                        self.psn.d.next = window.next_psn;
                        if is_new & !self.peek_found_none.q.val() {
                            self.messages.start.next = true;
                            self.peeked.d.next = true;
                            self.step.d.next = Step::LookupMessage;
                        }
                    } else if choice.probes {
                        self.tx.valid.next = true;
                        self.done.next = true;
                        self.stats.next.probe = true;
                        self.result.next.state.probe = false;
                        self.result.next.packet_sent = true;
                        self.result.next.una = window.una;
                        self.step.d.next = Step::Idle;
                    } else if choice.is_retransmit {
                        self.window.start.next = true;
                        self.is_retransmit.d.next = true;
                        self.psn.d.next = choice.lost_psn;
                        self.step.d.next = Step::ReadSentPacket;
                    } else {
                        self.messages.start.next = true;
                        self.psn.d.next = window.next_psn;
                        self.step.d.next = Step::LookupMessage;
                    }
                }
            }
            Step::ReadSentPacket => {
                self.last_sent.d.next = window.sent;
                if !self.window.busy.val() {
                    self.messages.start.next = true;
                    self.step.d.next = Step::LookupMessage;
                }
            }
            Step::LookupMessage => {
                let fetched = messages.message;
                self.message.d.next = fetched;
                self.segment.d.next = segment_at(fetched, psn, mtu_log2);
                self.timeout.d.next = if rc | !op.settings.early_loss.any() {
                    timeout(op.settings, retries)
                } else {
                    bit_cast::<32, TAIL_BITS>(state.delays.tail)
                };
                self.in_memory.d.next = !fetched.inline & fetched.length.any();
                if !self.messages.busy.val() {
                    if messages.found & !(is_retransmit & fetched.fault) {
                        self.step.d.next = Step::MeasureSpace;
                    } else if peeked & messages.waits & !self.burst_ended_early.q.val() {
                        // A doorbell or the arrival of an entry wakes the queue pair up.
                        self.done.next = true;
                        self.result.next.next_action = NextAction::Nothing;
                        self.step.d.next = Step::Idle;
                    } else if peeked {
                        self.peeked.d.next = false;
                        self.peek_found_none.d.next = true;
                        self.step.d.next = Step::Select;
                    } else {
                        self.messages.start.next = true;
                        self.done.next = true;
                        self.result.next.next_action = NextAction::Completing;
                        self.step.d.next = Step::Idle;
                    }
                }
            }
            Step::MeasureSpace => {
                self.segment.d.next = measured(message, segment);
                self.length.d.next = payload_length(measured(message, segment), mtu_log2);
                self.cwnd_space.d.next = cwnd_space;
                self.fits.d.next = if rc {
                    bits::<6>(63)
                } else if overdrawn {
                    bits::<6>(0)
                } else {
                    at_most_63(whole)
                };
                self.ack_req_all.d.next = cwnd < op.settings.coalesce_from;
                if cwnd_known {
                    self.step.d.next = Step::CountPackets;
                }
            }
            Step::CountPackets => {
                self.count.d.next = if (is_retransmit & !rc) | !limit.any() {
                    bits::<6>(1)
                } else {
                    limit
                };
                self.ack_req_last.d.next = self.fills_window.q.val() & (limit == window_space);
                self.step.d.next = Step::Admit;
            }
            Step::Admit => {
                if self.burst_ended_early.q.val() {
                    self.done.next = true;
                    self.result.next.already_reported = true;
                    self.result.next.next_action = NextAction::Nothing;
                    self.step.d.next = Step::Idle;
                } else if starts_burst {
                    self.spray.start.next = !rc;
                    // `PeekNext` has not started the message.
                    self.messages.start.next = peeked;
                    self.window.start.next = is_new;
                    if is_new {
                        self.bg_active.d.next = true;
                        self.bg_qp.d.next = op.qp;
                        self.bg_port.d.next = port;
                        self.bg_first_psn.d.next = psn;
                        self.armed_before_burst.d.next = state.armed;
                        self.deadline_before_burst.d.next = state.deadline;
                        self.done.next = true;
                        self.result.next.state = armed_state;
                        self.result.next.already_reported = true;
                        self.result.next.next_action = NextAction::Nothing;
                        self.step.d.next = Step::Idle;
                    } else {
                        self.step.d.next = Step::Send;
                    }
                } else if !admitted & peeked & !bg_active {
                    self.messages.start.next = true;
                    self.peeked.d.next = false;
                    self.step.d.next = Step::LookupMessage;
                } else if !admitted & !bg_active {
                    self.messages.start.next = true;
                    self.done.next = true;
                    self.result.next.next_action = NextAction::Completing;
                    self.step.d.next = Step::Idle;
                }
            }
            Step::Send => {
                self.window.start.next = leaves & is_retransmit & !rc;
                if self.send.done.val() {
                    self.result.next.state = sent;
                    self.result.next.packet_sent = any;
                    if self.send.unreadable.val() {
                        self.messages.start.next = true;
                        self.step.d.next = Step::MarkMessageFault;
                    } else {
                        self.done.next = true;
                        // If a packet was sent, no message completes or fails.
                        if any {
                            self.result.next.next_action = NextAction::Nothing;
                        }
                        self.step.d.next = Step::Idle;
                    }
                }
            }
            Step::Rollback => {
                if !self.window.busy.val() {
                    self.result.next.already_reported = any;
                    if self.send.unreadable.val() {
                        self.messages.start.next = true;
                        self.step.d.next = Step::MarkMessageFault;
                    } else {
                        self.done.next = true;
                        self.step.d.next = Step::Idle;
                    }
                }
            }
            Step::MarkMessageFault => {
                if !self.messages.busy.val() {
                    self.done.next = true;
                    self.result.next.state = ended;
                    self.result.next.packet_sent = any & !is_rollback;
                    self.result.next.already_reported = any & is_rollback;
                    self.step.d.next = Step::Idle;
                }
            }
        }
        // The burst that ended early is rolled back.
        if is_rollback & self.done.val() {
            self.bg_active.d.next = false;
            self.burst_ended_early.d.next = false;
        }
        if self.reset.val() {
            self.step.d.next = Step::Idle;
            self.bg_active.d.next = false;
            self.burst_ended_early.d.next = false;
        }
    }
}
