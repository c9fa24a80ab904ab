//! Sends the packets of a burst back to back (reference: the end of `MrcRequester::transmit_each`).

use hdl_macros::{clock, clock_reset, hdl, join};
use hdl_primitives::{FlowSnk, FlowSrc, OfferSrc, Src, SyncFifo};
use rust_hdl::prelude::*;
use stellar_wire::hw::fence::EpochEnd;
use stellar_wire::hw::messages::Message;
use stellar_wire::hw::requester::{TranslateRequest, TranslateResponse, TxRequest};
use stellar_wire::hw::spray::SprayResponse;
use stellar_wire::hw::tx::{TxMeth, TxReth};
use stellar_wire::hw::window::SentPacket;
use stellar_wire::hw::{Psn, Qpn, SqIndex};

use crate::burst_locate::{is_in_memory, BurstLocate};
use crate::burst_paths::BurstPaths;
use crate::burst_sums::BurstSums;
use crate::packet_queue::{PacketQueue, Run};
use crate::records::Op;
use crate::segment::{payload_length, write_opcode};

/// log2 of the depth of the FIFO for messages that could not be read. No burst is collected while one waits, so there are at most two.
const FAULTS_BITS: usize = 1;

/// What every packet of the burst has in common.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Sender {
    qp: Qpn,
    port: Bit,
    now: Bits<32>,
    rc: Bit,
    mtu_log2: Bits<4>,
    pd: Bits<20>,
    rc_entropy: Bits<32>,
    ack_every: Bits<16>,
}

/// The packets to send, apart from their messages.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Burst {
    /// Number of packets, 1 to 32.
    pub count: Bits<6>,
    /// MRC: every packet requests a SACK.
    pub ack_req_all: Bit,
    /// The last packet requests an acknowledgement, even if it does not end its message.
    pub ack_req_last: Bit,
    /// MRC: the packet is a retransmission, after `retries` retries.
    pub is_retransmit: Bit,
    pub retries: Bits<8>,
}

/// A message of the burst. Where its payload comes from is known when it is added, because its packets leave late in a cycle.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct AddedMessage {
    pub message: Message,
    /// The payload is read from memory: it is neither inline nor empty.
    pub in_memory: Bit,
}

/// A message whose payload cannot be read.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct UnreadableMessage {
    pub qp: Qpn,
    /// Send queue index.
    pub slot: SqIndex,
}

/// Requests the translation of every payload, collects the paths, and sends each packet as soon as it has both: one packet per cycle in steady state.
///
/// If a payload cannot be read, its packet and those behind it are not sent. Over MRC they keep their PSNs: their records are written all the same.
#[derive(LogicBlock, Default)]
pub struct BurstSend {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    /// Messages of the next burst. They come before its `start`.
    pub add: FlowSnk<Message>,
    pub add_run: Signal<In, Run>,
    /// Number of its paths that are requested in this cycle.
    pub expects: Signal<In, Bits<6>>,

    /// The payloads of the next burst may be located: this number of packets, on behalf of `op`. The burst starts in this cycle or the next one.
    pub locate: Signal<In, Bit>,
    pub locate_count: Signal<In, Bits<6>>,
    /// RC: entropy value of the path.
    pub rc_entropy: Signal<In, Bits<32>>,
    pub start: Signal<In, Bit>,
    /// Both are valid with `start`.
    pub burst: Signal<In, Burst>,
    pub op: Signal<In, Op>,
    /// High for one cycle: the last packet is sent.
    pub done: Signal<Out, Bit>,
    /// Number of packets that are not sent yet.
    pub left: Signal<Out, Bits<6>>,
    /// All payloads of the burst have been located.
    pub located: Signal<Out, Bit>,
    /// A payload of the burst cannot be read. Valid with `located`, until the next `start`.
    pub faulty: Signal<Out, Bit>,
    // Of the whole burst: valid with `done`, or with `faulty` a cycle later.
    /// A packet was sent.
    pub any: Signal<Out, Bit>,
    /// RC: PSN after the last packet that was sent, and number of packets since the last one that requested an acknowledgement.
    pub next_psn: Signal<Out, Psn>,
    pub pkts_since_ack_req: Signal<Out, Bits<16>>,
    /// A packet that was sent requests an acknowledgement; the PSN of the first one.
    pub asks: Signal<Out, Bit>,
    pub asking_psn: Signal<Out, Psn>,
    /// Messages whose payload cannot be read.
    pub unreadable: Src<UnreadableMessage>,
    /// The spray engine still has to return paths; if none are requested in this cycle, it has to in the next one.
    pub paths_pending: Signal<Out, Bit>,
    pub paths_follow: Signal<Out, Bit>,

