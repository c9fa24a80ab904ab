//! Packets of one message that leave one after the other (reference: the end of `MrcRequester::transmit_burst`).

use hdl_macros::hdl;
use hdl_primitives::SyncFifo;
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::Message;
use stellar_wire::hw::requester::{LocateRequest, LocateResponse, TxRequest};
use stellar_wire::hw::spray::SprayResponse;
use stellar_wire::hw::tx::{TxMeth, TxReth};
use stellar_wire::hw::window::SentPacket;

use crate::records::Job;
use crate::segment::{payload_length, segment_after, write_opcode, Segment};

/// Room for the answers of a whole burst.
const ANSWERS_BITS: usize = 5;

/// Who sends, and when.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Sender {
    qp: Bits<10>,
    port: Bit,
    now: Bits<32>,
    rc: Bit,
    mtu_log2: Bits<4>,
    pd: Bits<20>,
    udp_sport: Bits<16>,
    ack_every: Bits<16>,
}

/// What is to leave.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Burst {
    pub message: Message,
    /// Its first packet.
    pub segment: Segment,
    /// Packets, 1 to 32.
    pub count: Bits<6>,
    /// The payload lies in memory.
    pub in_memory: Bit,
    /// MRC: every packet asks for a SACK.
    pub asks: Bit,
    /// RC: the last packet asks for an acknowledgement.
    pub asks_last: Bit,
    /// MRC: the packet is sent again, and has spent `retries`.
    pub again: Bit,
    pub retries: Bits<8>,
}

/// Asks where the packets' payload lies, waits for their paths (MRC: the spray engine was asked for `count` of them in the clock of `start`), and
/// sends each as soon as it has both: one per clock, once they flow.
///
/// It ends early at the first packet without path or with a payload that cannot be read.
#[derive(LogicBlock, Default)]
pub struct BurstSend {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub start: Signal<In, Bit>,
    /// With `start`, as `job`.
    pub burst: Signal<In, Burst>,
    pub job: Signal<In, Job>,
    /// One clock: it is over, and no answer is missing any more. A burst of new packets over MRC that leaves as a whole is over with its last packet.
    pub done: Signal<Out, Bit>,
    /// With `done` of such a burst: it has ended early.
    pub is_short: Signal<Out, Bit>,
    /// Until the next start: a packet left; a payload could not be read.
    pub any: Signal<Out, Bit>,
    pub unreadable: Signal<Out, Bit>,
    /// Until the next start: what of the burst has not left, and how many packets.
    pub rest: Signal<Out, Segment>,
    pub left: Signal<Out, Bits<6>>,
    /// Send queue index of its message.
    pub slot: Signal<Out, Bits<16>>,
    /// RC: packets up to the last one that left since one that asked for an acknowledgement.
    pub silent: Signal<Out, Bits<16>>,
    /// Paths may still come.
    pub draws: Signal<Out, Bit>,

    // Answers of the spray engine.
    pub sprayed_valid: Signal<In, Bit>,
    pub sprayed: Signal<In, SprayResponse>,
    // Payload location: each request moves when valid and ready, answers come in order.
    pub locate_valid: Signal<Out, Bit>,
    pub locate: Signal<Out, LocateRequest>,
    pub locate_ready: Signal<In, Bit>,
    pub located_valid: Signal<In, Bit>,
    pub located: Signal<In, LocateResponse>,

    /// One clock for each packet that leaves.
    pub tx_valid: Signal<Out, Bit>,
    pub tx: Signal<Out, TxRequest>,
    /// Of it, for the window.
    pub sent: Signal<Out, SentPacket>,

    paths: SyncFifo<SprayResponse, ANSWERS_BITS, { ANSWERS_BITS + 1 }>,
    places: SyncFifo<LocateResponse, ANSWERS_BITS, { ANSWERS_BITS + 1 }>,
    sender: DFF<Sender>,
    burst_held: DFF<Burst>,
    /// Packets are still to leave.
    leaves: DFF<Bit>,
    leaving: DFF<Segment>,
    to_leave: DFF<Bits<6>>,
    /// Payloads are still to be asked for.
    asking: DFF<Segment>,
    to_ask: DFF<Bits<6>>,
    /// Answers that have not come.
    paths_due: DFF<Bits<6>>,
    places_due: DFF<Bits<6>>,
    /// The burst has ended; answers may still come.
    drains: DFF<Bit>,
    any_left: DFF<Bit>,
    blamed: DFF<Bit>,
    unasked: DFF<Bits<16>>,
}

