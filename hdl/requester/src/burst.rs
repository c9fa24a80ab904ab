//! Sends packets of one message back to back (reference: the end of `MrcRequester::transmit_burst`).

use hdl_macros::hdl;
use hdl_primitives::{FlowSnk, FlowSrc, OfferSrc, SyncFifo};
use rust_hdl::prelude::*;
use stellar_wire::hw::fence::EpochEnd;
use stellar_wire::hw::messages::Message;
use stellar_wire::hw::requester::{TranslateRequest, TranslateResponse, TxRequest};
use stellar_wire::hw::spray::SprayResponse;
use stellar_wire::hw::tx::{TxMeth, TxReth};
use stellar_wire::hw::window::SentPacket;
use stellar_wire::hw::{Qpn, SqIndex};

use crate::records::Op;
use crate::segment::{payload_length, segment_after, write_opcode, Segment};

/// log2 of the depth of the FIFOs for paths and locations: a burst has at most 32 packets.
const FIFO_BITS: usize = 5;

/// What every packet of the burst has in common.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Sender {
    qp: Qpn,
    port: Bit,
    now: Bits<32>,
    rc: Bit,
    mtu_log2: Bits<4>,
    pd: Bits<20>,
    udp_sport: Bits<16>,
    ack_every: Bits<16>,
}

/// The packets to send.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Burst {
    pub message: Message,
    /// Segment of the first packet.
    pub segment: Segment,
    /// Number of packets, 1 to 32.
    pub count: Bits<6>,
    /// The payload is read from memory: it is neither inline nor empty.
    pub in_memory: Bit,
    /// MRC: every packet requests a SACK.
    pub ack_req_all: Bit,
    /// RC: the last packet requests an acknowledgement.
    pub ack_req_last: Bit,
    /// MRC: the packet is a retransmission, after `retries` retries.
    pub is_retransmit: Bit,
    pub retries: Bits<8>,
}

/// Requests the translation of every payload, collects the paths, and sends each packet as soon as it has both: one packet per cycle in steady state.
///
/// Over MRC, the caller requests `count` paths from the spray engine in the cycle of `start`. The burst ends early at the first packet that has no path, or
/// whose payload cannot be read.
#[derive(LogicBlock, Default)]
pub struct BurstSend {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub start: Signal<In, Bit>,
    /// Both are valid with `start`.
    pub burst: Signal<In, Burst>,
    pub op: Signal<In, Op>,
    /// High for one cycle when the burst has ended and no response is outstanding. A burst of new MRC packets that was sent completely ends with its last
    /// packet.
    pub done: Signal<Out, Bit>,
    /// Valid with `done`: a burst of new MRC packets ended early.
    pub ended_early: Signal<Out, Bit>,
    /// A packet was sent; a payload could not be read. Both are valid until the next `start`.
    pub any: Signal<Out, Bit>,
    pub unreadable: Signal<Out, Bit>,
    /// First segment that was not sent, and the number of packets that were not sent. Both are valid until the next `start`.
    pub rest: Signal<Out, Segment>,
    pub left: Signal<Out, Bits<6>>,
    /// Send queue index of the message.
    pub slot: Signal<Out, SqIndex>,
    /// RC: number of packets sent since the last one that requested an acknowledgement.
    pub pkts_since_ack_req: Signal<Out, Bits<16>>,
    /// The spray engine still has to return paths.
    pub paths_pending: Signal<Out, Bit>,

    // Responses of the spray engine.
    pub path: FlowSnk<SprayResponse>,
    // Local translation. A request is accepted when valid and ready are high. Responses come in the order of the requests.
    pub xlate_req: OfferSrc<TranslateRequest>,
    pub xlate_rsp: FlowSnk<TranslateResponse>,
    /// The location of a payload is dropped: its packet is not sent.
    pub dropped: Signal<Out, EpochEnd>,

    /// High for one cycle per packet sent.
    pub tx: FlowSrc<TxRequest>,
    /// Record of the packet for the transmit window.
    pub sent: Signal<Out, SentPacket>,

    paths: SyncFifo<SprayResponse, FIFO_BITS, { FIFO_BITS + 1 }>,
    locations: SyncFifo<TranslateResponse, FIFO_BITS, { FIFO_BITS + 1 }>,
    sender: DFF<Sender>,
    burst_held: DFF<Burst>,
    /// There are packets left to send.
    leaves: DFF<Bit>,
    leaving: DFF<Segment>,
    to_leave: DFF<Bits<6>>,
    /// Next segment to translate.
    locating: DFF<Segment>,
    to_locate: DFF<Bits<6>>,
    /// Number of responses outstanding.
    paths_due: DFF<Bits<6>>,
    locations_due: DFF<Bits<6>>,
    /// The burst has ended, but responses may be outstanding.
    drains: DFF<Bit>,
    any_left: DFF<Bit>,
    unreadable_seen: DFF<Bit>,
    since_ack_req: DFF<Bits<16>>,
}

