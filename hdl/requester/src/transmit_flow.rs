//! Transmits for a queue pair. MRC: a probe, the lowest lost packet, or new packets. RC: a probe, the packets to retransmit after go-back-N, or new ones (reference:
//! `MrcRequester::transmit_each`, `RcRequester::transmit_each`).

use hdl_macros::{clock, clock_reset, hdl, join};
use hdl_primitives::{FlowSnk, FlowSrc, OfferSrc, Src};
use rust_hdl::prelude::*;
use stellar_wire::hw::congestion::{NsccRequest, NsccResponse};
use stellar_wire::hw::fence::EpochEnd;
use stellar_wire::hw::messages::{MessageRequest, MessageResponse};
use stellar_wire::hw::requester::{TranslateRequest, TranslateResponse, TxRequest};
use stellar_wire::hw::spray::{SprayRequest, SprayResponse};
use stellar_wire::hw::tenant::COST_BITS;
use stellar_wire::hw::window::{SentPacket, WindowRequest, WindowResponse};
use stellar_wire::hw::QPN_BITS;
use stellar_wire::mtu::LENGTH_BITS;
use stellar_wire::rows::PACKET_OVERHEAD;

use crate::bundles::{BackgroundBurstSrc, UnitSrc};
use crate::burst_flow::BurstFlow;
use crate::burst_send::UnreadableMessage;
use crate::cwnd_query::CwndQuery;
use crate::records::{Op, OpResult, StatPulses};
use crate::transmit_select::TransmitSelect;

/// log2 of the bytes that a packet counts beside its payload.
const OVERHEAD_BITS: usize = PACKET_OVERHEAD.ilog2() as usize;

/// Transmits a probe, a lost packet or a burst of new packets of `op.qp` on `op.port`, which has space for a burst. For an RC queue pair it transmits a
/// burst, new or retransmitted. `TransmitSelect` selects what is sent, and sends a probe itself; `BurstFlow` sends everything else. Their steps exclude each other.
///
/// A burst of new MRC packets is sent in the background: the window allocates all of its packets, and the flow is done. Until the burst has been sent, no
/// operation starts that reads the records of its packets. Meanwhile the next burst of the other port may be prepared. If it is of the same queue pair, all
/// payloads of the current one have been located before: one that cannot be read stops the queue pair.
///
/// Congestion control is queried as soon as it is free (`CwndQuery`); the response is needed when the burst is measured.
#[derive(LogicBlock, Default)]
pub struct TransmitFlow {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // Sequencer.
    pub start: Signal<In, Bit>,
    pub op: Signal<In, Op>,
    /// High for one cycle: the flow is done, with this result.
    pub done: Signal<Out, Bit>,
    /// High with `done` if messages complete or fail: the result has a next action. It does not pass the choice of the result.
    pub needs_admin: Signal<Out, Bit>,
    pub result: Signal<Out, OpResult>,
    pub stats: Signal<Out, StatPulses>,
    /// Bytes on the wire of what was sent. Valid in the cycle after `done`, if a packet was sent.
    pub cost: Signal<Out, Bits<COST_BITS>>,
    /// Bit p: port p can send.
    pub plane_up: Signal<In, Bits<2>>,

    /// The burst that is sent in the background: see `Bursts`.
    pub background: BackgroundBurstSrc,
    pub unreadable: Src<UnreadableMessage>,
    /// High for one cycle: the queue pair has a new packet to send, and finds no block for its window.
    pub starved: Signal<Out, Bit>,

    // Functional units.
    pub spray: UnitSrc<SprayRequest, SprayResponse>,
    /// Responses as they arrive: a burst has many.
    pub path: FlowSnk<SprayResponse>,
    pub nscc: UnitSrc<NsccRequest, NsccResponse>,
    /// The request in progress, or the last one, was about this queue pair: `nscc` is or will be its window.
    pub cwnd_cached: Signal<In, Bit>,
    pub window: UnitSrc<WindowRequest, WindowResponse>,
    pub messages: UnitSrc<MessageRequest, MessageResponse>,
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

    select: TransmitSelect,
    query: CwndQuery,
    burst: BurstFlow,
    /// Payload bytes and packets of what was sent last.
    sent_payload: DFF<Bits<COST_BITS>>,
    sent_packets: DFF<Bits<6>>,
}

