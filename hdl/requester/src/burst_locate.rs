//! Where the payloads of a burst are.

use hdl_macros::{clock_reset, hdl, hdl_fn, join};
use hdl_primitives::{DataSrc, FlowSnk, OfferSrc, SyncFifo};
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::Message;
use stellar_wire::hw::requester::{TranslateRequest, TranslateResponse};
use stellar_wire::hw::wqe::{lkey, local_va};
use stellar_wire::hw::Qpn;

use crate::packet_queue::{PacketQueue, Run};
use crate::segment::payload_length;

/// log2 of the depth of the FIFO for locations: a burst has at most 32 packets.
const LOCATIONS_BITS: usize = 5;

/// The local buffer of a message.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Buffer {
    in_memory: Bit,
    lkey: Bits<32>,
    va: Bits<64>,
    length: Bits<32>,
}

/// Returns whether the payload is read from memory: it is neither inline nor empty. Levels: 3.
#[hdl_fn]
pub fn is_in_memory(message: Message) -> Bit {
    !message.inline & message.length.any()
}

/// Requests the translation of every payload in memory, one per cycle, and keeps the results in the order of the packets.
#[derive(LogicBlock, Default)]
pub struct BurstLocate {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    /// Messages of the next burst. They come before its `start`.
    pub add: FlowSnk<Message>,
    pub add_run: Signal<In, Run>,
    /// The payloads of the next burst, of `count` packets, may be located.
    pub start: Signal<In, Bit>,
    pub count: Signal<In, Bits<6>>,
    // Of the burst, from the cycle after `start` on.
    pub qp: Signal<In, Qpn>,
    pub pd: Signal<In, Bits<20>>,
    pub mtu_log2: Signal<In, Bits<4>>,

    // Local translation. A request is accepted when valid and ready are high. Responses come in the order of the requests.
    pub xlate_req: OfferSrc<TranslateRequest>,
    pub xlate_rsp: FlowSnk<TranslateResponse>,

    /// The location of the next payload in memory.
    pub out: DataSrc<TranslateResponse>,
    /// All payloads of the burst have been located.
    pub located: Signal<Out, Bit>,
    /// A payload of the burst cannot be read. Valid with `located`, until the next `start`.
    pub faulty: Signal<Out, Bit>,

    buffers: PacketQueue<Buffer>,
    locations: SyncFifo<TranslateResponse, LOCATIONS_BITS, { LOCATIONS_BITS + 1 }>,
    to_locate: DFF<Bits<6>>,
    /// Number of responses outstanding.
    due: DFF<Bits<6>>,
    fault_located: DFF<Bit>,
}

impl Logic for BurstLocate {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, to_locate, due, fault_located);
        clock_reset!(self, buffers, locations);
        let added = self.add.record.val();
        self.buffers.in_.valid.next = self.add.valid.val();
        self.buffers.in_.record.next = Buffer {
            in_memory: is_in_memory(added),
            lkey: lkey(added.source),
            va: local_va(added.source),
            length: added.length,
        };
        join!(
            self,
            add_run => buffers.in_run,
            mtu_log2 => buffers.mtu_log2,
            locations.out => out,
        );

        // request
        let buffer = self.buffers.message.val();
        let locating = self.buffers.run.val();
        let to_locate = self.to_locate.q.val();
        let locates = to_locate.any() & buffer.in_memory;
        let passes = to_locate.any() & !buffer.in_memory;
        let requested = locates & self.xlate_req.ready.val();
        self.xlate_req.valid.next = locates;
        self.xlate_req.record.next = TranslateRequest {
            qp: self.qp.val(),
            pd: self.pd.val(),
            lkey: buffer.lkey,
            va: buffer.va,
            message_length: buffer.length,
            offset: locating.segment.offset,
            length: payload_length(locating.segment, self.mtu_log2.val()),
        };
        self.buffers.take.next = requested;
        self.buffers.take_all.next = passes;
        if requested {
            self.to_locate.d.next = to_locate - 1;
        } else if passes {
            self.to_locate.d.next = to_locate - locating.packets;
        }

        // result
        let location = self.xlate_rsp.record.val();
        let arrives = self.xlate_rsp.valid.val();
        self.locations.in_.valid.next = arrives;
        self.locations.in_.data.next = location;
        self.due.d.next = if requested & !arrives {
            self.due.q.val() + 1
        } else if !requested & arrives {
            self.due.q.val() - 1
        } else {
            self.due.q.val()
        };
        if arrives & location.fault {
            self.fault_located.d.next = true;
        }
        self.located.next = !to_locate.any() & !self.due.q.val().any();
        self.faulty.next = self.fault_located.q.val();

        if self.start.val() {
            self.to_locate.d.next = self.count.val();
            self.fault_located.d.next = false;
        }
        if self.reset.val() {
            self.to_locate.d.next = bits::<6>(0);
            self.due.d.next = bits::<6>(0);
        }
    }
}
