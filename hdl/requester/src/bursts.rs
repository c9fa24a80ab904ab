//! Bursts: one is sent while the next one is collected.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{FlowSnk, FlowSrc, OfferSrc, Src};
use rust_hdl::prelude::*;
use stellar_wire::hw::fence::EpochEnd;
use stellar_wire::hw::messages::{MessageRequest, MessageResponse};
use stellar_wire::hw::requester::{TranslateRequest, TranslateResponse, TxRequest};
use stellar_wire::hw::spray::{SprayRequest, SprayResponse};
use stellar_wire::hw::window::{SentPacket, WindowRequest};
use stellar_wire::hw::{Psn, Qpn};
use stellar_wire::rows::ASK_AFTER;

use crate::bundles::{BackgroundBurstSrc, CallSrc};
use crate::burst_collect::{BurstCollect, BurstHead};
use crate::burst_kind::BurstKind;
use crate::burst_send::{Burst, BurstSend, UnreadableMessage};
use crate::records::Op;

/// The next burst is prepared when this many packets of the current one remain. Preparation takes about as long as sending them.
const NEAR_END: u64 = 16;
/// A burst with more messages than this takes longer to collect than to send, so the next one is prepared at once.
const FEW_MESSAGES: u64 = 4;

/// Collects and sends bursts. A burst of new packets over MRC is sent in the background: the transmit window has all of its packets when it begins. Other bursts
/// are waited for.
#[derive(LogicBlock, Default)]
pub struct Bursts {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    /// Starts to collect a burst. Over MRC the spray engine has to be free in this cycle.
    pub start: Signal<In, Bit>,
    /// Valid with `start`.
    pub head: Signal<In, BurstHead>,
    /// Both are stable from `start` until the burst begins.
    pub kind: Signal<In, BurstKind>,
    pub op: Signal<In, Op>,
    // High for one cycle: there is no path; the burst begins; the last packet of a burst that is waited for is sent, or was sent a cycle before if a payload cannot be read.
    pub no_path: Signal<Out, Bit>,
    pub begins: Signal<Out, Bit>,
    pub ends: Signal<Out, Bit>,
    /// Valid with `begins`: packets and payload bytes.
    pub count: Signal<Out, Bits<6>>,
    pub payload: Signal<Out, Bits<24>>,
    /// Valid with `begins`: NOPs have started, which may be complete.
    pub nops: Signal<Out, Bit>,
    /// MRC, valid with `begins`: number of newest packets of which none requests a SACK.
    pub unasked: Signal<Out, Bits<4>>,
    // Of the burst, valid with `ends`.
    /// A packet was sent.
    pub any: Signal<Out, Bit>,
    /// RC: PSN after the last packet that was sent, and number of packets since the last one that requested an acknowledgement.
    pub next_psn: Signal<Out, Psn>,
    pub pkts_since_ack_req: Signal<Out, Bits<16>>,
    /// A packet that was sent requests an acknowledgement; the PSN of the first one.
    pub asks: Signal<Out, Bit>,
    pub asking_psn: Signal<Out, Psn>,

    pub background: BackgroundBurstSrc,
    // As they were a cycle before, because much follows from them in this one.
    /// A message of `op.qp` cannot be read, so it sends nothing; all payloads of its burst in the background have been located.
    pub is_stopped: Signal<Out, Bit>,
    pub may_follow: Signal<Out, Bit>,
    /// Messages whose payload cannot be read.
    pub unreadable: Src<UnreadableMessage>,

    // Functional units. Responses come as they arrive: a burst has many.
    pub spray: CallSrc<SprayRequest>,
    pub path: FlowSnk<SprayResponse>,
    pub window: CallSrc<WindowRequest>,
    /// A request to the message table, which is free then.
    pub messages: FlowSrc<MessageRequest>,
    pub taken: FlowSnk<MessageResponse>,
    /// The spray engine still has to return paths; if none are requested in this cycle, it has to in the next one.
    pub paths_pending: Signal<Out, Bit>,
    pub paths_follow: Signal<Out, Bit>,
    /// Records of the packets of a burst in the background, for the window.
    pub sent_packet: FlowSrc<SentPacket>,
    /// Record of the packet that is sent.
    pub sent: Signal<Out, SentPacket>,

    // Local translation. A request is accepted when valid and ready are high. Responses come in the order of the requests.
    pub xlate_req: OfferSrc<TranslateRequest>,
    pub xlate_rsp: FlowSnk<TranslateResponse>,
    /// The location of a payload is dropped: its packet is not sent.
    pub dropped: Signal<Out, EpochEnd>,

    /// High for one cycle per packet sent.
    pub tx: FlowSrc<TxRequest>,

    collect: BurstCollect,
    send: BurstSend,
    /// A burst in the background starts to be sent.
    starts: DFF<Bit>,
    burst: DFF<Burst>,
    active_held: DFF<Bit>,
    qp_held: DFF<Qpn>,
    port_held: DFF<Bit>,
    first_psn_held: DFF<Psn>,
    done_faulty: DFF<Bit>,
    stopped_held: DFF<Bit>,
    may_follow_held: DFF<Bit>,
    near_end: DFF<Bit>,
    /// Messages that were added to the burst, at most one more than [`FEW_MESSAGES`].
    messages_added: DFF<Bits<3>>,
}

