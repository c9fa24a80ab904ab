//! Complete frames from the FIFO to the MAC.

use hdl_crossings::gray_pointer::binary_of;
use hdl_macros::hdl;
use hdl_primitives::{DataSnk, StreamSkid};
use rust_hdl::prelude::*;

use crate::bundles::CmacTxSrc;
use crate::frame_beat::{keep_of, FrameBeat};

/// A beat as the CMAC takes it.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct KeptBeat {
    pub data: Bits<512>,
    pub keep: Bits<64>,
    pub last: Bit,
    pub error: Bit,
}

/// Sends frames from the FIFO to a CMAC on the MAC's clock. A frame begins when all of it is in the FIFO, so the CMAC never meets a gap inside a frame.
///
/// The number of complete frames crosses beside the FIFO's write pointer, through a synchroniser of the same depth. It may be seen one edge before the
/// pointer of the last beat, and the pointer needs one more register: two registers behind the synchroniser make good for both.
///
/// While the link is down, frames that have not begun are dropped: a packet that leaves when the link is up again is an old one.
///
/// Latency 2 from the FIFO. LUT levels: 2.
#[derive(LogicBlock, Default)]
pub struct TxLaunch<const C: usize> {
    pub clock: Signal<In, Clock>,
    /// The FIFO is in reset, and with it the number of complete frames. A frame that has begun is cut: the MAC is in reset too.
    pub fifo_reset: Signal<In, Bit>,
    pub link_up: Signal<In, Bit>,

    pub in_: DataSnk<FrameBeat>,
    /// Number of complete frames in gray code, behind its synchroniser.
    pub complete_seen: Signal<In, Bits<C>>,
    pub tx_axis: CmacTxSrc,

    seen: DFF<Bits<C>>,
    complete: DFF<Bits<C>>,
    /// Frames that have left the FIFO.
    left: DFF<Bits<C>>,
    /// The frame that leaves has begun, and is not over.
    inside: DFF<Bit>,
    /// The frame inside is dropped.
    dropping: DFF<Bit>,
    from_fifo: StreamSkid<FrameBeat>,
    to_mac: StreamSkid<KeptBeat>,
}

impl<const C: usize> Logic for TxLaunch<C> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, seen, complete, left, inside, dropping);
        self.from_fifo.clock.next = self.clock.val();
        self.to_mac.clock.next = self.clock.val();
        let reset = self.fifo_reset.val();
        self.from_fifo.reset.next = reset;
        self.to_mac.reset.next = reset;
        self.seen.d.next = binary_of(self.complete_seen.val());
        self.complete.d.next = self.seen.q.val();

        let inside = self.inside.q.val();
        let waits = self.complete.q.val() != self.left.q.val();
        let drops = if inside {
            self.dropping.q.val()
        } else {
            !self.link_up.val()
        };
        let goes = self.in_.valid.val() & (inside | waits) & !reset;
        let moves = goes & (drops | self.from_fifo.in_.ready.val());
        let last = self.in_.data.val().last;
        self.in_.ready.next = (inside | waits) & (drops | self.from_fifo.in_.ready.val());
        self.from_fifo.in_.valid.next = goes & !drops;
        self.from_fifo.in_.data.next = self.in_.data.val();
        if moves {
            self.inside.d.next = !last;
            self.dropping.d.next = drops;
            if last {
                self.left.d.next = self.left.q.val() + 1;
            }
        }
        if reset {
            self.seen.d.next = bits(0);
            self.complete.d.next = bits(0);
            self.left.d.next = bits(0);
            self.inside.d.next = false;
        }

        let beat = self.from_fifo.out.data.val();
        self.to_mac.in_.valid.next = self.from_fifo.out.valid.val();
        self.to_mac.in_.data.next = KeptBeat {
            data: beat.data,
            keep: keep_of(beat.bytes),
            last: beat.last,
            error: beat.error,
        };
        self.from_fifo.out.ready.next = self.to_mac.in_.ready.val();
        let kept = self.to_mac.out.data.val();
        self.tx_axis.tvalid.next = self.to_mac.out.valid.val();
        self.tx_axis.tdata.next = kept.data;
        self.tx_axis.tkeep.next = kept.keep;
        self.tx_axis.tlast.next = kept.last;
        self.tx_axis.tuser.next = kept.error;
        self.to_mac.out.ready.next = self.tx_axis.tready.val();
    }
}