impl Logic for TransmitFlow {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, sent_payload, sent_packets);
        clock_reset!(self, select, burst);
        clock!(self, clock, query);

        // select
        join!(
            self,
            start => select.start,
            op => select.op,
            plane_up => select.plane_up,
            completing => select.completing,
            spray_asked => select.spray_asked,
            spray.response => select.spray.response,
            window.response => select.window.response,
            messages.response => select.messages.response,
            burst.background.active => select.burst_active,
            burst.is_stopped => select.is_stopped,
            burst.may_follow => select.may_follow,
            burst.done => select.burst_done,
        );

        // query congestion control
        self.query.change.next = self.spray.response.val().window;
        join!(
            self,
            start => query.start,
            op => query.op,
            cwnd_cached => query.cached,
            select.in_progress => query.in_progress,
            select.changes_cwnd => query.changes,
            query.known => select.cwnd_known,
            query.nscc.start => nscc.start,
            query.nscc.request => nscc.request,
            nscc.busy => query.nscc.busy,
        );

        // send a burst
        self.burst.cwnd.next = self.nscc.response.val().cwnd;
        join!(
            self,
            op => burst.op,
            plane_up => burst.plane_up,
            select.launches => burst.start,
            select.sends_nothing => burst.sends_nothing,
            select.selected => burst.selected,
            select.space => burst.space,
            query.known => burst.cwnd_known,
            burst.starved => starved,
            burst.background => background,
            burst.unreadable => unreadable,
            spray.response => burst.spray.response,
            spray_frees => burst.spray_frees,
            path => burst.path,
            burst.paths_pending => paths_pending,
            burst.paths_follow => paths_follow,
            messages.response => burst.messages.response,
            taken => burst.taken,
            burst.sent_packet => sent_packet,
            burst.xlate_req => xlate_req,
            xlate_rsp => burst.xlate_rsp,
            burst.dropped => dropped,
        );

        // Functional units. Whose request it is does not depend on whether there is one, which comes late.
        let in_burst = self.burst.in_progress.val();
        self.spray.start.next = self.select.spray.start.val() | self.burst.spray.start.val();
        self.spray.request.next = if in_burst {
            self.burst.spray.request.val()
        } else {
            self.select.spray.request.val()
        };
        self.window.start.next = self.select.window.start.val() | self.burst.window.start.val();
        self.window.request.next = if in_burst {
            self.burst.window.request.val()
        } else {
            self.select.window.request.val()
        };
        self.messages.start.next =
            self.select.messages.start.val() | self.burst.messages.start.val();
        self.messages.request.next = if in_burst {
            self.burst.messages.request.val()
        } else {
            self.select.messages.request.val()
        };
        let spray_busy = self.spray.busy.val();
        let window_busy = self.window.busy.val();
        let messages_busy = self.messages.busy.val();
        self.select.spray.busy.next = spray_busy;
        self.burst.spray.busy.next = spray_busy;
        self.select.window.busy.next = window_busy;
        self.burst.window.busy.next = window_busy;
        self.select.messages.busy.next = messages_busy;
        self.burst.messages.busy.next = messages_busy;

        // packets
        let probes = self.select.probe.valid.val();
        let leaves = self.burst.tx.valid.val();
        let packet = self.burst.tx.record.val();
        self.tx.valid.next = leaves | probes;
        self.tx.record.next = if self.select.may_probe.val() {
            self.select.probe.record.val()
        } else {
            packet
        };

        // result
        self.done.next = self.select.done.val() | self.burst.done.val();
        self.needs_admin.next = self.select.needs_admin.val() | self.burst.needs_admin.val();
        self.result.next = if in_burst {
            self.burst.result.val()
        } else {
            self.select.result.val()
        };
        if probes {
            self.sent_payload.d.next = bits::<COST_BITS>(0);
            self.sent_packets.d.next = bits::<6>(1);
        } else if self.burst.begins.val() {
            self.sent_payload.d.next = self.burst.payload.val().get_bits::<COST_BITS>(0);
            self.sent_packets.d.next = self.burst.count.val();
        }
        self.cost.next = self.sent_payload.q.val()
            + (bit_cast::<COST_BITS, 6>(self.sent_packets.q.val()) << OVERHEAD_BITS as u64);

        // count
        let in_background = self.burst.background.active.val();
        self.stats.next = StatPulses::default();
        self.stats.next.probe = probes;
        self.stats.next.packet = leaves;
        self.stats.next.retransmission =
            leaves & self.select.selected.val().is_retransmit & !in_background;
        self.stats.next.sent_qp = if leaves {
            packet.qp
        } else {
            bits::<QPN_BITS>(0)
        };
        self.stats.next.bytes = if leaves {
            packet.length
        } else {
            bits::<LENGTH_BITS>(0)
        };
        self.stats.next.on_path = leaves & (in_background | !self.op.val().settings.rc);
        self.stats.next.sent_index = if leaves {
            self.burst.sent.val().ev
        } else {
            bits::<8>(0)
        };
    }
}
