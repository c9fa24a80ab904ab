//! Drops the frames of a port whose link is down.

use hdl_macros::hdl;
use hdl_primitives::{MacTxSnk, MacTxSrc};
use rust_hdl::prelude::*;

use crate::records::MacBeat;

/// Stands between a transmit lane and its MAC. While the link is down it drops frames, so that nothing waits for a MAC that takes nothing, and no old frame
/// leaves when the link is up again: its packet may have been sent by the other port long ago, and its number may be in use again.
///
/// A beat that is on offer stays. If the rest of its frame is dropped, one more byte ends the frame: it is shorter than its headers say, and has no iCRC, so
/// its receiver drops it.
///
/// Latency 1. LUT levels: 3.
#[derive(LogicBlock, Default)]
pub struct LinkFilter<const W: usize> {
    pub clock: Signal<In, Clock>,
    /// Forgets a beat on offer. A frame that has left in part is cut, so reset the MAC too.
    pub reset: Signal<In, Bit>,
    /// The link of the port is up.
    pub port_up: Signal<In, Bit>,

    pub in_: MacTxSnk<W>,
    pub mac: MacTxSrc<W>,

    /// High for one cycle: a frame was dropped, or cut.
    pub dropped: Signal<Out, Bit>,

    offers: DFF<Bit>,
    data: DFF<Bits<W>>,
    beat: DFF<MacBeat>,
    /// The frame that entered last is not complete.
    inside: DFF<Bit>,
    /// The rest of that frame was dropped, and the byte that ends it has not left yet.
    cut: DFF<Bit>,
    /// The frame that comes in was dropped in part, so the rest is dropped too.
    skipping: DFF<Bit>,
}

impl<const W: usize> Logic for LinkFilter<W> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, offers, data, beat, inside, cut, skipping);
        let arrives = self.in_.valid.val();
        let last = self.in_.last.val();
        let drops = !self.port_up.val() | self.skipping.q.val();
        let free = !self.offers.q.val() | self.mac.ready.val();
        let cut = self.cut.q.val();
        let enters = arrives & !drops & free & !cut;
        let dropped = arrives & drops;

        self.in_.ready.next = drops | (free & !cut);
        if free {
            self.offers.d.next = enters | cut;
            self.data.d.next = if cut {
                bits::<W>(0)
            } else {
                self.in_.data.val()
            };
            self.beat.d.next = if cut {
                MacBeat {
                    bytes: bits(1),
                    last: true,
                }
            } else {
                MacBeat {
                    bytes: self.in_.bytes.val(),
                    last,
                }
            };
        }
        if dropped {
            self.skipping.d.next = !last;
            self.inside.d.next = false;
        } else if enters {
            self.inside.d.next = !last;
        }
        self.cut.d.next = (dropped & self.inside.q.val()) | (cut & !free);
        self.dropped.next = dropped & last;

        let beat = self.beat.q.val();
        self.mac.valid.next = self.offers.q.val();
        self.mac.data.next = self.data.q.val();
        self.mac.bytes.next = beat.bytes;
        self.mac.last.next = beat.last;

        if self.reset.val() {
            self.offers.d.next = false;
            self.inside.d.next = false;
            self.cut.d.next = false;
            self.skipping.d.next = false;
        }
    }
}
