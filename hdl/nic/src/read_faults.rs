//! Reads by PCIe that failed: what becomes an event, and what fails a message.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{PayloadFaultSnk, ReadFaultSrc, RoundRobin, Snk, Src, SyncFifo};
use rust_hdl::prelude::*;
use stellar_wire::host::EventKind;
use stellar_wire::hw::read::FailedRead;
use stellar_wire::hw::QPN_BITS;

/// Makes an event of each read that failed, with its address. The requester hears of a payload that could not be read when its event was accepted.
///
/// The sources take turns: payload of port 0 and of port 1, entries and flush reads of endpoint 0 and of endpoint 1. One event per cycle, latency 1. LUT
/// levels: 5 (turn 3, select 2).
#[derive(LogicBlock, Default)]
pub struct ReadFaults {
    pub clock: Signal<In, Clock>,
    /// Discards events.
    pub reset: Signal<In, Bit>,

    // Reads that failed.
    /// From the transmit lanes: payload.
    pub payload: [PayloadFaultSnk; 2],
    /// From the readers of both endpoints: send queue entries.
    pub entries: [Snk<FailedRead>; 2],
    /// Flush reads of both endpoints.
    pub flush: [Snk<FailedRead>; 2],

    /// To the requester: the message that fails.
    pub message: [ReadFaultSrc; 2],
    /// To the event queue.
    pub report: Src<FailedRead>,

    turns: RoundRobin<6, 3>,
    /// That an event is accepted is decided late in a cycle, so this moves a pointer and enables no wide register.
    held: SyncFifo<FailedRead, 1, 2>,
    /// Bit p: the event of the payload at port p was accepted, and its message has not failed yet.
    told: DFF<Bits<2>>,
}

impl Logic for ReadFaults {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, told);
        clock_reset!(self, turns, held);
        let told = self.told.q.val();
        let mut requests = bits::<6>(0);
        for p in 0..2 {
            let tells = self.payload[p].valid.val() & !told.get_bit(p);
            requests = requests.replace_bit(p, tells);
            requests = requests.replace_bit(2 + p, self.entries[p].valid.val());
            requests = requests.replace_bit(4 + p, self.flush[p].valid.val());
        }
        let room = self.held.in_.ready.val();
        self.turns.request.next = requests;
        self.turns.accept.next = room;
        let turn = self.turns.grant.val();
        self.held.in_.valid.next = requests.any();

        let payload = if turn.get_bit(0) {
            FailedRead {
                kind: bits::<8>(EventKind::PayloadReadFailed.code().into()),
                source: bit_cast::<24, QPN_BITS>(self.payload[0].qp.val()),
                address: self.payload[0].address.val(),
            }
        } else {
            FailedRead {
                kind: bits::<8>(EventKind::PayloadReadFailed.code().into()),
                source: bit_cast::<24, QPN_BITS>(self.payload[1].qp.val()),
                address: self.payload[1].address.val(),
            }
        };
        let entries = if turn.get_bit(2) {
            self.entries[0].record.val()
        } else {
            self.entries[1].record.val()
        };
        // A flush block does not know its endpoint.
        let flush = if turn.get_bit(4) {
            FailedRead {
                source: bits::<24>(0),
                ..self.flush[0].record.val()
            }
        } else {
            FailedRead {
                source: bits::<24>(1),
                ..self.flush[1].record.val()
            }
        };
        self.held.in_.data.next = if turn.get_bit(0) | turn.get_bit(1) {
            payload
        } else if turn.get_bit(2) | turn.get_bit(3) {
            entries
        } else {
            flush
        };
        join!(self, held.out.valid => report.valid, held.out.data => report.record, report.ready => held.out.ready);

        for p in 0..2 {
            self.entries[p].ready.next = room & turn.get_bit(2 + p);
            self.flush[p].ready.next = room & turn.get_bit(4 + p);
            let fails = self.payload[p].valid.val() & told.get_bit(p);
            self.message[p].valid.next = fails;
            self.message[p].qp.next = self.payload[p].qp.val();
            self.message[p].slot.next = self.payload[p].slot.val();
            self.payload[p].ready.next = told.get_bit(p) & self.message[p].ready.val();
        }
        let done = told
            & (bit_cast::<2, 1>(self.message[0].ready.val().into())
                | (bit_cast::<2, 1>(self.message[1].ready.val().into()) << 1));
        let tells = if room {
            turn.get_bits::<2>(0)
        } else {
            bits::<2>(0)
        };
        self.told.d.next = (told & !done) | tells;
        if self.reset.val() {
            self.told.d.next = bits(0);
        }
    }
}
