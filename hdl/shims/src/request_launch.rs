//! Requests from the FIFO to the PCIe block, without a gap inside.

use hdl_crossings::gray_pointer::binary_of;
use hdl_macros::hdl;
use hdl_primitives::{Checked, DataSnk, DataSrc, Parameters, StreamSkid};
use rust_hdl::prelude::*;

/// Sends requests from the FIFO on the clock of the PCIe block. With straddle the next TLP may begin in the beat in which one ends, so what must not have a gap (PG213: `tvalid` stays
/// high inside of a TLP) is a *chain*: beats up to one in which no TLP stays open. The top bit of a word says that one does.
///
/// A chain begins when all of it is in the FIFO, or 2^`LEAD` beats are. The writer has no gaps inside of a chain either, and both clocks come from the same reference, so that the
/// reader stays as far behind it.
///
/// The numbers of beats and of complete chains cross as that of complete frames does in [`TxLaunch`](crate::TxLaunch).
///
/// Latency 1 from the FIFO. LUT levels: 3.
#[derive(LogicBlock, Default)]
pub struct RequestLaunch<const P: usize, const C: usize, const LEAD: usize> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    /// The FIFO is in reset, and with it both numbers.
    pub reset: Signal<In, Bit>,

    pub in_: DataSnk<Bits<P>>,
    /// Numbers of beats and of complete chains in gray code, behind their synchronisers.
    pub beats_seen: Signal<In, Bits<C>>,
    pub complete_seen: Signal<In, Bits<C>>,
    pub out: DataSrc<Bits<P>>,

    seen: [DFF<Bits<C>>; 2],
    beats: DFF<Bits<C>>,
    complete: DFF<Bits<C>>,
    /// Beats and chains that have left the FIFO.
    beats_left: DFF<Bits<C>>,
    left: DFF<Bits<C>>,
    /// The chain that leaves has begun, and is not over.
    inside: DFF<Bit>,
    from_fifo: StreamSkid<Bits<P>>,
}

impl<const P: usize, const C: usize, const LEAD: usize> Parameters for RequestLaunch<P, C, LEAD> {
    fn check() {
        assert!(
            LEAD + 1 < C,
            "RequestLaunch with LEAD = {LEAD} and C = {C}: use a FIFO of twice 2^LEAD beats or more"
        );
    }
}

impl<const P: usize, const C: usize, const LEAD: usize> Logic for RequestLaunch<P, C, LEAD> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, beats, complete, beats_left, left, inside);
        self.from_fifo.clock.next = self.clock.val();
        let reset = self.reset.val();
        self.from_fifo.reset.next = reset;
        for n in 0..2 {
            self.seen[n].clock.next = self.clock.val();
        }
        self.seen[0].d.next = binary_of(self.beats_seen.val());
        self.seen[1].d.next = binary_of(self.complete_seen.val());
        self.beats.d.next = self.seen[0].q.val();
        self.complete.d.next = self.seen[1].q.val();

        let inside = self.inside.q.val();
        // The numbers are behind the FIFO's pointer, so that both differences may be some less than none.
        let waits = self.beats.q.val() - self.beats_left.q.val();
        let negative = waits.get_bit(C - 1) & waits.get_bit(C - 2);
        let has_lead = (waits >> (LEAD as u64)).any() & !negative;
        let chains = self.complete.q.val() - self.left.q.val();
        let is_complete = chains.any() & !(chains.get_bit(C - 1) & chains.get_bit(C - 2));
        let begins = inside | has_lead | is_complete;
        let goes = self.in_.valid.val() & begins & !reset;
        let moves = goes & self.from_fifo.in_.ready.val();
        let stays_open = self.in_.data.val().get_bit(P - 1);
        self.in_.ready.next = begins & self.from_fifo.in_.ready.val();
        self.from_fifo.in_.valid.next = goes;
        self.from_fifo.in_.data.next = self.in_.data.val();
        if moves {
            self.inside.d.next = stays_open;
            self.beats_left.d.next = self.beats_left.q.val() + 1;
            if !stays_open {
                self.left.d.next = self.left.q.val() + 1;
            }
        }
        if reset {
            for n in 0..2 {
                self.seen[n].d.next = bits(0);
            }
            self.beats.d.next = bits(0);
            self.complete.d.next = bits(0);
            self.beats_left.d.next = bits(0);
            self.left.d.next = bits(0);
            self.inside.d.next = false;
        }
        self.out.valid.next = self.from_fifo.out.valid.val();
        self.out.data.next = self.from_fifo.out.data.val();
        self.from_fifo.out.ready.next = self.out.ready.val();
    }
}
