//! The end of a queue's pipeline: the entry that leaves for its ring, and the interrupt behind it.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::hw::dma::WriteTlpHeader;

use crate::bundles::{HostWriteSrc, RaiseSrc};
use crate::ring::write_header;

/// Holds one entry of `W` bits until it is accepted, and then raises its interrupt if it has one. A queue may also raise an interrupt at once, while no
/// entry waits: it must not overtake one. Levels: 2.
#[derive(LogicBlock, Default)]
pub struct RingWriter<const W: usize> {
    pub clock: Signal<In, Clock>,
    /// Discards the entry and its interrupt.
    pub reset: Signal<In, Bit>,

    /// Takes the entry. Only while none `waits`, or in the cycle in which it is `taken`.
    pub put: Signal<In, Bit>,
    /// Bus address, a multiple of 4.
    pub address: Signal<In, Bits<64>>,
    pub entry: Signal<In, Bits<W>>,
    /// The entry raises `vector` when it is accepted.
    pub raises: Signal<In, Bit>,
    /// Raises `vector` at once.
    pub raises_now: Signal<In, Bit>,
    pub vector: Signal<In, Bits<6>>,

    /// An entry is at the output.
    pub waits: Signal<Out, Bit>,
    /// It is accepted in this cycle.
    pub taken: Signal<Out, Bit>,

    pub write: HostWriteSrc<W>,
    /// High for one cycle, in a cycle after the entry was accepted.
    pub raise: RaiseSrc,

    held: DFF<Bit>,
    header: DFF<WriteTlpHeader>,
    data: DFF<Bits<W>>,
    data_raises: DFF<Bit>,
    data_vector: DFF<Bits<6>>,
    raising: DFF<Bit>,
    raised: DFF<Bits<6>>,
}

impl<const W: usize> Logic for RingWriter<W> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, held, header, data, data_raises, data_vector);
        dff_setup!(self, clock, raising, raised);

        // offer_entry
        let held = self.held.q.val();
        let taken = held & self.write.ready.val();
        self.waits.next = held;
        self.taken.next = taken;
        if taken {
            self.held.d.next = false;
        }
        if self.put.val() {
            self.held.d.next = true;
            self.header.d.next = write_header(self.address.val(), bits::<11>((W / 32) as u64));
            self.data.d.next = self.entry.val();
            self.data_raises.d.next = self.raises.val();
            self.data_vector.d.next = self.vector.val();
        }
        self.write.valid.next = held;
        self.write.header.next = self.header.q.val();
        self.write.data.next = self.data.q.val();

        // raise
        let raises_now = self.raises_now.val();
        self.raising.d.next = (taken & self.data_raises.q.val()) | raises_now;
        self.raised.d.next = if raises_now {
            self.vector.val()
        } else {
            self.data_vector.q.val()
        };
        self.raise.valid.next = self.raising.q.val();
        self.raise.vector.next = self.raised.q.val();

        if self.reset.val() {
            self.held.d.next = false;
            self.raising.d.next = false;
        }
    }
}
