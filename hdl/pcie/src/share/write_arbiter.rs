//! Merges several streams of memory write TLPs.

use hdl_macros::{clock_reset, hdl};
use hdl_primitives::{RoundRobin, StreamSkid, TlpSnk, TlpSrc};
use rust_hdl::prelude::*;
use stellar_wire::hw::dma::WriteTlpHeader;

/// The fields beside the data of a beat.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct SharedBeat {
    pub header: WriteTlpHeader,
    pub first: Bit,
    pub last: Bit,
}

/// Merges `N` streams of memory write TLPs. Beats have `W` bits, in the format of [`DmaWrite`](crate::DmaWrite); `I` is the width of a stream's number. TLPs are not interleaved, and TLPs of one
/// stream stay in order. Streams take turns TLP by TLP, so a stream waits for at most one TLP of each other stream. One beat per cycle. An unused stream is
/// never valid.
///
/// LUT levels: 5 (turn 3, select 1, ready 1).
#[derive(LogicBlock)]
pub struct WriteArbiter<const W: usize, const N: usize, const I: usize> {
    pub clock: Signal<In, Clock>,
    /// Discards the TLP in progress: reset the streams and the block behind at the same time.
    pub reset: Signal<In, Bit>,

    /// The input streams. Ready depends on all valids. The beats of two TLPs are not interleaved.
    pub in_: [TlpSnk<W>; N],

    /// To PCIe. Valid does not depend on ready.
    pub tlp: TlpSrc<W>,

    turns: RoundRobin<N, I>,
    /// A TLP is in progress, of the stream `owner` (one bit each).
    inside: DFF<Bit>,
    owner: DFF<Bits<N>>,
    data: StreamSkid<Bits<W>>,
    beat: StreamSkid<SharedBeat>,
}

impl<const W: usize, const N: usize, const I: usize> Default for WriteArbiter<W, N, I> {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            in_: std::array::from_fn(|_| Default::default()),
            tlp: Default::default(),
            turns: Default::default(),
            inside: Default::default(),
            owner: Default::default(),
            data: Default::default(),
            beat: Default::default(),
        }
    }
}

impl<const W: usize, const N: usize, const I: usize> Logic for WriteArbiter<W, N, I> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, inside, owner);
        clock_reset!(self, turns, data, beat);

        // choose
        let mut offered = bits::<N>(0);
        for i in 0..N {
            offered = offered.replace_bit(i, self.in_[i].valid.val());
        }
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

        // The last stream is selected if no other one is.
        let mut beat = SharedBeat {
            header: self.in_[N - 1].header.val(),
            first: self.in_[N - 1].first.val(),
            last: self.in_[N - 1].last.val(),
        };
        let mut data = self.in_[N - 1].data.val();
        for i in (0..N - 1).rev() {
            let is_chosen = chosen.get_bit(i);
            beat = if is_chosen {
                SharedBeat {
                    header: self.in_[i].header.val(),
                    first: self.in_[i].first.val(),
                    last: self.in_[i].last.val(),
                }
            } else {
                beat
            };
            data = if is_chosen {
                self.in_[i].data.val()
            } else {
                data
            };
        }
        for i in 0..N {
            self.in_[i].ready.next = chosen.get_bit(i) & room;
        }
        if moves {
            self.inside.d.next = !beat.last;
            self.owner.d.next = chosen;
        }

        // send
        self.data.in_.valid.next = moves;
        self.data.in_.data.next = data;
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