    // Responses of the spray engine.
    pub path: FlowSnk<SprayResponse>,
    // Local translation. A request is accepted when valid and ready are high. Responses come in the order of the requests.
    pub xlate_req: OfferSrc<TranslateRequest>,
    pub xlate_rsp: FlowSnk<TranslateResponse>,
    /// The location of a payload is dropped: its packet is not sent.
    pub dropped: Signal<Out, EpochEnd>,

    /// High for one cycle per packet sent.
    pub tx: FlowSrc<TxRequest>,
    /// High for one cycle per packet, whether it is sent or not: its record for the transmit window.
    pub sent: FlowSrc<SentPacket>,

    messages: PacketQueue<AddedMessage>,
    paths: BurstPaths,
    locations: BurstLocate,
    sums: BurstSums,
    faults: SyncFifo<UnreadableMessage, FAULTS_BITS, { FAULTS_BITS + 1 }>,
    sender: DFF<Sender>,
    burst_held: DFF<Burst>,
    to_leave: DFF<Bits<6>>,
    /// A payload could not be read, so no more packets leave.
    ended: DFF<Bit>,
}

impl Logic for BurstSend {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, sender, burst_held, to_leave, ended);
        clock_reset!(self, messages, paths, locations, faults);
        clock!(self, clock, sums);
        let op = self.op.val();
        let burst = self.burst_held.q.val();
        let sender = self.sender.q.val();
        let mtu_log2 = sender.mtu_log2;
        let rc = sender.rc;

        // collect
        let added = self.add.record.val();
        self.messages.in_.valid.next = self.add.valid.val();
        self.messages.in_.record.next = AddedMessage {
            message: added,
            in_memory: is_in_memory(added),
        };
        self.messages.mtu_log2.next = mtu_log2;
        self.locations.qp.next = sender.qp;
        self.locations.pd.next = sender.pd;
        self.locations.mtu_log2.next = mtu_log2;
        join!(
            self,
            add_run => messages.in_run,
            add => locations.add,
            add_run => locations.add_run,
            locate => locations.start,
            locate_count => locations.count,
            locations.xlate_req => xlate_req,
            xlate_rsp => locations.xlate_rsp,
            locations.located => located,
            expects => paths.expects,
            path => paths.path,
            paths.pending => paths_pending,
            paths.follow => paths_follow,
        );

        // send
        let message = self.messages.message.val().message;
        let in_memory = self.messages.message.val().in_memory;
        let leaving = self.messages.run.val().segment;
        let path = self.paths.out.data.val();
        let location = self.locations.out.data.val();
        let has_location = !in_memory | self.locations.out.valid.val();
        let has_path = rc | self.paths.out.valid.val();
        let to_leave = self.to_leave.q.val();
        let is_last = to_leave == 1;
        let moves = to_leave.any() & has_path & has_location;
        let ends = in_memory & location.fault & !self.ended.q.val();
        let leaves = moves & !ends & !self.ended.q.val();
        let length = payload_length(leaving, mtu_log2);
        let asks_between = if rc {
            self.sums.with_this.val() >= sender.ack_every
        } else {
            burst.ack_req_all
        };
        // The last packet of a message asks, unless others follow that will ask. RC completes no later than message by message.
        let ends_message = leaving.last & (rc | is_last);
        let ack_req = ends_message | (is_last & burst.ack_req_last) | asks_between;
        self.messages.take.next = moves;
        self.messages.take_all.next = false;
        self.paths.out.ready.next = moves & !rc;
        self.locations.out.ready.next = moves & in_memory;
        self.dropped.next = EpochEnd {
            valid: moves & !leaves & in_memory & !location.fault,
            epoch: location.epoch,
        };
        self.faults.in_.valid.next = moves & ends;
        self.faults.in_.data.next = UnreadableMessage {
            qp: sender.qp,
            slot: message.slot,
        };
        assert!(
            !self.faults.in_.valid.val() | self.faults.in_.ready.val(),
            "a fault finds no space"
        );
        join!(self, faults.out => unreadable);
        self.tx.valid.next = leaves;
        self.tx.record.next = TxRequest {
            qp: sender.qp,
            port: sender.port,
            opcode: write_opcode(leaving, message.has_immediate, rc),
            psn: leaving.psn,
            ack_req,
            retransmission: burst.is_retransmit,
            // The transmit window knows it (`RequesterCore`).
            block: bits::<10>(0),
            timestamp: sender.now.get_bits::<16>(0),
            meth: TxMeth {
                rqmsn: message.rqmsn,
                msn: message.msn,
            },
            reth: TxReth {
                va: message.remote_va + bit_cast::<64, 32>(leaving.offset),
                rkey: message.rkey,
                dma_length: message.length,
            },
            immediate: message.immediate,
            probe_id: bits::<16>(0),
            entropy: if rc { sender.rc_entropy } else { path.entropy },
            length,
            segments: location.segments,
            inline: message.inline,
            inline_data: message.source,
            slot: message.slot,
            epoch: location.epoch,
        };
        self.sent.valid.next = moves;
        self.sent.record.next = SentPacket {
            ev: path.index,
            at: sender.now,
            is_retransmit: burst.is_retransmit,
            retries: burst.retries,
            length,
            slot: message.slot,
        };
        if moves {
            self.to_leave.d.next = to_leave - 1;
            self.ended.d.next = self.ended.q.val() | ends;
        }
        // Whether a packet leaves comes late, and even whether one moves. As long as no payload of the burst is known that cannot be read, each packet that moves leaves.
        let faulty = self.locations.faulty.val();
        assert!(
            faulty | !moves | leaves,
            "a packet does not leave, but every payload can be read"
        );
        self.sums.begins.next = self.locate.val();
        self.sums.first_psn.next = op.state.rc.to_send;
        self.sums.since_before.next = op.state.rc.pkts_since_ack_req;
        self.sums.leaves.next = leaves;
        self.sums.psn.next = leaving.psn;
        self.sums.ack_req.next = ack_req;
        self.sums.faulty.next = faulty;
        join!(
            self,
            sums.any => any,
            sums.next_psn => next_psn,
            sums.pkts_since_ack_req => pkts_since_ack_req,
            sums.asks => asks,
            sums.asking_psn => asking_psn,
        );
        self.done.next = moves & is_last;
        self.left.next = to_leave;
        self.faulty.next = faulty;

        if self.locate.val() {
            self.sender.d.next = Sender {
                qp: op.qp,
                port: op.port,
                now: op.now,
                rc: op.settings.rc,
                mtu_log2: op.settings.mtu_log2,
                pd: op.settings.pd,
                rc_entropy: self.rc_entropy.val(),
                ack_every: op.settings.ack_every,
            };
            self.ended.d.next = false;
        }
        if self.start.val() {
            self.burst_held.d.next = self.burst.val();
            self.to_leave.d.next = self.burst.val().count;
        }
        if self.reset.val() {
            self.to_leave.d.next = bits::<6>(0);
        }
    }
}