impl Logic for Bursts {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            starts,
            burst,
            active_held,
            qp_held,
            port_held,
            first_psn_held
        );
        dff_setup!(self, clock, near_end, messages_added);
        dff_setup!(self, clock, done_faulty, stopped_held, may_follow_held);
        clock_reset!(self, collect, send);
        let op = self.op.val();
        let kind = self.kind.val();
        let active = self.active_held.q.val();
        let begins = self.collect.begins.val();
        let count = self.collect.count.val();

        // collect
        self.collect.previous_active.next = active;
        join!(
            self,
            start => collect.start,
            head => collect.head,
            op => collect.op,
            collect.spray => spray,
            path => collect.path,
            collect.window => window,
            collect.messages => messages,
            taken => collect.taken,
            collect.no_path => no_path,
            collect.nops => nops,
            collect.count => count,
            collect.payload => payload,
            collect.add => send.add,
            collect.add_run => send.add_run,
            collect.expects => send.expects,
        );
        self.begins.next = begins;
        let unasked = self.collect.unasked.val();
        let asks_by_count = unasked >= (ASK_AFTER as u64);
        let last_asks = kind.ack_req_all | self.collect.ends_message.val() | asks_by_count;
        self.unasked.next = if last_asks {
            bits::<4>(0)
        } else {
            unasked.get_bits::<4>(0)
        };
        let added = self.messages_added.q.val();
        self.messages_added.d.next = if self.start.val() {
            bits::<3>(0)
        } else if self.collect.add.valid.val() & (added <= FEW_MESSAGES) {
            added + 1
        } else {
            added
        };

        // send. The window needs a cycle before the first record comes.
        let burst = Burst {
            count,
            ack_req_all: kind.ack_req_all,
            ack_req_last: if op.settings.rc {
                kind.fills_window & (count == kind.window_space)
            } else {
                asks_by_count
            },
            is_retransmit: !kind.is_new & !op.settings.rc,
            retries: kind.retries,
        };
        self.starts.d.next = begins & kind.is_new;
        self.burst.d.next = burst;
        let starts = self.starts.q.val();
        self.send.locate.next = begins;
        self.send.rc_entropy.next = kind.rc_entropy;
        self.send.start.next = starts | (begins & !kind.is_new);
        self.send.burst.next = if starts { self.burst.q.val() } else { burst };
        join!(
            self,
            op => send.op,
            collect.count => send.locate_count,
            path => send.path,
            send.xlate_req => xlate_req,
            xlate_rsp => send.xlate_rsp,
            send.dropped => dropped,
            send.unreadable => unreadable,
            send.tx => tx,
            send.paths_pending => paths_pending,
            send.paths_follow => paths_follow,
            send.any => any,
            send.next_psn => next_psn,
            send.pkts_since_ack_req => pkts_since_ack_req,
            send.asks => asks,
            send.asking_psn => asking_psn,
        );
        let done = self.send.done.val() & !active;
        let faulty = self.send.faulty.val();
        self.done_faulty.d.next = done & faulty;
        self.ends.next = (done & !faulty) | self.done_faulty.q.val();
        self.sent.next = self.send.sent.record.val();
        self.sent_packet.valid.next = self.send.sent.valid.val() & active;
        self.sent_packet.record.next = self.send.sent.record.val();

        // the burst in the background
        if begins & kind.is_new {
            self.active_held.d.next = true;
            self.qp_held.d.next = op.qp;
            self.port_held.d.next = op.port;
            self.first_psn_held.d.next = self.collect.first_psn.val();
        } else if self.send.done.val() {
            self.active_held.d.next = false;
        }
        let few_left = self.send.left.val() <= NEAR_END;
        self.near_end.d.next = active & !starts & (few_left | (added > FEW_MESSAGES));
        self.background.active.next = active;
        self.background.ends_soon.next = self.near_end.q.val();
        self.background.qp.next = self.qp_held.q.val();
        self.background.port.next = self.port_held.q.val();
        self.background.first_psn.next = self.first_psn_held.q.val();

        // A message that cannot be read stops its queue pair. Both registers load at once: when all payloads have been located, it is known whether one cannot be read.
        let follows_own = active & (self.qp_held.q.val() == op.qp);
        let unreadable = self.send.unreadable.record.val();
        self.stopped_held.d.next = (self.send.unreadable.valid.val() & (unreadable.qp == op.qp))
            | (follows_own & self.send.faulty.val());
        self.may_follow_held.d.next = !follows_own | self.send.located.val();
        self.is_stopped.next = self.stopped_held.q.val();
        self.may_follow.next = self.may_follow_held.q.val();

        if self.reset.val() {
            self.active_held.d.next = false;
            self.starts.d.next = false;
            self.done_faulty.d.next = false;
        }
    }
}
