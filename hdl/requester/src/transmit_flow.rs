//! What a queue pair sends. MRC: a probe, the lowest lost packet, or new ones; RC: what it went back over, or new packets (reference:
//! `MrcRequester::transmit_burst`, `RcRequester::transmit_burst`).

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::host::WcStatus;
use stellar_wire::hw::congestion::{NsccOp, NsccRequest, NsccResponse};
use stellar_wire::hw::messages::{Message, MessageOp, MessageRequest, MessageResponse};
use stellar_wire::hw::requester::{LocateRequest, LocateResponse, TxRequest};
use stellar_wire::hw::spray::{SprayOp, SprayRequest, SprayResponse};
use stellar_wire::hw::window::{SentPacket, WindowOp, WindowRequest, WindowResponse};
use stellar_wire::mtu::LENGTH_BITS;
use stellar_wire::Opcode;

use crate::burst::{Burst, BurstSend};
use crate::choice::choose;
use crate::deadline::{earlier, timeout};
use crate::rc_window::rc_room;
use crate::records::{Counted, Job, JobKind, Next, Outcome, RcState, RequesterState};
use crate::segment::{
    at_most_63, burst_limit, bytes_of, measured, payload_length, segment_at, smaller, Segment,
};

/// The other port starts to prepare the next burst when this many packets of the current one remain. Preparation takes about as long as sending them.
const SOON: u64 = 12;

/// Where the flow is.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Step {
    Idle,
    /// Waits for the spray engine, which may still be at work for the operation before, then asks it and the window; over RC, for the burst before.
    Look,
    /// Probe, lost packet or new packets?
    Choose,
    /// A lost packet: its last transmission comes.
    Recall,
    /// The message of what is sent again comes, or the message new packets belong to, or will; where in it the first packet lies.
    Fetch,
    /// What of the message is left, and how much the windows let go.
    Measure,
    /// How many packets that is.
    Count,
    /// Whether the first may leave, once the burst before has; the spray engine may still be at work for what SACKs said of paths.
    Admit,
    /// They leave: a packet sent again, or a burst over RC. The window may still be taking note of it when the flow is through.
    Send,
    /// The window takes back what of a burst has not left.
    Retract,
    /// The message table takes note of a buffer that cannot be read.
    Blame,
}

