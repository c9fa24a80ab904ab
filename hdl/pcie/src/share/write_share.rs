//! Merges several streams of memory write TLPs.

use hdl_macros::{clock_reset, hdl};
use hdl_primitives::{RoundRobin, StreamSkid, TlpSnk, TlpSrc};
use rust_hdl::prelude::*;
use stellar_wire::hw::dma::WriteTlpHeader;

/// Number of streams.
const WRITERS: usize = 3;

/// The fields beside the data of a beat.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct SharedBeat {
    pub header: WriteTlpHeader,
    pub first: Bit,
    pub last: Bit,
}

/// The streams have `W` bits, in the format of [`DmaWrite`](crate::DmaWrite). TLPs are not interleaved, and TLPs of one stream stay in order. Streams
/// take turns TLP by TLP, so a stream waits for at most one TLP of each other stream. One beat per cycle. An unused stream is never valid.
///
/// LUT levels: 5 (turn 3, select 1, ready 1).
#[derive(LogicBlock, Default)]
pub struct WriteShare<const W: usize> {
    pub clock: Signal<In, Clock>,
    /// Discards the TLP in progress: reset the streams and the block behind at the same time.
    pub reset: Signal<In, Bit>,

    // The input streams. Ready depends on all valids. A beat stays valid until it is accepted, and the beats of two TLPs are not interleaved.
    pub in0: TlpSnk<W>,
    pub in1: TlpSnk<W>,
    pub in2: TlpSnk<W>,

    // To PCIe. Valid does not depend on ready, and a beat stays until taken.
    pub tlp: TlpSrc<W>,

    turns: RoundRobin<WRITERS, 2>,
    /// A TLP is in progress, of the stream `owner` (one bit each).
    inside: DFF<Bit>,
    owner: DFF<Bits<WRITERS>>,
    data: StreamSkid<Bits<W>>,
    beat: StreamSkid<SharedBeat>,
}

impl<const W: usize> Logic for WriteShare<W> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, inside, owner);
        clock_reset!(self, turns, data, beat);

        // choose
        let offered = bits::<WRITERS>(0)
            .replace_bit(0, self.in0.valid.val())
            .replace_bit(1, self.in1.valid.val())
            .replace_bit(2, self.in2.valid.val());
        self.turns.request.next = offered;
        let inside = self.inside.q.val();
        let chosen = if inside {
            self.owner.q.val()
        } else {
            self.turns.grant.val()
        };
        let valid = (chosen & offered).any();
        // Both skids see the same beats.
        let room = self.data.in_.ready.val() & self.beat.in_.ready.val();
        let moves = valid & room;
        self.turns.accept.next = moves & !inside;
        self.in0.ready.next = chosen.get_bit(0) & room;
        self.in1.ready.next = chosen.get_bit(1) & room;
        self.in2.ready.next = chosen.get_bit(2) & room;
        let beat = if chosen.get_bit(0) {
            SharedBeat {
                header: self.in0.header.val(),
                first: self.in0.first.val(),
                last: self.in0.last.val(),
            }
        } else if chosen.get_bit(1) {
            SharedBeat {
                header: self.in1.header.val(),
                first: self.in1.first.val(),
                last: self.in1.last.val(),
            }
        } else {
            SharedBeat {
                header: self.in2.header.val(),
                first: self.in2.first.val(),
                last: self.in2.last.val(),
            }
        };
        if moves {
            self.inside.d.next = !beat.last;
            self.owner.d.next = chosen;
        }

        // send
        self.data.in_.valid.next = moves;
        self.data.in_.data.next = if chosen.get_bit(0) {
            self.in0.data.val()
        } else if chosen.get_bit(1) {
            self.in1.data.val()
        } else {
            self.in2.data.val()
        };
        self.beat.in_.valid.next = moves;
        self.beat.in_.data.next = beat;
        self.tlp.valid.next = self.beat.out.valid.val();
        self.tlp.data.next = self.data.out.data.val();
        let sent = self.beat.out.data.val();
        self.tlp.header.next = sent.header;
        self.tlp.first.next = sent.first;
        self.tlp.last.next = sent.last;
        self.data.out.ready.next = self.tlp.ready.val();
        self.beat.out.ready.next = self.tlp.ready.val();

        if self.reset.val() {
            self.inside.d.next = false;
        }
    }
}
