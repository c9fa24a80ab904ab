//! Transmits for a queue pair. MRC: a probe, the lowest lost packet, or new packets. RC: a probe, the packets to retransmit after go-back-N, or new ones (reference:
//! `MrcRequester::transmit_each`, `RcRequester::transmit_each`).

use hdl_macros::{clock, clock_reset, hdl, join};
use hdl_primitives::{FlowSnk, FlowSrc, OfferSrc, Src};
use rust_hdl::prelude::*;
use stellar_wire::hw::congestion::{NsccOp, NsccRequest, NsccResponse, WindowChange};
use stellar_wire::hw::fence::EpochEnd;
use stellar_wire::hw::messages::{MessageOp, MessageRequest, MessageResponse};
use stellar_wire::hw::requester::{TranslateRequest, TranslateResponse, TxRequest};
use stellar_wire::hw::spray::{SprayOp, SprayRequest, SprayResponse};
use stellar_wire::hw::tenant::COST_BITS;
use stellar_wire::hw::window::{SentPacket, WindowOp, WindowRequest, WindowResponse};
use stellar_wire::hw::{Psn, Qpn, QPN_BITS};
use stellar_wire::mtu::LENGTH_BITS;
use stellar_wire::rows::PACKET_OVERHEAD;

use crate::bundles::CallSrc;
use crate::burst_collect::BurstHead;
use crate::burst_measure::BurstMeasure;
use crate::burst_send::UnreadableMessage;
use crate::bursts::{BurstKind, Bursts};
use crate::choice::{choose, probe_packet, with_due_probe};
use crate::deadline::earlier;
use crate::packet_queue::Run;
use crate::ports::of_port;
use crate::rc_space::rc_space;
use crate::rc_turn::{has_paths, rc_turn};
use crate::records::{NextAction, Op, OpResult, RcPathState, RcState, RequesterState, StatPulses};
use crate::segment::bytes_of;

/// log2 of the bytes that a packet counts beside its payload.
const OVERHEAD_BITS: usize = PACKET_OVERHEAD.ilog2() as usize;

/// Step of the flow.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Step {
    Idle,
    /// MRC: waits for the spray engine, which may still execute a request of the previous operation, then queries it and the window. RC: waits until the
    /// previous burst has been sent, and with a path policy for the spray engine.
    WaitForUnits,
    /// RC with a path policy: waits for what it tells. Tells it if nothing is in flight while it holds the queue pair. Then sends a probe, or requests a path.
    AskPolicy,
    /// RC with a path policy: waits for the path.
    AwaitPath,
    /// Does to the congestion window what the path policy tells, and tells it if nothing is in flight while it holds the queue pair. Then selects a probe, a lost packet, or
    /// new packets.
    Select,
    /// Reads the record of a lost packet from the window.
    ReadSentPacket,
    /// Waits for the message: of the retransmission, or of the first new packet. Computes the segment of the first packet.
    LookupMessage,
    /// Computes the remainder of the message, and the space in both windows.
    MeasureSpace,
    /// Computes the number of packets, and whether the first one may be sent.
    CountPackets,
    /// Waits until the spray engine is free and has processed all feedback, if the first packet may be sent.
    Admit,
    /// MRC: nothing is sent, because the queue pair is held while its path changes, or the spray engine found no path.
    SendNothing,
    /// The burst is collected.
    Collect,
    /// Sends a retransmission, or a burst over RC. The window may still process its request when the flow is done.
    Send,
}

