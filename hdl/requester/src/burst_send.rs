//! Sends the packets of a burst back to back (reference: the end of `MrcRequester::transmit_each`).

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{FlowSnk, FlowSrc, OfferSrc, Src, SyncFifo};
use rust_hdl::prelude::*;
use stellar_wire::hw::fence::EpochEnd;
use stellar_wire::hw::messages::Message;
use stellar_wire::hw::requester::{TranslateRequest, TranslateResponse, TxRequest};
use stellar_wire::hw::spray::SprayResponse;
use stellar_wire::hw::tx::{TxMeth, TxReth};
use stellar_wire::hw::window::SentPacket;
use stellar_wire::hw::wqe::{lkey, local_va};
use stellar_wire::hw::{Psn, Qpn, SqIndex};

use crate::packet_queue::{PacketQueue, Run};
use crate::records::Op;
use crate::segment::{payload_length, write_opcode};

/// log2 of the depth of the FIFO for paths: those of a burst, and of the next one.
const PATHS_BITS: usize = 6;
/// log2 of the depth of the FIFO for locations: a burst has at most 32 packets.
const LOCATIONS_BITS: usize = 5;
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

/// The local buffer of a message.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Buffer {
    /// The payload is read from memory: it is neither inline nor empty.
    in_memory: Bit,
    lkey: Bits<32>,
    va: Bits<64>,
    length: Bits<32>,
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
    buffers: PacketQueue<Buffer>,
    paths: SyncFifo<SprayResponse, PATHS_BITS, { PATHS_BITS + 1 }>,
    locations: SyncFifo<TranslateResponse, LOCATIONS_BITS, { LOCATIONS_BITS + 1 }>,
    faults: SyncFifo<UnreadableMessage, FAULTS_BITS, { FAULTS_BITS + 1 }>,
    sender: DFF<Sender>,
    burst_held: DFF<Burst>,
    to_leave: DFF<Bits<6>>,
    to_locate: DFF<Bits<6>>,
    /// Number of responses outstanding.
    paths_due: DFF<Bits<7>>,
    /// It is not 0. A register of its own, because what waits for the spray engine is at the end of long paths.
    paths_awaited: DFF<Bit>,
    locations_due: DFF<Bits<6>>,
    fault_located: DFF<Bit>,
    /// A payload could not be read, so no more packets leave.
    ended: DFF<Bit>,
    any_left: DFF<Bit>,
    psn_after: DFF<Psn>,
    since_ack_req: DFF<Bits<16>>,
    asked: DFF<Bit>,
    asked_psn: DFF<Psn>,
}

