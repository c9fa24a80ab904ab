//! Merges several streams of memory write TLPs.

use hdl_macros::hdl;
use hdl_primitives::{RoundRobin, StreamSkid};
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
    /// Forgets the TLP under way: give it to the streams and to what is behind as well.
    pub reset: Signal<In, Bit>,

    // What comes. Ready depends on all valids; a beat stays until taken, and one TLP has no beat of another within.
    pub in0_valid: Signal<In, Bit>,
    pub in0_data: Signal<In, Bits<W>>,
    pub in0_header: Signal<In, WriteTlpHeader>,
    pub in0_first: Signal<In, Bit>,
    pub in0_last: Signal<In, Bit>,
    pub in0_ready: Signal<Out, Bit>,
    pub in1_valid: Signal<In, Bit>,
    pub in1_data: Signal<In, Bits<W>>,
    pub in1_header: Signal<In, WriteTlpHeader>,
    pub in1_first: Signal<In, Bit>,
    pub in1_last: Signal<In, Bit>,
    pub in1_ready: Signal<Out, Bit>,
    pub in2_valid: Signal<In, Bit>,
    pub in2_data: Signal<In, Bits<W>>,
    pub in2_header: Signal<In, WriteTlpHeader>,
    pub in2_first: Signal<In, Bit>,
    pub in2_last: Signal<In, Bit>,
    pub in2_ready: Signal<Out, Bit>,

    // To PCIe. Valid does not depend on ready, and a beat stays until taken.
    pub tlp_valid: Signal<Out, Bit>,
    pub tlp_data: Signal<Out, Bits<W>>,
    pub tlp_header: Signal<Out, WriteTlpHeader>,
    pub tlp_first: Signal<Out, Bit>,
    pub tlp_last: Signal<Out, Bit>,
    pub tlp_ready: Signal<In, Bit>,

    turns: RoundRobin<WRITERS, 2>,
    /// A TLP is under way, of the stream `owner` (one bit each).
    inside: DFF<Bit>,
    owner: DFF<Bits<WRITERS>>,
    data: StreamSkid<Bits<W>>,
    beat: StreamSkid<SharedBeat>,
}

impl<const W: usize> Logic for WriteShare<W> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, inside, owner);
        clock!(self, clock, turns, data, beat);
        self.turns.reset.next = self.reset.val();
        self.data.reset.next = self.reset.val();
        self.beat.reset.next = self.reset.val();

        // choose
        let offered = bits::<WRITERS>(0)
            .replace_bit(0, self.in0_valid.val())
            .replace_bit(1, self.in1_valid.val())
            .replace_bit(2, self.in2_valid.val());
        self.turns.request.next = offered;
        let inside = self.inside.q.val();
        let chosen = if inside {
            self.owner.q.val()
        } else {
            self.turns.grant.val()
        };
        let valid = (chosen & offered).any();
        // Both skids see the same beats.
        let room = self.data.in_ready.val() & self.beat.in_ready.val();
        let moves = valid & room;
        self.turns.accept.next = moves & !inside;
        self.in0_ready.next = chosen.get_bit(0) & room;
        self.in1_ready.next = chosen.get_bit(1) & room;
        self.in2_ready.next = chosen.get_bit(2) & room;
        let beat = if chosen.get_bit(0) {
            SharedBeat {
                header: self.in0_header.val(),
                first: self.in0_first.val(),
                last: self.in0_last.val(),
            }
        } else if chosen.get_bit(1) {
            SharedBeat {
                header: self.in1_header.val(),
                first: self.in1_first.val(),
                last: self.in1_last.val(),
            }
        } else {
            SharedBeat {
                header: self.in2_header.val(),
                first: self.in2_first.val(),
                last: self.in2_last.val(),
            }
        };
        if moves {
            self.inside.d.next = !beat.last;
            self.owner.d.next = chosen;
        }

        // send
        self.data.in_valid.next = moves;
        self.data.in_data.next = if chosen.get_bit(0) {
            self.in0_data.val()
        } else if chosen.get_bit(1) {
            self.in1_data.val()
        } else {
            self.in2_data.val()
        };
        self.beat.in_valid.next = moves;
        self.beat.in_data.next = beat;
        self.tlp_valid.next = self.beat.out_valid.val();
        self.tlp_data.next = self.data.out_data.val();
        let sent = self.beat.out_data.val();
        self.tlp_header.next = sent.header;
        self.tlp_first.next = sent.first;
        self.tlp_last.next = sent.last;
        self.data.out_ready.next = self.tlp_ready.val();
        self.beat.out_ready.next = self.tlp_ready.val();

        if self.reset.val() {
            self.inside.d.next = false;
        }
    }
}
