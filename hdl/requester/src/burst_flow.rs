//! Sends a burst: measures it, admits it, and has it collected and sent (reference: the end of `MrcRequester::transmit_each` and of `RcRequester::transmit_each`).

use hdl_macros::{clock, clock_reset, hdl, join};
use hdl_primitives::{FlowSnk, FlowSrc, OfferSrc, Src};
use rust_hdl::prelude::*;
use stellar_wire::hw::fence::EpochEnd;
use stellar_wire::hw::messages::{MessageRequest, MessageResponse};
use stellar_wire::hw::requester::{TranslateRequest, TranslateResponse, TxRequest};
use stellar_wire::hw::spray::{SprayRequest, SprayResponse};
use stellar_wire::hw::window::{SentPacket, WindowRequest};

use crate::bundles::{BackgroundBurstSrc, CallSrc, UnitSrc, WindowSpaceSnk};
use crate::burst_collect::BurstHead;
use crate::burst_kind::burst_kind;
use crate::burst_measure::BurstMeasure;
use crate::burst_requests::{completion_request, resent_request};
use crate::burst_result::{action_after, burst_result};
use crate::burst_send::UnreadableMessage;
use crate::burst_state::{after_sending, SentBurst};
use crate::burst_step::{next_step, BurstStep, Endings};
use crate::bursts::Bursts;
use crate::packet_queue::Run;
use crate::ports::of_port;
use crate::records::{Op, OpResult, RequesterState};
use crate::segment::bytes_of;
use crate::selected::{retries_before, Selected};
use crate::silent_plane::any_silent;
use crate::timer_state::armed_until;

/// Sends the burst that `TransmitSelect` has selected, or nothing. A burst of new MRC packets is sent in the background: the window allocates all of its packets, and the flow is done.
///
/// Paths and translations are requested whatever comes of each other, so packets whose local buffer cannot be read have consumed paths, as in the reference.
#[derive(LogicBlock, Default)]
pub struct BurstFlow {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // Selection.
    /// The message of the first packet is requested in this cycle; or nothing is sent.
    pub start: Signal<In, Bit>,
    pub sends_nothing: Signal<In, Bit>,
    /// Both are stable from `start` to `done`.
    pub op: Signal<In, Op>,
    pub selected: Signal<In, Selected>,
    pub space: WindowSpaceSnk,
    /// The congestion window, once it is known.
    pub cwnd: Signal<In, Bits<24>>,
    pub cwnd_known: Signal<In, Bit>,
    /// Bit p: port p can send.
    pub plane_up: Signal<In, Bits<2>>,
    pub in_progress: Signal<Out, Bit>,
    pub done: Signal<Out, Bit>,
    /// High with `done` if messages complete or fail: the result has a next action. It does not pass the choice of the result.
    pub needs_admin: Signal<Out, Bit>,
    pub result: Signal<Out, OpResult>,
    /// High for one cycle: the queue pair has a new packet to send, and finds no block for its window.
    pub starved: Signal<Out, Bit>,
    /// High for one cycle: the burst begins, with this number of packets and of payload bytes.
    pub begins: Signal<Out, Bit>,
    pub count: Signal<Out, Bits<6>>,
    pub payload: Signal<Out, Bits<24>>,

    // The burst in the background: see `Bursts`.
    pub background: BackgroundBurstSrc,
    pub is_stopped: Signal<Out, Bit>,
    pub may_follow: Signal<Out, Bit>,
    pub unreadable: Src<UnreadableMessage>,

    // Functional units.
    pub spray: UnitSrc<SprayRequest, SprayResponse>,
    /// The spray engine is free in the next cycle, if this flow does not use it in this one.
    pub spray_frees: Signal<In, Bit>,
    /// Responses as they arrive: a burst has many.
    pub path: FlowSnk<SprayResponse>,
    pub paths_pending: Signal<Out, Bit>,
    pub paths_follow: Signal<Out, Bit>,
    pub window: CallSrc<WindowRequest>,
    pub messages: UnitSrc<MessageRequest, MessageResponse>,
    /// Responses as they arrive: a burst has many.
    pub taken: FlowSnk<MessageResponse>,
    pub sent_packet: FlowSrc<SentPacket>,
    pub xlate_req: OfferSrc<TranslateRequest>,
    pub xlate_rsp: FlowSnk<TranslateResponse>,
    pub dropped: Signal<Out, EpochEnd>,