/// Sends a probe, a lost packet or a burst of new packets of `job.qp` by `job.port`, for which there is room; or, of an RC queue pair, a burst
/// that is new or sent again. RC begins at `Fetch`: it has neither spray engine nor congestion control nor transmit window.
///
/// A burst of new packets over MRC leaves while other operations go on: the window holds all of them from then on, and the flow is through. If the burst ends
/// early, `Retract` takes back the rest. Until the burst has left, no other is sent, nor does an operation start that looks at what its packets were sent with.
/// The next one may begin to look at its windows when few are left, and is given up if the burst ends early.
///
/// Paths and payload location are asked for at once: packets whose local buffer cannot be read have drawn their paths, as in the reference.
/// Congestion control is asked as soon as it is free, and waited for when the packets are counted.
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

    // The burst that leaves while the flow is through.
    pub sending: Signal<Out, Bit>,
    /// Few of its packets are left: the next `Transmit` of the other port may start.
    pub ends_soon: Signal<Out, Bit>,
    /// While it does.
    pub sending_qp: Signal<Out, Bits<10>>,
    pub sending_port: Signal<Out, Bit>,
    pub sending_from: Signal<Out, Bits<24>>,
    /// One clock: its first packet leaves.
    pub first_leaves: Signal<Out, Bit>,
    /// It has ended early, and waits for `Retract`.
    pub short: Signal<Out, Bit>,

    // Calls.
    pub spray_start: Signal<Out, Bit>,
    pub spray_request: Signal<Out, SprayRequest>,
    pub spray_busy: Signal<In, Bit>,
    pub spray: Signal<In, SprayResponse>,
    /// Answers as they come, of which a burst has many.
    pub sprayed_valid: Signal<In, Bit>,
    pub sprayed: Signal<In, SprayResponse>,
    pub nscc_start: Signal<Out, Bit>,
    pub nscc_request: Signal<Out, NsccRequest>,
    pub nscc_busy: Signal<In, Bit>,
    /// The call under way, or the last one, was about the job's queue pair: `nscc` is its window.
    pub nscc_said: Signal<In, Bit>,
    pub nscc: Signal<In, NsccResponse>,
    pub window_start: Signal<Out, Bit>,
    pub window_request: Signal<Out, WindowRequest>,
    pub window_busy: Signal<In, Bit>,
    pub window: Signal<In, WindowResponse>,
    pub messages_start: Signal<Out, Bit>,
    pub messages_request: Signal<Out, MessageRequest>,
    pub messages_busy: Signal<In, Bit>,
    pub messages: Signal<In, MessageResponse>,
    /// The message table has been asked for the SACK before. If that fails the queue pair, nothing is sent.
    pub completing: Signal<In, Bit>,

    /// Answers of the spray engine are still to come.
    pub draws: Signal<Out, Bit>,

    // Packets of a burst, to the window.
    pub push_valid: Signal<Out, Bit>,
    pub push: Signal<Out, SentPacket>,

    // Payload location: requests move when valid and ready, answers come in order.
    pub locate_valid: Signal<Out, Bit>,
    pub locate: Signal<Out, LocateRequest>,
    pub locate_ready: Signal<In, Bit>,
    pub located_valid: Signal<In, Bit>,
    pub located: Signal<In, LocateResponse>,

    /// One clock for each packet that leaves.
    pub tx_valid: Signal<Out, Bit>,
    pub tx: Signal<Out, TxRequest>,

    send: BurstSend,
    /// A burst leaves beside other operations.
    beside: DFF<Bit>,
    beside_qp: DFF<Bits<10>>,
    beside_port: DFF<Bit>,
    beside_from: DFF<Bits<24>>,
    /// The deadline before it.
    before_armed: DFF<Bit>,
    before_deadline: DFF<Bits<32>>,
    is_short: DFF<Bit>,
    soon: DFF<Bit>,
    step: DFF<Step>,
    state: DFF<RequesterState>,
    una: DFF<Bits<24>>,
    /// Packets the window has room for, 63 if more; bytes in flight.
    window_room: DFF<Bits<6>>,
    /// RC: behind the last of them it is full.
    room_fills: DFF<Bit>,
    in_flight: DFF<Bits<24>>,
    /// The spray engine has been asked what is due and usable; congestion control has.
    asked_spray: DFF<Bit>,
    asked: DFF<Bit>,
    /// The message is what `Peek` said; `Peek` gave none.
    peeked: DFF<Bit>,
    peeked_none: DFF<Bit>,
    psn: DFF<Bits<24>>,
    /// It is sent again; `old` is its last transmission (MRC).
    again: DFF<Bit>,
    old: DFF<SentPacket>,
    message: DFF<Message>,
    segment: DFF<Segment>,
    /// Of the first packet.
    length: DFF<Bits<LENGTH_BITS>>,
    /// Bytes and packets the congestion window has room for.
    room: DFF<Bits<25>>,
    fits: DFF<Bits<6>>,
    count: DFF<Bits<6>>,
    timeout: DFF<Bits<32>>,
    /// The payload lies in memory.
    in_memory: DFF<Bit>,
    /// MRC: every packet asks for a SACK.
    asks: DFF<Bit>,
    /// RC: the last packet asks for an acknowledgement.
    asks_last: DFF<Bit>,
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
            window_room,
            in_flight,
            asked_spray,
            asked,
            peeked,
            peeked_none,
            psn
        );
        dff_setup!(self, clock, again, old, message, segment, length, room, fits, count);
        dff_setup!(self, clock, timeout, in_memory, asks, asks_last, room_fills);
        dff_setup!(
            self,
            clock,
            beside,
            beside_qp,
            beside_port,
            beside_from,
            is_short,
            soon
        );
        dff_setup!(self, clock, before_armed, before_deadline);
        clock!(self, clock, send);
        self.send.reset.next = self.reset.val();
        let job = self.job.val();
        let step = self.step.q.val();
        let state = self.state.q.val();
        let message = self.message.q.val();
        let segment = self.segment.q.val();
        let psn = self.psn.q.val();
        let again = self.again.q.val();
        let peeked = self.peeked.q.val();
        let beside = self.beside.q.val();
        let old = self.old.q.val();
        let mtu_log2 = job.settings.mtu_log2;
        let rc = job.settings.rc;
        let spray = self.spray.val();
        let window = self.window.val();
        let messages = self.messages.val();
        let cwnd = self.nscc.val().cwnd;

        // choose
        let port = job.port;
        // Nothing is due but by a policy that probes, and only what was lost asks for the planes that are usable.
        let asked_spray = self.asked_spray.q.val();
        let mut asked_of = spray;
        asked_of.found = spray.found & asked_spray;
        let lacks_spray = !asked_spray & window.lost.any();
        let looked =
            !self.window_busy.val() & !lacks_spray & !(asked_spray & self.spray_busy.val());
        let choice = choose(state, port, asked_of, window);
        let rc_room = rc_room(job.settings, job.state);
        let other_port = rc & (job.settings.plane != port);

        // measure, admit
        let told = rc | (self.asked.q.val() & !self.nscc_busy.val());
        let in_flight = self.in_flight.q.val();
        let room = bit_cast::<25, 24>(cwnd) - bit_cast::<25, 24>(in_flight);
        let overdrawn = room.get_bit(24);
        let whole = room.get_bits::<24>(0) >> bit_cast::<24, 4>(mtu_log2);
        let length = self.length.q.val();
        let bytes_left = self.room.q.val();
        let may_send = !in_flight.any()
            | (!bytes_left.get_bit(24)
                & (bytes_left.get_bits::<24>(0) >= bit_cast::<24, LENGTH_BITS>(length)));
        let window_room = self.window_room.q.val();
        let window_full = !again & !window_room.any();
        let by_windows = smaller(window_room, self.fits.q.val());
        let by_message = smaller(at_most_63(segment.left), burst_limit(mtu_log2));
        let most = smaller(by_windows, by_message);
        let count = self.count.q.val();
        let retries = if again { old.retries } else { bits::<8>(0) };

        // send
        let admitted = may_send & !window_full;
        let spray_free = rc | !self.spray_busy.val();
        let sends = (step == Step::Admit) & admitted & spray_free & !beside;
        let in_memory = self.in_memory.q.val();
        self.send.start.next = sends;
        self.send.job.next = job;
        self.send.burst.next = Burst {
            message,
            segment,
            count,
            in_memory,
            asks: self.asks.q.val() | again,
            asks_last: self.asks_last.q.val(),
            again: again & !rc,
            retries,
        };
        self.send.sprayed_valid.next = self.sprayed_valid.val();
        self.send.sprayed.next = self.sprayed.val();
        self.locate_valid.next = self.send.locate_valid.val();
        self.locate.next = self.send.locate.val();
        self.send.locate_ready.next = self.locate_ready.val();
        self.send.located_valid.next = self.located_valid.val();
        self.send.located.next = self.located.val();
        self.draws.next = self.send.draws.val();
        let leaves = self.send.tx_valid.val();
        let any = self.send.any.val();
        let rest = self.send.rest.val();
        let left = self.send.left.val();
        let is_new = !again & !rc;
        let next_psn = rest.psn;
        let rc_sent = RcState {
            to_send: next_psn,
            sent: if again { state.rc.sent } else { next_psn },
            retries: state.rc.retries,
            silent: self.send.silent.val(),
        };

        // leave_beside
        self.push_valid.next = leaves & beside;
        self.push.next = self.send.sent.val();
        self.sending.next = beside;
        self.sending_qp.next = self.beside_qp.q.val();
        self.sending_port.next = self.beside_port.q.val();
        self.sending_from.next = self.beside_from.q.val();
        self.first_leaves.next = beside & leaves & !any;
        self.short.next = self.is_short.q.val();
        self.ends_soon.next = self.soon.q.val();
        self.soon.d.next = beside & any & (left <= SOON);
        if beside & self.send.done.val() {
            self.beside.d.next = self.send.is_short.val();
            self.is_short.d.next = self.send.is_short.val();
        }

        // retract: nothing but the burst has changed the deadline since it began.
        let retracts = job.kind == JobKind::Retract;
        let mut unsent = job.state;
        unsent.armed = if any {
            job.state.armed
        } else {
            self.before_armed.q.val()
        };
        unsent.deadline = if any {
            job.state.deadline
        } else {
            self.before_deadline.q.val()
        };

        // What is asked, whenever it is.
        let probe_waits = if step == Step::Idle {
            job.state.probe
        } else {
            state.probe
        };
        self.spray_start.next = false;
        self.spray_request.next = SprayRequest {
            op: match step {
                Step::Idle | Step::Look => {
                    if probe_waits {
                        SprayOp::Query
                    } else {
                        SprayOp::Probe
                    }
                }
                Step::Choose => SprayOp::Query,
                _ => SprayOp::Choose,
            },
            qp: job.qp,
            plane: port,
            count,
            avoid_valid: again,
            avoid: old.ev,
            now: job.now,
            ..SprayRequest::default()
        };
        self.nscc_start.next = false;
        self.nscc_request.next = NsccRequest {
            op: NsccOp::Query,
            qp: job.qp,
            now: job.now,
            ..NsccRequest::default()
        };
        self.window_start.next = false;
        self.window_request.next = WindowRequest {
            op: match step {
                Step::Idle | Step::Look => {
                    if retracts {
                        WindowOp::Retract
                    } else {
                        WindowOp::Query
                    }
                }
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
            psn: match step {
                Step::Idle => next_psn,
                Step::Choose => choice.lost_psn,
                _ => psn,
            },
            sent: self.send.sent.val(),
            count: if retracts { left } else { count },
            bytes: if retracts {
                bytes_of(rest, left, mtu_log2)
            } else {
                bytes_of(segment, count, mtu_log2)
            },
            ..WindowRequest::default()
        };
        self.messages_start.next = false;
        self.messages_request.next = MessageRequest {
            op: match step {
                Step::Idle | Step::Look => {
                    if rc_room.again {
                        MessageOp::Holding
                    } else {
                        MessageOp::Current
                    }
                }
                Step::Choose => {
                    if beside {
                        MessageOp::Peek
                    } else {
                        MessageOp::Current
                    }
                }
                Step::Recall => MessageOp::Get,
                Step::Send | Step::Retract => MessageOp::Fault,
                // Nothing leaves.
                _ => {
                    if peeked {
                        MessageOp::Current
                    } else {
                        MessageOp::Complete
                    }
                }
            },
            qp: job.qp,
            psn: match step {
                Step::Idle | Step::Look => job.state.rc.to_send,
                Step::Choose => window.next_psn,
                _ => {
                    if peeked {
                        psn
                    } else {
                        self.una.q.val()
                    }
                }
            },
            slot: if step == Step::Recall {
                window.sent.slot
            } else {
                self.send.slot.val()
            },
            failed: false,
            status: bits::<8>(WcStatus::LocProtErr.code() as u64),
        };

        // What leaves.
        self.tx_valid.next = leaves;
        self.tx.next = if (step == Step::Choose) & !beside {
            TxRequest {
                qp: job.qp,
                port,
                opcode: bits::<8>(Opcode::MrcProbe.code() as u64),
                psn: window.next_psn - 1,
                timestamp: job.now.get_bits::<16>(0),
                probe_id: bit_cast::<16, 8>(choice.probe_index),
                entropy: choice.probe_entropy,
                ..TxRequest::default()
            }
        } else {
            self.send.tx.val()
        };

        // What came of it, whenever the flow is through.
        let due = job.now + self.timeout.q.val();
        let begun = RequesterState {
            armed: true,
            deadline: earlier(state.armed, state.deadline, due),
            ..state
        };
        let mut sent = if any { begun } else { state };
        sent.rc = rc_sent;
        let ended = if retracts { state } else { sent };
        self.done.next = false;
        self.outcome.next = Outcome {
            state,
            served: false,
            told: false,
            then: Next::Complete,
            una: self.una.q.val(),
            blame: false,
            slot: bits(0),
            status: bits(0),
        };
        self.counted.next = Counted::default();
        self.counted.next.packet = leaves;
        self.counted.next.retransmission = leaves & again & !beside;
        self.counted.next.sent_qp = if leaves {
            self.send.tx.val().qp
        } else {
            bits::<10>(0)
        };

        // ask_nscc
        if self.start.val() {
            self.asked.d.next = rc | retracts;
        } else if (step != Step::Idle) & !self.asked.q.val() {
            // What congestion control is about to say of the queue pair is not asked for again.
            let said = self.nscc_said.val();
            self.nscc_start.next = !said & !self.nscc_busy.val();
            self.asked.d.next = said | !self.nscc_busy.val();
        }

        match step {
            Step::Idle => {
                if self.start.val() {
                    self.state.d.next = if retracts { unsent } else { job.state };
                    self.una.d.next = job.state.una;
                    self.psn.d.next = job.state.rc.to_send;
                    self.again.d.next = rc & rc_room.again;
                    self.old.d.next = SentPacket::default();
                    self.window_room.d.next = rc_room.packets;
                    self.room_fills.d.next = rc_room.fills;
                    self.in_flight.d.next = bits::<24>(0);
                    self.asked_spray.d.next = job.state.may_probe;
                    self.peeked.d.next = false;
                    self.peeked_none.d.next = false;
                    if job.state.failed | !job.settings.valid | other_port {
                        self.done.next = true;
                        self.outcome.next.state = job.state;
                        self.outcome.next.told = retracts & any;
                        self.outcome.next.then = Next::Nothing;
                    } else if retracts {
                        self.window_start.next = true;
                        self.step.d.next = Step::Retract;
                    } else if rc & !beside {
                        self.messages_start.next = true;
                        self.step.d.next = Step::Fetch;
                    } else if rc | (job.state.may_probe & self.spray_busy.val()) {
                        self.step.d.next = Step::Look;
                    } else {
                        self.spray_start.next = job.state.may_probe;
                        self.window_start.next = true;
                        self.step.d.next = Step::Choose;
                    }
                }
            }
            Step::Look => {
                if rc {
                    if self.is_short.q.val() {
                        self.done.next = true;
                        self.outcome.next.told = true;
                        self.outcome.next.then = Next::Nothing;
                        self.step.d.next = Step::Idle;
                    } else if !beside {
                        self.messages_start.next = true;
                        self.step.d.next = Step::Fetch;
                    }
                } else if !self.spray_busy.val() {
                    self.spray_start.next = true;
                    self.window_start.next = true;
                    self.step.d.next = Step::Choose;
                }
            }
            Step::Choose => {
                self.una.d.next = window.una;
                self.window_room.d.next = choice.window_room;
                self.in_flight.d.next = window.in_flight;
                if lacks_spray & !self.window_busy.val() & !self.spray_busy.val() {
                    self.spray_start.next = true;
                    self.asked_spray.d.next = true;
                }
                let fails = self.completing.val() & messages.found;
                if looked & !self.messages_busy.val() {
                    self.state.d.next.probe = choice.probe;
                    self.state.d.next.probe_index = choice.probe_index;
                    self.state.d.next.probe_entropy = choice.probe_entropy;
                    self.outcome.next.state.probe = choice.probe;
                    self.outcome.next.state.probe_index = choice.probe_index;
                    self.outcome.next.state.probe_entropy = choice.probe_entropy;
                    if fails {
                        self.done.next = true;
                        self.outcome.next.then = Next::Fail;
                        self.outcome.next.blame = true;
                        self.outcome.next.slot = messages.slot;
                        self.outcome.next.status = messages.status;
                        self.step.d.next = Step::Idle;
                    } else if self.is_short.q.val() {
                        // Given up: to be asked for again.
                        self.done.next = true;
                        self.outcome.next.told = true;
                        self.outcome.next.then = Next::Nothing;
                        self.step.d.next = Step::Idle;
                    } else if beside {
                        // Whatever changes something waits until the burst before is through.
                        let is_new = !choice.probes & !choice.again;
                        self.psn.d.next = window.next_psn;
                        if is_new & !self.peeked_none.q.val() {
                            self.messages_start.next = true;
                            self.peeked.d.next = true;
                            self.step.d.next = Step::Fetch;
                        }
                    } else if choice.probes {
                        self.tx_valid.next = true;
                        self.done.next = true;
                        self.counted.next.probe = true;
                        self.outcome.next.state.probe = false;
                        self.outcome.next.served = true;
                        self.outcome.next.una = window.una;
                        self.step.d.next = Step::Idle;
                    } else if choice.again {
                        self.window_start.next = true;
                        self.again.d.next = true;
                        self.psn.d.next = choice.lost_psn;
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
                let fetched = messages.message;
                self.message.d.next = fetched;
                self.segment.d.next = segment_at(fetched, psn, mtu_log2);
                self.timeout.d.next = timeout(job.settings, retries);
                self.in_memory.d.next = !fetched.inline & fetched.length.any();
                if !self.messages_busy.val() {
                    if messages.found & !(again & fetched.fault) {
                        self.step.d.next = Step::Measure;
                    } else if peeked & messages.waits & !self.is_short.q.val() {
                        // Whoever brings something to send wakes the queue pair.
                        self.done.next = true;
                        self.outcome.next.then = Next::Nothing;
                        self.step.d.next = Step::Idle;
                    } else if peeked {
                        self.peeked.d.next = false;
                        self.peeked_none.d.next = true;
                        self.step.d.next = Step::Choose;
                    } else {
                        self.messages_start.next = true;
                        self.done.next = true;
                        self.outcome.next.then = Next::Completing;
                        self.step.d.next = Step::Idle;
                    }
                }
            }
            Step::Measure => {
                self.segment.d.next = measured(message, segment);
                self.length.d.next = payload_length(measured(message, segment), mtu_log2);
                self.room.d.next = room;
                self.fits.d.next = if rc {
                    bits::<6>(63)
                } else if overdrawn {
                    bits::<6>(0)
                } else {
                    at_most_63(whole)
                };
                self.asks.d.next = cwnd < job.settings.coalesce_from;
                if told {
                    self.step.d.next = Step::Count;
                }
            }
            Step::Count => {
                self.count.d.next = if (again & !rc) | !most.any() {
                    bits::<6>(1)
                } else {
                    most
                };
                self.asks_last.d.next = self.room_fills.q.val() & (most == window_room);
                self.step.d.next = Step::Admit;
            }
            Step::Admit => {
                if self.is_short.q.val() {
                    self.done.next = true;
                    self.outcome.next.told = true;
                    self.outcome.next.then = Next::Nothing;
                    self.step.d.next = Step::Idle;
                } else if sends {
                    self.spray_start.next = !rc;
                    // The message starts, if it has not.
                    self.messages_start.next = peeked;
                    self.window_start.next = is_new;
                    if is_new {
                        self.beside.d.next = true;
                        self.beside_qp.d.next = job.qp;
                        self.beside_port.d.next = port;
                        self.beside_from.d.next = psn;
                        self.before_armed.d.next = state.armed;
                        self.before_deadline.d.next = state.deadline;
                        self.done.next = true;
                        self.outcome.next.state = begun;
                        self.outcome.next.told = true;
                        self.outcome.next.then = Next::Nothing;
                        self.step.d.next = Step::Idle;
                    } else {
                        self.step.d.next = Step::Send;
                    }
                } else if !admitted & peeked & !beside {
                    self.messages_start.next = true;
                    self.peeked.d.next = false;
                    self.step.d.next = Step::Fetch;
                } else if !admitted & !beside {
                    self.messages_start.next = true;
                    self.done.next = true;
                    self.outcome.next.then = Next::Completing;
                    self.step.d.next = Step::Idle;
                }
            }
            Step::Send => {
                self.window_start.next = leaves & again & !rc;
                if self.send.done.val() {
                    self.outcome.next.state = sent;
                    self.outcome.next.served = any;
                    if self.send.unreadable.val() {
                        self.messages_start.next = true;
                        self.step.d.next = Step::Blame;
                    } else {
                        self.done.next = true;
                        // Where a packet has left, no message completes or fails.
                        if any {
                            self.outcome.next.then = Next::Nothing;
                        }
                        self.step.d.next = Step::Idle;
                    }
                }
            }
            Step::Retract => {
                if !self.window_busy.val() {
                    self.outcome.next.told = any;
                    if self.send.unreadable.val() {
                        self.messages_start.next = true;
                        self.step.d.next = Step::Blame;
                    } else {
                        self.done.next = true;
                        self.step.d.next = Step::Idle;
                    }
                }
            }
            Step::Blame => {
                if !self.messages_busy.val() {
                    self.done.next = true;
                    self.outcome.next.state = ended;
                    self.outcome.next.served = any & !retracts;
                    self.outcome.next.told = any & retracts;
                    self.step.d.next = Step::Idle;
                }
            }
        }
        // The flow is through with a burst that ended early.
        if retracts & self.done.val() {
            self.beside.d.next = false;
            self.is_short.d.next = false;
        }
        if self.reset.val() {
            self.step.d.next = Step::Idle;
            self.beside.d.next = false;
            self.is_short.d.next = false;
        }
    }
}