impl Logic for BurstSend {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, sender, burst_held, leaves, leaving, to_leave, asking, to_ask);
        dff_setup!(self, clock, paths_due, places_due, drains, any_left, blamed, unasked);
        clock!(self, clock, paths, places);
        let job = self.job.val();
        let started = self.burst.val();
        let burst = self.burst_held.q.val();
        let message = burst.message;
        let sender = self.sender.q.val();
        let mtu_log2 = sender.mtu_log2;
        let rc = sender.rc;
        let leaving = self.leaving.q.val();
        let asking = self.asking.q.val();
        let forgets = self.reset.val() | self.done.val();
        self.paths.reset.next = forgets;
        self.places.reset.next = forgets;

        // ask
        let asks = self.to_ask.q.val().any();
        let asked = asks & self.locate_ready.val();
        self.locate_valid.next = asks;
        self.locate.next = LocateRequest {
            qp: sender.qp,
            pd: sender.pd,
            lkey: message.lkey,
            va: message.local_va,
            message_length: message.length,
            offset: asking.offset,
            length: payload_length(asking, mtu_log2),
        };
        if asked {
            self.asking.d.next = segment_after(asking, mtu_log2);
            self.to_ask.d.next = self.to_ask.q.val() - 1;
        }

        // answers
        let sprayed = self.sprayed.val();
        let expects_path = self.paths_due.q.val().any();
        let path_comes = self.sprayed_valid.val() & expects_path;
        self.paths.in_valid.next = path_comes;
        self.paths.in_data.next = sprayed;
        if path_comes {
            self.paths_due.d.next = if sprayed.found {
                self.paths_due.q.val() - 1
            } else {
                bits::<6>(0)
            };
        }
        self.places.in_valid.next = self.located_valid.val();
        self.places.in_data.next = self.located.val();
        self.places_due.d.next = if asked & !self.located_valid.val() {
            self.places_due.q.val() + 1
        } else if !asked & self.located_valid.val() {
            self.places_due.q.val() - 1
        } else {
            self.places_due.q.val()
        };

        // leave
        let path = self.paths.out_data.val();
        let place = self.places.out_data.val();
        let has_place = !burst.in_memory | self.places.out_valid.val();
        let has_path = rc | self.paths.out_valid.val();
        let found = rc | path.found;
        let is_last = self.to_leave.q.val() == 1;
        let moves = self.leaves.q.val() & has_path & has_place;
        let unreadable = burst.in_memory & place.fault;
        let goes = moves & found & !unreadable;
        let ends = moves & (!found | unreadable | is_last);
        let length = payload_length(leaving, mtu_log2);
        let unasked = self.unasked.q.val() + 1;
        let asks_now = if rc {
            (is_last & burst.asks_last) | (unasked >= sender.ack_every)
        } else {
            burst.asks
        };
        let ack_req = leaving.last | asks_now;
        self.paths.out_ready.next = moves;
        self.places.out_ready.next = moves;
        self.tx_valid.next = goes;
        self.tx.next = TxRequest {
            qp: sender.qp,
            port: sender.port,
            opcode: write_opcode(leaving, message.has_immediate, rc),
            psn: leaving.psn,
            ack_req,
            retransmission: burst.again,
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
            pieces: place.pieces,
            inline: message.inline,
            inline_data: message.inline_data,
            slot: message.slot,
        };
        self.sent.next = SentPacket {
            ev: path.index,
            at: sender.now,
            again: burst.again,
            retries: burst.retries,
            length,
            slot: message.slot,
        };
        if goes {
            self.leaving.d.next = segment_after(leaving, mtu_log2);
            self.to_leave.d.next = self.to_leave.q.val() - 1;
            self.any_left.d.next = true;
            self.unasked.d.next = if ack_req { bits::<16>(0) } else { unasked };
        }
        let whole = goes & is_last & !rc & !burst.again;
        if ends {
            self.leaves.d.next = false;
            self.drains.d.next = !whole;
            self.blamed.d.next = found & unreadable;
            self.to_ask.d.next = bits::<6>(0);
        }

        // drain
        let through = self.drains.q.val() & !expects_path & !self.places_due.q.val().any();
        self.done.next = through | whole;
        self.is_short.next = through;
        self.any.next = self.any_left.q.val();
        self.unreadable.next = self.blamed.q.val();
        self.rest.next = leaving;
        self.left.next = self.to_leave.q.val();
        self.slot.next = message.slot;
        self.draws.next = expects_path;
        self.silent.next = self.unasked.q.val();
        if through {
            self.drains.d.next = false;
        }

        if self.start.val() {
            self.sender.d.next = Sender {
                qp: job.qp,
                port: job.port,
                now: job.now,
                rc: job.settings.rc,
                mtu_log2: job.settings.mtu_log2,
                pd: job.settings.pd,
                udp_sport: job.settings.udp_sport,
                ack_every: job.settings.ack_every,
            };
            self.burst_held.d.next = started;
            self.leaves.d.next = true;
            self.leaving.d.next = started.segment;
            self.to_leave.d.next = started.count;
            self.asking.d.next = started.segment;
            self.to_ask.d.next = if started.in_memory {
                started.count
            } else {
                bits::<6>(0)
            };
            self.paths_due.d.next = if job.settings.rc {
                bits::<6>(0)
            } else {
                started.count
            };
            self.unasked.d.next = job.state.rc.silent;
            self.any_left.d.next = false;
            self.blamed.d.next = false;
        }
        if self.reset.val() {
            self.leaves.d.next = false;
            self.drains.d.next = false;
            self.to_ask.d.next = bits::<6>(0);
            self.paths_due.d.next = bits::<6>(0);
            self.places_due.d.next = bits::<6>(0);
        }
    }
}