    /// High for one cycle per packet sent, with its record.
    pub tx: FlowSrc<TxRequest>,
    pub sent: Signal<Out, SentPacket>,

    bursts: Bursts,
    measure: BurstMeasure,
    step: DFF<BurstStep>,
    /// `Admit`: the burst is collected from now on. Decided a cycle before, because much follows from it in this one.
    collects: DFF<Bit>,
    /// The burst has NOPs, which may be complete.
    nops: DFF<Bit>,
}

impl Logic for BurstFlow {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, step, collects, nops);
        clock_reset!(self, bursts);
        clock!(self, clock, measure);
        let op = self.op.val();
        let rc = op.settings.rc;
        let step = self.step.q.val();
        let selected = self.selected.val();
        let state = selected.state;
        let is_retransmit = selected.is_retransmit;
        let spray = self.spray.response.val();

        // measure. The response is not waited for in the client of the message table, which would cost a cycle.
        let arrives = self.taken.valid.val();
        let fetched = if arrives {
            self.taken.record.val()
        } else {
            self.messages.response.val()
        };
        let counts = step == BurstStep::CountPackets;
        self.measure.is_retransmit.next = is_retransmit;
        self.measure.psn.next = selected.psn;
        self.measure.retries.next = retries_before(selected);
        self.measure.is_oldest.next = (selected.psn == selected.una) & state.path_policy.spreads;
        self.measure.tail.next = state.delays.tail;
        // A message may be over before a packet can be late.
        self.measure.asks_plane.next = !state.armed & any_silent(state.losses);
        self.measure.looks_up.next = step == BurstStep::LookupMessage;
        self.measure.fetched.next = fetched;
        self.measure.measures.next = step == BurstStep::MeasureSpace;
        self.measure.in_flight.next = selected.in_flight;
        self.measure.counts.next = counts;
        join!(
            self,
            op => measure.op,
            cwnd => measure.cwnd,
            space.known => measure.sets_space,
            space.packets => measure.psn_space,
            space.blocks => measure.pool_space,
        );

        // admit
        let admitted = self.measure.admitted.val();
        let collects = self.collects.q.val();
        let admits = if counts {
            self.measure.admits.val()
        } else {
            admitted
        };
        let waits_for_spray = counts | ((step == BurstStep::Admit) & !collects);
        self.collects.d.next = waits_for_spray & admits & (rc | self.spray_frees.val());
        assert!(
            (step != BurstStep::Admit) | (collects == (admitted & (rc | !self.spray.busy.val()))),
            "whether the spray engine is free was not known a cycle before"
        );

        // collect and send
        let is_new = !is_retransmit & !rc;
        let segment = self.measure.segment.val();
        let packets = self.measure.count.val();
        let port_up = of_port(self.plane_up.val(), op.port);
        self.bursts.start.next = collects;
        self.bursts.head.next = BurstHead {
            message: self.measure.message.val(),
            run: Run { segment, packets },
            bytes: bytes_of(segment, packets, op.settings.mtu_log2),
            more: self.measure.more.val(),
            only_short: self.measure.only_short.val(),
            has_path: rc | (is_new & op.state.path_policy.keeps_all_paths & port_up),
            is_retransmit: is_retransmit & !rc,
            avoid: selected.last_sent.ev,
        };
        self.bursts.kind.next = burst_kind(
            op,
            selected,
            self.measure.window_space.val(),
            self.measure.ack_req_all.val(),
            spray.entropy,
        );
        self.bursts.spray.busy.next = self.spray.busy.val();
        self.bursts.window.busy.next = self.window.busy.val();
        join!(
            self,
            op => bursts.op,
            bursts.count => count,
            bursts.payload => payload,
            bursts.is_stopped => is_stopped,
            bursts.may_follow => may_follow,
            bursts.background => background,
            bursts.unreadable => unreadable,
            path => bursts.path,
            bursts.paths_pending => paths_pending,
            bursts.paths_follow => paths_follow,
            taken => bursts.taken,
            bursts.sent_packet => sent_packet,
            bursts.xlate_req => xlate_req,
            xlate_rsp => bursts.xlate_rsp,
            bursts.dropped => dropped,
            bursts.tx => tx,
            bursts.sent => sent,
        );
        let begins = self.bursts.begins.val();
        let any = self.bursts.any.val();
        self.begins.next = begins;

        // Nothing is sent: the message is not there or cannot be read, the windows do not admit the first packet, or there is no path. Then messages may complete.
        let is_found = arrives & fetched.found & !(is_retransmit & fetched.message.fault);
        let gives_up = match step {
            BurstStep::LookupMessage => !is_found & !self.messages.busy.val(),
            BurstStep::Admit => !collects & !admitted,
            BurstStep::SendNothing => true,
            _ => false,
        };

        // Requests: those of the burst, and what becomes of the packet that was sent again. Whose request it is does not depend on whether there is one, which comes late.
        let sends = step == BurstStep::Send;
        let is_of_burst = (step == BurstStep::Collect) | ((step == BurstStep::Admit) & collects);
        assert!(
            is_of_burst | !self.bursts.messages.valid.val(),
            "a burst takes messages before it is collected"
        );
        self.spray.start.next = self.bursts.spray.start.val();
        self.spray.request.next = self.bursts.spray.request.val();
        self.window.start.next = if sends {
            self.bursts.tx.valid.val() & is_retransmit & !rc
        } else {
            self.bursts.window.start.val()
        };
        self.window.request.next = if sends {
            resent_request(op, selected.psn, self.bursts.sent.val())
        } else {
            self.bursts.window.request.val()
        };
        self.messages.start.next = gives_up | self.bursts.messages.valid.val();
        self.messages.request.next = if is_of_burst {
            self.bursts.messages.record.val()
        } else {
            completion_request(op, selected.una)
        };

        // Result. The state depends on the step alone: only an operation that is done has a result, and whether it is done comes late.
        let armed_state = armed_until(state, op.now + self.measure.timeout.val());
        let begun_state = RequesterState {
            unasked: self.bursts.unasked.val(),
            ..armed_state
        };
        let timed_state = if any { armed_state } else { state };
        let sent = SentBurst {
            is_retransmit,
            next_psn: self.bursts.next_psn.val(),
            pkts_since_ack_req: self.bursts.pkts_since_ack_req.val(),
            asks: self.bursts.asks.val(),
            asking_psn: self.bursts.asking_psn.val(),
            path: spray.index,
        };
        let sent_state = after_sending(op, timed_state, sent);
        let state_after = if is_of_burst {
            begun_state
        } else if sends {
            sent_state
        } else {
            state
        };
        self.result.next = burst_result(state_after, selected.una);
        self.in_progress.next = step != BurstStep::Idle;
        self.starved.next = (step == BurstStep::Admit) & gives_up & selected.starves;
        let ends = sends & self.bursts.ends.val();
        self.done.next = gives_up | ends | (begins & is_new);
        self.needs_admin.next = gives_up;

        // The step ends.
        let endings = Endings {
            starts: self.start.val(),
            sends_nothing: self.sends_nothing.val(),
            is_found,
            cwnd_known: self.cwnd_known.val(),
            collects,
            gives_up,
            no_path: self.bursts.no_path.val(),
            ends,
        };
        self.step.d.next = next_step(step, endings);
        if ends {
            let nops = self.nops.q.val();
            self.needs_admin.next = !any | nops;
            self.result.next.packet_sent = any;
            self.result.next.next_action = action_after(any, nops);
        }
        // The burst begins: with `Admit`, if nothing has to be waited for.
        if begins {
            self.nops.d.next = self.bursts.nops.val();
            self.step.d.next = if is_new {
                BurstStep::Idle
            } else {
                BurstStep::Send
            };
        }
        if begins & is_new {
            let nops = self.bursts.nops.val();
            self.needs_admin.next = nops;
            self.result.next.packet_sent = true;
            self.result.next.next_action = action_after(true, nops);
        }
        if self.reset.val() {
            self.step.d.next = BurstStep::Idle;
            self.collects.d.next = false;
        }
    }
}