impl Logic for BurstSend {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            sender,
            burst_held,
            to_leave,
            to_locate,
            paths_due,
            locations_due
        );
        dff_setup!(
            self,
            clock,
            fault_located,
            ended,
            paths_awaited,
            any_left,
            psn_after,
            since_ack_req,
            asked,
            asked_psn
        );
        clock_reset!(self, messages, buffers, paths, locations, faults);
        let op = self.op.val();
        let burst = self.burst_held.q.val();
        let sender = self.sender.q.val();
        let mtu_log2 = sender.mtu_log2;
        let rc = sender.rc;

        // collect: messages
        let added = self.add.record.val();
        join!(
            self,
            add_run => messages.in_run,
            add_run => buffers.in_run,
        );
        let added_in_memory = !added.inline & added.length.any();
        self.messages.in_.valid.next = self.add.valid.val();
        self.messages.in_.record.next = AddedMessage {
            message: added,
            in_memory: added_in_memory,
        };
        self.buffers.in_.valid.next = self.add.valid.val();
        self.buffers.in_.record.next = Buffer {
            in_memory: added_in_memory,
            lkey: lkey(added.source),
            va: local_va(added.source),
            length: added.length,
        };
        self.messages.mtu_log2.next = mtu_log2;
        self.buffers.mtu_log2.next = mtu_log2;

        // translate: request the location of every payload
        let buffer = self.buffers.message.val();
        let locating = self.buffers.run.val();
        let to_locate = self.to_locate.q.val();
        let locates = to_locate.any() & buffer.in_memory;
        let passes = to_locate.any() & !buffer.in_memory;
        let requested = locates & self.xlate_req.ready.val();
        self.xlate_req.valid.next = locates;
        self.xlate_req.record.next = TranslateRequest {
            qp: sender.qp,
            pd: sender.pd,
            lkey: buffer.lkey,
            va: buffer.va,
            message_length: buffer.length,
            offset: locating.segment.offset,
            length: payload_length(locating.segment, mtu_log2),
        };
        self.buffers.take.next = requested;
        self.buffers.take_all.next = passes;
        if requested {
            self.to_locate.d.next = to_locate - 1;
        } else if passes {
            self.to_locate.d.next = to_locate - locating.packets;
        }

        // collect: paths and locations
        let new_path = self.path.record.val();
        let paths_due = self.paths_due.q.val();
        let path_arrives = self.path.valid.val() & self.paths_awaited.q.val();
        let expected = paths_due + bit_cast::<7, 6>(self.expects.val());
        self.paths.in_.valid.next = path_arrives & new_path.found;
        self.paths.in_.data.next = new_path;
        self.paths_due.d.next = if path_arrives & !new_path.found {
            bits::<7>(0)
        } else if path_arrives {
            expected - 1
        } else {
            expected
        };
        let more_paths = self.expects.val().any();
        self.paths_awaited.d.next = if path_arrives & !new_path.found {
            false
        } else if path_arrives {
            (paths_due != 1) | more_paths
        } else {
            paths_due.any() | more_paths
        };
        let new_location = self.xlate_rsp.record.val();
        let location_arrives = self.xlate_rsp.valid.val();
        self.locations.in_.valid.next = location_arrives;
        self.locations.in_.data.next = new_location;
        self.locations_due.d.next = if requested & !location_arrives {
            self.locations_due.q.val() + 1
        } else if !requested & location_arrives {
            self.locations_due.q.val() - 1
        } else {
            self.locations_due.q.val()
        };
        if location_arrives & new_location.fault {
            self.fault_located.d.next = true;
        }

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
        let pkts_since_ack_req = self.since_ack_req.q.val() + 1;
        let asks_between = if rc {
            pkts_since_ack_req >= sender.ack_every
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
        let faulty = self.fault_located.q.val();
        assert!(
            faulty | !moves | leaves,
            "a packet does not leave, but every payload can be read"
        );
        let psn_behind = leaving.psn + 1;
        let since_leaving = if ack_req {
            bits::<16>(0)
        } else {
            pkts_since_ack_req
        };
        if leaves {
            self.any_left.d.next = true;
            self.psn_after.d.next = psn_behind;
            self.since_ack_req.d.next = since_leaving;
        }
        // The PSN does not wait for whether the packet leaves.
        let asked = self.asked.q.val();
        let asks = asked | (leaves & ack_req);
        let asking_psn = if asked {
            self.asked_psn.q.val()
        } else {
            leaving.psn
        };
        self.asked.d.next = asks;
        self.asked_psn.d.next = asking_psn;
        self.asks.next = asks;
        self.asking_psn.next = asking_psn;
        self.done.next = moves & is_last;
        self.left.next = to_leave;
        self.located.next = !to_locate.any() & !self.locations_due.q.val().any();
        self.faulty.next = faulty;
        self.any.next = !faulty | self.any_left.q.val();
        self.next_psn.next = if faulty {
            self.psn_after.q.val()
        } else {
            psn_behind
        };
        self.pkts_since_ack_req.next = if faulty {
            self.since_ack_req.q.val()
        } else {
            since_leaving
        };
        self.paths_pending.next = self.paths_awaited.q.val();
        let is_last_path = path_arrives & (!new_path.found | (paths_due == 1));
        self.paths_follow.next = self.paths_awaited.q.val() & !is_last_path;

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
            self.to_locate.d.next = self.locate_count.val();
            self.psn_after.d.next = op.state.rc.to_send;
            self.since_ack_req.d.next = op.state.rc.pkts_since_ack_req;
            self.fault_located.d.next = false;
            self.ended.d.next = false;
            self.any_left.d.next = false;
            self.asked.d.next = false;
        }
        if self.start.val() {
            self.burst_held.d.next = self.burst.val();
            self.to_leave.d.next = self.burst.val().count;
        }
        if self.reset.val() {
            self.to_leave.d.next = bits::<6>(0);
            self.to_locate.d.next = bits::<6>(0);
            self.paths_due.d.next = bits::<7>(0);
            self.paths_awaited.d.next = false;
            self.locations_due.d.next = bits::<6>(0);
        }
    }
}
