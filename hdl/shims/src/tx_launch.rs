//! Complete frames from the FIFO to the MAC.

use hdl_crossings::gray_pointer::binary_of;
use hdl_macros::hdl;
use hdl_primitives::{Checked, DataSnk, Parameters, StreamSkid};
use rust_hdl::prelude::*;

use crate::bundles::FrameTxSrc;
use crate::frame_word::{check_word, data_of, flags_of};

/// Sends frames from the FIFO to a MAC on the MAC's clock. A frame begins when all of it is in the FIFO, so the MAC never meets a gap inside a frame.
///
/// The number of complete frames crosses beside the FIFO's write pointer, through a synchroniser of the same depth. It may be seen one edge before the
/// pointer of the last beat, and the pointer needs one more register: two registers behind the synchroniser make good for both. The second one says only
/// whether a complete frame has not left, so that no comparison stands in front of the FIFO.
///
/// While the link is down, frames that have not begun are dropped: a packet that leaves when the link is up again is an old one.
///
/// Latency 1 from the FIFO. LUT levels: 3.
#[derive(LogicBlock, Default)]
pub struct TxLaunch<const W: usize, const P: usize, const C: usize> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    /// The FIFO is in reset, and with it the number of complete frames. A frame that has begun is cut: the MAC is in reset too.
    pub reset: Signal<In, Bit>,
    pub link_up: Signal<In, Bit>,

    pub in_: DataSnk<Bits<P>>,
    /// Number of complete frames in gray code, behind its synchroniser.
    pub complete_seen: Signal<In, Bits<C>>,
    pub tx: FrameTxSrc<W>,

    seen: DFF<Bits<C>>,
    /// A complete frame has not left the FIFO.
    waits: DFF<Bit>,
    /// Frames that have left the FIFO.
    left: DFF<Bits<C>>,
    /// The same with one more.
    left_after: DFF<Bits<C>>,
    /// The frame that leaves has begun, and is not over.
    inside: DFF<Bit>,
    /// The frame inside is dropped.
    dropping: DFF<Bit>,
    from_fifo: StreamSkid<Bits<P>>,
}

impl<const W: usize, const P: usize, const C: usize> Parameters for TxLaunch<W, P, C> {
    fn check() {
        check_word("TxLaunch", W, P);
    }
}

impl<const W: usize, const P: usize, const C: usize> Logic for TxLaunch<W, P, C> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, seen, waits, left, left_after, inside, dropping);
        self.from_fifo.clock.next = self.clock.val();
        let reset = self.reset.val();
        self.from_fifo.reset.next = reset;
        self.seen.d.next = binary_of(self.complete_seen.val());

        let inside = self.inside.q.val();
        let waits = self.waits.q.val();
        let drops = if inside {
            self.dropping.q.val()
        } else {
            !self.link_up.val()
        };
        let goes = self.in_.valid.val() & (inside | waits) & !reset;
        let moves = goes & (drops | self.from_fifo.in_.ready.val());
        let last = flags_of::<P>(self.in_.data.val()).last;
        self.in_.ready.next = (inside | waits) & (drops | self.from_fifo.in_.ready.val());
        self.from_fifo.in_.valid.next = goes & !drops;
        self.from_fifo.in_.data.next = self.in_.data.val();
        self.waits.d.next = self.seen.q.val() != self.left.q.val();
        if moves {
            self.inside.d.next = !last;
            self.dropping.d.next = drops;
            if last {
                self.left.d.next = self.left_after.q.val();
                self.left_after.d.next = self.left_after.q.val() + 1;
                self.waits.d.next = self.seen.q.val() != self.left_after.q.val();
            }
        }
        if reset {
            self.seen.d.next = bits(0);
            self.waits.d.next = false;
            self.left.d.next = bits(0);
            self.left_after.d.next = bits(1);
            self.inside.d.next = false;
        }

        let word = self.from_fifo.out.data.val();
        let flags = flags_of::<P>(word);
        self.tx.valid.next = self.from_fifo.out.valid.val();
        self.tx.data.next = data_of::<W, P>(word);
        self.tx.bytes.next = flags.bytes;
        self.tx.last.next = flags.last;
        self.tx.error.next = flags.error;
        self.from_fifo.out.ready.next = self.tx.ready.val();
    }
}