/// Transmits a probe, a lost packet or a burst of new packets of `op.qp` on `op.port`, which has space for a burst. For an RC queue pair it transmits a
/// burst, new or retransmitted. RC starts at `LookupMessage`, because it uses neither congestion control nor transmit window, and the spray engine only with a path policy.
/// Then the spray engine gives the path of the whole burst before the message is looked up, and its response stays until the burst has left.
///
/// A burst of new MRC packets is sent in the background: the window allocates all of its packets, and the flow is done. Until the burst has been sent, no
/// operation starts that reads the records of its packets. Meanwhile the next burst of the other port may be prepared. If it is of the same queue pair, all
/// payloads of the current one have been located before: one that cannot be read stops the queue pair.
///
/// Paths and translations are requested whatever comes of each other, so packets whose local buffer cannot be read have consumed paths, as in the
/// reference. Congestion control is queried as soon as it is free; the response is needed in `MeasureSpace`.
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
    /// Bytes on the wire of what was sent. Valid in the cycle after `done`, if a packet was sent.
    pub cost: Signal<Out, Bits<COST_BITS>>,
    /// Bit p: port p can send.
    pub plane_up: Signal<In, Bits<2>>,

    // The burst that is sent in the background: see `Bursts`.
    pub bg_burst_active: Signal<Out, Bit>,
    pub ends_soon: Signal<Out, Bit>,
    pub bg_burst_qp: Signal<Out, Qpn>,
    pub bg_burst_port: Signal<Out, Bit>,
    pub bg_burst_first_psn: Signal<Out, Psn>,
    pub unreadable: Src<UnreadableMessage>,
    /// High for one cycle: the queue pair has a new packet to send, and finds no block for its window.
    pub starved: Signal<Out, Bit>,

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
    /// Responses as they arrive: a burst has many.
    pub taken: FlowSnk<MessageResponse>,
    /// The message table still processes the previous SACK. If that moves the queue pair to the error state, nothing is sent.
    pub completing: Signal<In, Bit>,

    /// The spray engine still has to return paths; if none are requested in this cycle, it has to in the next one.
    pub paths_pending: Signal<Out, Bit>,
    pub paths_follow: Signal<Out, Bit>,
    /// The spray engine has not answered the query of this flow. Other than its `busy`, this does not depend on paths of a burst that it has to return.
    pub spray_asked: Signal<In, Bit>,
    /// The spray engine is free in the next cycle, if this flow does not use it in this one.
    pub spray_frees: Signal<In, Bit>,

    // Records of the packets of a burst, for the window.
    pub sent_packet: FlowSrc<SentPacket>,

    // Local translation. A request is accepted when valid and ready are high. Responses come in the order of the requests.
    pub xlate_req: OfferSrc<TranslateRequest>,
    pub xlate_rsp: FlowSnk<TranslateResponse>,
    pub dropped: Signal<Out, EpochEnd>,

    /// High for one cycle per packet sent.
    pub tx: FlowSrc<TxRequest>,

    bursts: Bursts,
    measure: BurstMeasure,
    step: DFF<Step>,
    state: DFF<RequesterState>,
    una: DFF<Psn>,
    /// MRC: the queue pair holds no block of the pool, and none is free.
    starves: DFF<Bit>,
    /// RC: the last packet of the burst fills the window.
    fills_window: DFF<Bit>,
    in_flight: DFF<Bits<24>>,
    /// The spray engine was queried; congestion control was queried.
    spray_requested: DFF<Bit>,
    cwnd_requested: DFF<Bit>,
    /// The window was changed as the last response of the spray engine tells; the spray engine knows that nothing is in flight.
    cwnd_changed: DFF<Bit>,
    told_empty: DFF<Bit>,
    psn: DFF<Psn>,
    /// `Admit`: the burst is collected from now on. Decided a cycle before, because much follows from it in this one.
    collects: DFF<Bit>,
    /// The packets are retransmissions; MRC: `last_sent` is the record of the last transmission.
    is_retransmit: DFF<Bit>,
    last_sent: DFF<SentPacket>,
    /// The burst has NOPs, which may be complete.
    nops: DFF<Bit>,
    /// Payload bytes and packets of what was sent last.
    sent_payload: DFF<Bits<COST_BITS>>,
    sent_packets: DFF<Bits<6>>,
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
            in_flight,
            spray_requested,
            cwnd_requested,
            psn,
            is_retransmit
        );
        dff_setup!(
            self,
            clock,
            last_sent,
            nops,
            fills_window,
            starves,
            sent_payload,
            sent_packets,
            cwnd_changed,
            told_empty,
            collects
        );
        clock_reset!(self, bursts);
        clock!(self, clock, measure);
        let op = self.op.val();
        let step = self.step.q.val();
        let state = self.state.q.val();
        let segment = self.measure.segment.val();
        let psn = self.psn.q.val();
        let is_retransmit = self.is_retransmit.q.val();
        let bg_active = self.bursts.active.val();
        let last_sent = self.last_sent.q.val();
        let mtu_log2 = op.settings.mtu_log2;
        let rc = op.settings.rc;
        let spray = self.spray_response.val();
        let window = self.window_response.val();
        let messages = self.messages_response.val();
        let cwnd = self.nscc_response.val().cwnd;

        // select
        let port = op.port;
        // Only a policy that probes has a probe due or holds the queue pair, and only lost packets need to know which planes are usable. Otherwise the spray engine is
        // not queried.
        let spray_requested = self.spray_requested.q.val();
        let mut query_response = spray;
        query_response.found = spray.found & spray_requested;
        let held = op.state.path_policy.probes & spray.held;
        let held_deadline = earlier(state.armed, state.deadline, spray.until);
        let needs_spray_query = !spray_requested & window.lost.any();
        let units_ready = !self.window.busy.val()
            & !needs_spray_query
            & !(spray_requested & self.spray_asked.val());
        assert!(
            (step != Step::Select)
                | !spray_requested
                | (self.spray.busy.val() == self.spray_asked.val()),
            "the spray engine has paths to return while it is queried"
        );
        let changes_cwnd =
            spray_requested & (spray.window != WindowChange::Keep) & !self.cwnd_changed.q.val();
        let empty = window.una == window.next_psn;
        let tells_empty = held & spray.drains & empty & !self.told_empty.q.val();
        let selected = with_due_probe(state, query_response);
        let choice = choose(selected, self.plane_up.val(), port, spray, window);
        let rc_space = rc_space(op.settings, op.state);
        let rc_paths = has_paths(op.settings);
        let sends_nothing = rc & (((op.settings.plane != port) & !rc_paths) | op.state.rc.waits);
        let asks_policy = step == Step::AskPolicy;
        let turn = rc_turn(state, spray, is_retransmit, self.told_empty.q.val(), port);

        // measure, admit
        let cwnd_known = rc | (self.cwnd_requested.q.val() & !self.nscc.busy.val());
        let window_space = self.measure.window_space.val();
        let count = self.measure.count.val();
        let retries = if is_retransmit {
            last_sent.retries
        } else {
            bits::<8>(0)
        };

        // The response is not waited for in the client of the message table, which would cost a cycle.
        let arrives = self.taken.valid.val();
        let fetched = if arrives {
            self.taken.record.val()
        } else {
            messages
        };
        let selects = step == Step::Select;
        let counts = step == Step::CountPackets;
        self.measure.is_retransmit.next = is_retransmit;
        self.measure.psn.next = psn;
        self.measure.retries.next = retries;
        self.measure.tail.next = state.delays.tail;
        self.measure.sets_space.next = selects | self.start.val();
        self.measure.psn_space.next = if selects {
            choice.window_space
        } else {
            rc_space.packets
        };
        self.measure.pool_space.next = if selects { window.room } else { bits::<6>(63) };
        self.measure.looks_up.next = step == Step::LookupMessage;
        self.measure.fetched.next = fetched;
        self.measure.measures.next = step == Step::MeasureSpace;
        self.measure.cwnd.next = cwnd;
        self.measure.in_flight.next = self.in_flight.q.val();
        self.measure.counts.next = counts;

        // bursts
        let is_new = !is_retransmit & !rc;
        let admitted = self.measure.admitted.val();
        let collects = self.collects.q.val();
        let admits = if counts {
            self.measure.admits.val()
        } else {
            admitted
        };
        let waits_for_spray = counts | ((step == Step::Admit) & !collects);
        self.collects.d.next = waits_for_spray & admits & (rc | self.spray_frees.val());
        assert!(
            (step != Step::Admit) | (collects == (admitted & (rc | !self.spray.busy.val()))),
            "whether the spray engine is free was not known a cycle before"
        );
        let port_up = of_port(self.plane_up.val(), port);
        self.bursts.start.next = collects;
        self.bursts.head.next = BurstHead {
            message: self.measure.message.val(),
            run: Run {
                segment,
                packets: count,
            },
            bytes: bytes_of(segment, count, mtu_log2),
            more: self.measure.more.val(),
            only_short: self.measure.only_short.val(),
            has_path: rc | (is_new & op.state.path_policy.keeps_all_paths & port_up),
            is_retransmit: is_retransmit & !rc,
            avoid: last_sent.ev,
        };
        self.bursts.kind.next = BurstKind {
            is_new,
            ack_req_all: self.measure.ack_req_all.val() | is_retransmit,
            fills_window: self.fills_window.q.val(),
            window_space,
            retries,
            rc_entropy: if rc_paths {
                spray.entropy
            } else {
                bit_cast::<32, 16>(op.settings.udp_sport)
            },
        };
        self.bursts.spray.busy.next = self.spray.busy.val();
        self.bursts.window.busy.next = self.window.busy.val();
        join!(
            self,
            op => measure.op,
            op => bursts.op,
            path => bursts.path,
            taken => bursts.taken,
            bursts.xlate_req => xlate_req,
            xlate_rsp => bursts.xlate_rsp,
            bursts.dropped => dropped,
            bursts.sent_packet => sent_packet,
            bursts.paths_pending => paths_pending,
            bursts.paths_follow => paths_follow,
            bursts.unreadable => unreadable,
            bursts.active => bg_burst_active,
            bursts.ends_soon => ends_soon,
            bursts.qp => bg_burst_qp,
            bursts.port => bg_burst_port,
            bursts.first_psn => bg_burst_first_psn,
        );
        let begins = self.bursts.begins.val();
        let leaves = self.bursts.tx.valid.val();
        let any = self.bursts.any.val();
        let next_psn = self.bursts.next_psn.val();
        // One packet at a time is timed: a new one that requests an acknowledgement.
        let timed = RcPathState {
            timed: rc_paths & !is_retransmit & self.bursts.asks.val(),
            timed_psn: self.bursts.asking_psn.val(),
            timed_at: op.now,
            timed_index: spray.index,
            ..state.rc.paths
        };
        let rc_sent = RcState {
            to_send: next_psn,
            sent: if is_retransmit {
                state.rc.sent
            } else {
                next_psn
            },
            rnr_retries: state.rc.rnr_retries,
            waits: state.rc.waits,
            pkts_since_ack_req: self.bursts.pkts_since_ack_req.val(),
            paths: if state.rc.paths.timed {
                state.rc.paths
            } else {
                timed
            },
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
        self.spray.start.next = self.bursts.spray.start.val();
        self.spray.request.next = if (step == Step::Admit) | (step == Step::Collect) {
            self.bursts.spray.request.val()
        } else {
            SprayRequest {
                op: if asks_policy & !turn.tells_empty {
                    SprayOp::Choose
                } else if (step == Step::Select) | asks_policy | probe_waits {
                    SprayOp::Query
                } else {
                    SprayOp::Probe
                },
                qp: op.qp,
                plane: port,
                count: bits::<6>(1),
                empty: asks_policy | (empty & (step == Step::Select)),
                now: op.now,
                ..SprayRequest::default()
            }
        };
        self.nscc.start.next = false;
        self.nscc.request.next = NsccRequest {
            op: if self.cwnd_requested.q.val() {
                NsccOp::Change
            } else {
                NsccOp::Query
            },
            qp: op.qp,
            now: op.now,
            change: spray.window,
            ..NsccRequest::default()
        };
        self.window.start.next = self.bursts.window.start.val();
        self.window.request.next = if (step == Step::Admit) | (step == Step::Collect) {
            self.bursts.window.request.val()
        } else {
            WindowRequest {
                op: match step {
                    Step::Idle | Step::WaitForUnits => WindowOp::Query,
                    Step::Select => WindowOp::Read,
                    _ => WindowOp::MarkRetransmitted,
                },
                qp: op.qp,
                psn: if step == Step::Select {
                    choice.lost_psn
                } else {
                    psn
                },
                sent: self.bursts.sent.val(),
                ..WindowRequest::default()
            }
        };
        // Whose request it is does not depend on whether there is one, which comes late: this flow issues none of its own in these steps.
        let is_of_burst = (step == Step::Collect) | ((step == Step::Admit) & collects);
        assert!(
            is_of_burst | !self.bursts.messages.valid.val(),
            "a burst takes messages before it is collected"
        );
        self.messages.start.next = self.bursts.messages.valid.val();
        self.messages.request.next = if is_of_burst {
            self.bursts.messages.record.val()
        } else {
            MessageRequest {
                op: match step {
                    Step::Idle | Step::WaitForUnits | Step::AwaitPath => {
                        if rc_space.is_retransmit {
                            MessageOp::LookupByPsn
                        } else {
                            MessageOp::NextMessage
                        }
                    }
                    Step::Select => MessageOp::NextMessage,
                    Step::ReadSentPacket => MessageOp::LookupBySlot,
                    // No packet is sent.
                    _ => MessageOp::Complete,
                },
                qp: op.qp,
                psn: match step {
                    Step::Idle | Step::WaitForUnits | Step::AwaitPath => op.state.rc.to_send,
                    Step::Select => window.next_psn,
                    _ => self.una.q.val(),
                },
                slot: window.sent.slot,
                ..MessageRequest::default()
            }
        };

        // Packets.
        self.tx.valid.next = leaves;
        let probe_after = if rc { state.rc.sent } else { window.next_psn };
        let probing = if rc { turn.state } else { selected };
        self.tx.record.next = if ((step == Step::Select) & !bg_active) | asks_policy {
            probe_packet(op, probe_after, probing)
        } else {
            self.bursts.tx.record.val()
        };

        // Result. When it is valid is decided below.
        let due = op.now + self.measure.timeout.val();
        let armed_state = RequesterState {
            armed: true,
            deadline: earlier(state.armed, state.deadline, due),
            ..state
        };
        let mut sent = if any { armed_state } else { state };
        sent.rc = rc_sent;
        // By the step alone. Only an operation that is done has a result, and whether it is done comes late.
        let state_after = match step {
            Step::Idle => op.state,
            Step::Select => selected,
            Step::AskPolicy => turn.state,
            Step::Admit => {
                if collects {
                    armed_state
                } else {
                    state
                }
            }
            Step::Collect => armed_state,
            Step::Send => sent,
            _ => state,
        };
        self.done.next = false;
        self.starved.next = false;
        self.result.next = OpResult {
            state: state_after,
            packet_sent: false,
            tried_again: false,
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
            self.bursts.tx.record.val().qp
        } else {
            bits::<QPN_BITS>(0)
        };
        self.stats.next.bytes = if leaves {
            self.bursts.tx.record.val().length
        } else {
            bits::<LENGTH_BITS>(0)
        };
        self.stats.next.on_path = leaves & (bg_active | !rc);
        self.stats.next.sent_index = if leaves {
            self.bursts.sent.val().ev
        } else {
            bits::<8>(0)
        };

        // query congestion control
        if self.start.val() {
            self.cwnd_requested.d.next = rc;
        } else if (step != Step::Idle) & !self.cwnd_requested.q.val() {
            // Congestion control is not queried if the request in progress, or the last one, was about this queue pair.
            let cached = self.cwnd_cached.val();
            self.nscc.start.next = !cached & !self.nscc.busy.val();
            self.cwnd_requested.d.next = cached | !self.nscc.busy.val();
        }

        match step {
            Step::Idle => {
                if self.start.val() {
                    self.state.d.next = op.state;
                    self.state.d.next.probe = may_leave;
                    self.una.d.next = op.state.una;
                    self.psn.d.next = op.state.rc.to_send;
                    self.is_retransmit.d.next = rc & rc_space.is_retransmit;
                    self.last_sent.d.next = SentPacket::default();
                    self.starves.d.next = false;
                    self.fills_window.d.next = rc_space.fills_window;
                    self.in_flight.d.next = bits::<24>(0);
                    self.spray_requested.d.next = op.state.path_policy.probes;
                    self.cwnd_changed.d.next = false;
                    self.told_empty.d.next = false;
                    if op.state.failed | !op.settings.valid | sends_nothing {
                        self.done.next = true;
                        self.result.next.next_action = NextAction::Nothing;
                    } else if rc & !rc_paths & !bg_active {
                        self.messages.start.next = true;
                        self.step.d.next = Step::LookupMessage;
                    } else if rc_paths & !bg_active & !self.spray.busy.val() {
                        self.spray.start.next = true;
                        self.step.d.next = Step::AskPolicy;
                    } else if rc | (op.state.path_policy.probes & self.spray.busy.val()) {
                        self.step.d.next = Step::WaitForUnits;
                    } else {
                        self.spray.start.next = op.state.path_policy.probes;
                        self.window.start.next = true;
                        self.step.d.next = Step::Select;
                    }
                }
            }
            Step::WaitForUnits => {
                if rc_paths {
                    if !bg_active & !self.spray.busy.val() {
                        self.spray.start.next = true;
                        self.step.d.next = Step::AskPolicy;
                    }
                } else if rc {
                    if !bg_active {
                        self.messages.start.next = true;
                        self.step.d.next = Step::LookupMessage;
                    }
                } else if !self.spray.busy.val() {
                    self.spray.start.next = true;
                    self.window.start.next = true;
                    self.step.d.next = Step::Select;
                }
            }
            Step::AskPolicy => {
                if !self.spray.busy.val() {
                    self.state.d.next = turn.state;
                    if turn.tells_empty {
                        self.spray.start.next = true;
                        self.told_empty.d.next = true;
                    } else if turn.probes {
                        self.tx.valid.next = true;
                        self.done.next = true;
                        self.stats.next.probe = true;
                        self.result.next.state.probe = false;
                        self.result.next.packet_sent = true;
                        self.result.next.next_action = NextAction::Nothing;
                        self.sent_payload.d.next = bits::<COST_BITS>(0);
                        self.sent_packets.d.next = bits::<6>(1);
                        self.step.d.next = Step::Idle;
                    } else if turn.held_back {
                        // The timer schedules the queue pair again.
                        self.done.next = true;
                        self.result.next.next_action = NextAction::Nothing;
                        self.step.d.next = Step::Idle;
                    } else {
                        self.spray.start.next = true;
                        self.step.d.next = Step::AwaitPath;
                    }
                }
            }
            Step::AwaitPath => {
                if !self.spray.busy.val() {
                    if spray.found {
                        self.messages.start.next = true;
                        self.step.d.next = Step::LookupMessage;
                    } else {
                        self.done.next = true;
                        self.result.next.next_action = NextAction::Nothing;
                        self.step.d.next = Step::Idle;
                    }
                }
            }
            Step::Select => {
                self.una.d.next = window.una;
                self.starves.d.next = choice.starves;
                self.in_flight.d.next = window.in_flight;
                if needs_spray_query & !self.window.busy.val() & !self.spray.busy.val() {
                    self.spray.start.next = true;
                    self.spray_requested.d.next = true;
                }
                let fails = self.completing.val() & messages.found;
                if units_ready & !self.messages.busy.val() {
                    self.state.d.next = selected;
                    if fails {
                        self.done.next = true;
                        self.result.next.next_action = NextAction::Fail;
                        self.result.next.failed_slot_valid = true;
                        self.result.next.slot = messages.slot;
                        self.result.next.status = messages.status;
                        self.step.d.next = Step::Idle;
                    } else if changes_cwnd {
                        if self.cwnd_requested.q.val() & !self.nscc.busy.val() {
                            self.nscc.start.next = true;
                            self.cwnd_changed.d.next = true;
                        }
                    } else if tells_empty {
                        self.spray.start.next = true;
                        self.told_empty.d.next = true;
                        self.cwnd_changed.d.next = false;
                    } else if self.bursts.is_stopped.val() {
                        // The operation is tried again after the message has been marked.
                        self.done.next = true;
                        self.result.next.tried_again = true;
                        self.result.next.next_action = NextAction::Nothing;
                        self.step.d.next = Step::Idle;
                    } else if held & !choice.probes & !(spray.drains & choice.is_retransmit) {
                        // The timer schedules the queue pair again.
                        self.state.d.next.armed = true;
                        self.state.d.next.deadline = held_deadline;
                        self.step.d.next = Step::SendNothing;
                    } else if !choice.probes & !choice.is_retransmit {
                        self.psn.d.next = window.next_psn;
                        if self.bursts.may_follow.val() {
                            self.messages.start.next = true;
                            self.step.d.next = Step::LookupMessage;
                        }
                    } else if !bg_active {
                        // Neither of them is sent beside a burst.
                        if choice.probes {
                            self.tx.valid.next = true;
                            self.done.next = true;
                            self.stats.next.probe = true;
                            self.result.next.state.probe = false;
                            self.result.next.packet_sent = true;
                            self.result.next.una = window.una;
                            self.sent_payload.d.next = bits::<COST_BITS>(0);
                            self.sent_packets.d.next = bits::<6>(1);
                            self.step.d.next = Step::Idle;
                        } else {
                            if held {
                                self.state.d.next.armed = true;
                                self.state.d.next.deadline = held_deadline;
                            }
                            self.window.start.next = true;
                            self.is_retransmit.d.next = true;
                            self.psn.d.next = choice.lost_psn;
                            self.step.d.next = Step::ReadSentPacket;
                        }
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
                let is_usable = fetched.found & !(is_retransmit & fetched.message.fault);
                if arrives & is_usable {
                    self.step.d.next = Step::MeasureSpace;
                } else if !self.messages.busy.val() {
                    self.messages.start.next = true;
                    self.done.next = true;
                    self.result.next.next_action = NextAction::Completing;
                    self.step.d.next = Step::Idle;
                }
            }
            Step::MeasureSpace => {
                if cwnd_known {
                    self.step.d.next = Step::CountPackets;
                }
            }
            Step::CountPackets => {
                self.step.d.next = Step::Admit;
            }
            Step::Admit => {
                if collects {
                    self.step.d.next = Step::Collect;
                } else if !admitted {
                    self.starved.next = self.starves.q.val();
                    self.messages.start.next = true;
                    self.done.next = true;
                    self.result.next.next_action = NextAction::Completing;
                    self.step.d.next = Step::Idle;
                }
            }
            Step::SendNothing => {
                self.messages.start.next = true;
                self.done.next = true;
                self.result.next.next_action = NextAction::Completing;
                self.step.d.next = Step::Idle;
            }
            Step::Collect => {
                if self.bursts.no_path.val() {
                    self.step.d.next = Step::SendNothing;
                }
            }
            Step::Send => {
                self.window.start.next = leaves & is_retransmit & !rc;
                if self.bursts.ends.val() {
                    self.done.next = true;
                    self.result.next.packet_sent = any;
                    // If a packet was sent, no message completes or fails.
                    if any & !self.nops.q.val() {
                        self.result.next.next_action = NextAction::Nothing;
                    }
                    self.step.d.next = Step::Idle;
                }
            }
        }
        // The burst begins: with `Admit`, if nothing has to be waited for.
        if begins {
            self.sent_payload.d.next = self.bursts.payload.val().get_bits::<COST_BITS>(0);
            self.sent_packets.d.next = self.bursts.count.val();
        }
        self.cost.next = self.sent_payload.q.val()
            + (bit_cast::<COST_BITS, 6>(self.sent_packets.q.val()) << OVERHEAD_BITS as u64);
        if begins & is_new {
            self.done.next = true;
            self.result.next.packet_sent = true;
            self.result.next.next_action = if self.bursts.nops.val() {
                NextAction::Complete
            } else {
                NextAction::Nothing
            };
            self.step.d.next = Step::Idle;
        } else if begins {
            self.nops.d.next = self.bursts.nops.val();
            self.step.d.next = Step::Send;
        }
        if self.reset.val() {
            self.step.d.next = Step::Idle;
            self.collects.d.next = false;
        }
    }
}