impl Logic for BurstSend {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, sender, burst_held, leaves, leaving, to_leave, locating, to_locate);
        dff_setup!(
            self,
            clock,
            paths_due,
            locations_due,
            drains,
            any_left,
            unreadable_seen,
            since_ack_req
        );
        clock!(self, clock, paths, locations);
        let op = self.op.val();
        let new_burst = self.burst.val();
        let burst = self.burst_held.q.val();
        let message = burst.message;
        let sender = self.sender.q.val();
        let mtu_log2 = sender.mtu_log2;
        let rc = sender.rc;
        let leaving = self.leaving.q.val();
        let locating = self.locating.q.val();
        let clear_fifos = self.reset.val() | self.done.val();
        self.paths.reset.next = clear_fifos;
        self.locations.reset.next = clear_fifos;

        // translate: request the location of every payload
        let locates = self.to_locate.q.val().any();
        let requested = locates & self.xlate_req.ready.val();
        self.xlate_req.valid.next = locates;
        self.xlate_req.record.next = TranslateRequest {
            qp: sender.qp,
            pd: sender.pd,
            lkey: message.lkey,
            va: message.local_va,
            message_length: message.length,
            offset: locating.offset,
            length: payload_length(locating, mtu_log2),
        };
        if requested {
            self.locating.d.next = segment_after(locating, mtu_log2);
            self.to_locate.d.next = self.to_locate.q.val() - 1;
        }

        // collect: paths and locations
        let new_path = self.path.record.val();
        let expects_path = self.paths_due.q.val().any();
        let path_arrives = self.path.valid.val() & expects_path;
        self.paths.in_.valid.next = path_arrives;
        self.paths.in_.data.next = new_path;
        if path_arrives {
            self.paths_due.d.next = if new_path.found {
                self.paths_due.q.val() - 1
            } else {
                bits::<6>(0)
            };
        }
        self.locations.in_.valid.next = self.xlate_rsp.valid.val();
        self.locations.in_.data.next = self.xlate_rsp.record.val();
        self.locations_due.d.next = if requested & !self.xlate_rsp.valid.val() {
            self.locations_due.q.val() + 1
        } else if !requested & self.xlate_rsp.valid.val() {
            self.locations_due.q.val() - 1
        } else {
            self.locations_due.q.val()
        };

        // send
        let path = self.paths.out.data.val();
        let location = self.locations.out.data.val();
        let has_location = !burst.in_memory | self.locations.out.valid.val();
        let has_path = rc | self.paths.out.valid.val();
        let found = rc | path.found;
        let is_last = self.to_leave.q.val() == 1;
        let moves = self.leaves.q.val() & has_path & has_location;
        let unreadable = burst.in_memory & location.fault;
        let leaves_now = moves & found & !unreadable;
        let ends = moves & (!found | unreadable | is_last);
        let length = payload_length(leaving, mtu_log2);
        let pkts_since_ack_req = self.since_ack_req.q.val() + 1;
        let ack_req_now = if rc {
            (is_last & burst.ack_req_last) | (pkts_since_ack_req >= sender.ack_every)
        } else {
            burst.ack_req_all
        };
        let ack_req = leaving.last | ack_req_now;
        self.paths.out.ready.next = moves;
        self.tx.valid.next = leaves_now;
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
            entropy: if rc {
                bit_cast::<32, 16>(sender.udp_sport)
            } else {
                path.entropy
            },
            length,
            segments: location.segments,
            inline: message.inline,
            inline_data: message.inline_data,
            slot: message.slot,
            epoch: location.epoch,
        };
        self.sent.next = SentPacket {
            ev: path.index,
            at: sender.now,
            is_retransmit: burst.is_retransmit,
            retries: burst.retries,
            length,
            slot: message.slot,
        };
        if leaves_now {
            self.leaving.d.next = segment_after(leaving, mtu_log2);
            self.to_leave.d.next = self.to_leave.q.val() - 1;
            self.any_left.d.next = true;
            self.since_ack_req.d.next = if ack_req {
                bits::<16>(0)
            } else {
                pkts_since_ack_req
            };
        }
        let whole = leaves_now & is_last & !rc & !burst.is_retransmit;
        if ends {
            self.leaves.d.next = false;
            self.drains.d.next = !whole;
            self.unreadable_seen.d.next = found & unreadable;
            self.to_locate.d.next = bits::<6>(0);
        }

        // drain: wait for outstanding responses of a burst that ended, and drop locations one by one, because each is counted
        let drains = self.drains.q.val();
        let located = self.locations.out.valid.val();
        let drained = drains & !expects_path & !self.locations_due.q.val().any() & !located;
        self.locations.out.ready.next = moves | drains;
        let drops = (moves & burst.in_memory & !leaves_now) | drains;
        self.dropped.next = EpochEnd {
            valid: located & !location.fault & drops,
            epoch: location.epoch,
        };
        self.done.next = drained | whole;
        self.ended_early.next = drained;
        self.any.next = self.any_left.q.val();
        self.unreadable.next = self.unreadable_seen.q.val();
        self.rest.next = leaving;
        self.left.next = self.to_leave.q.val();
        self.slot.next = message.slot;
        self.paths_pending.next = expects_path;
        self.pkts_since_ack_req.next = self.since_ack_req.q.val();
        if drained {
            self.drains.d.next = false;
        }

        if self.start.val() {
            self.sender.d.next = Sender {
                qp: op.qp,
                port: op.port,
                now: op.now,
                rc: op.settings.rc,
                mtu_log2: op.settings.mtu_log2,
                pd: op.settings.pd,
                udp_sport: op.settings.udp_sport,
                ack_every: op.settings.ack_every,
            };
            self.burst_held.d.next = new_burst;
            self.leaves.d.next = true;
            self.leaving.d.next = new_burst.segment;
            self.to_leave.d.next = new_burst.count;
            self.locating.d.next = new_burst.segment;
            self.to_locate.d.next = if new_burst.in_memory {
                new_burst.count
            } else {
                bits::<6>(0)
            };
            self.paths_due.d.next = if op.settings.rc {
                bits::<6>(0)
            } else {
                new_burst.count
            };
            self.since_ack_req.d.next = op.state.rc.pkts_since_ack_req;
            self.any_left.d.next = false;
            self.unreadable_seen.d.next = false;
        }
        if self.reset.val() {
            self.leaves.d.next = false;
            self.drains.d.next = false;
            self.to_locate.d.next = bits::<6>(0);
            self.paths_due.d.next = bits::<6>(0);
            self.locations_due.d.next = bits::<6>(0);
        }
    }
}
