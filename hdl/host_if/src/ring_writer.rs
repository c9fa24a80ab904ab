//! The end of a queue's pipeline: the entry that leaves for its ring, and the interrupt behind it.

use hdl_macros::{clock_reset, hdl};
use hdl_primitives::SyncFifo;
use rust_hdl::prelude::*;
use stellar_wire::hw::dma::WriteTlpHeader;

use crate::bundles::{HostWriteSrc, RaiseSrc};
use crate::ring::write_header;

/// What follows when an entry is accepted.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct EntryWrite {
    header: WriteTlpHeader,
    joins: Bit,
    raises: Bit,
    vector: Bits<6>,
}

/// Holds up to two entries of `W` bits until they are accepted, and then raises their interrupts if they have one. So `room` is a register, though a queue that has an
/// entry in every cycle does not wait. A queue may also raise an interrupt at once, while no entry waits: it must not overtake one. Levels: 2.
#[derive(LogicBlock, Default)]
pub struct RingWriter<const W: usize> {
    pub clock: Signal<In, Clock>,
    /// Discards the entries and their interrupts.
    pub reset: Signal<In, Bit>,

    /// Takes the entry. Only while there is `room`.
    pub put: Signal<In, Bit>,
    /// Bus address, a multiple of 4.
    pub address: Signal<In, Bits<64>>,
    pub entry: Signal<In, Bits<W>>,
    /// The entry may be one write with the one that was put before it, see [`HostWriteSrc`].
    pub joins: Signal<In, Bit>,
    /// The entry raises `vector` when it is accepted.
    pub raises: Signal<In, Bit>,
    /// Raises `vector` at once.
    pub raises_now: Signal<In, Bit>,
    pub vector: Signal<In, Bits<6>>,

    /// An entry is at the output.
    pub waits: Signal<Out, Bit>,
    /// There is space for an entry.
    pub room: Signal<Out, Bit>,

    pub write: HostWriteSrc<W>,
    /// High for one cycle, in a cycle after the entry was accepted.
    pub raise: RaiseSrc,

    writes: SyncFifo<EntryWrite, 1, 2>,
    data: SyncFifo<Bits<W>, 1, 2>,
    raising: DFF<Bit>,
    raised: DFF<Bits<6>>,
}

impl<const W: usize> Logic for RingWriter<W> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, raising, raised);
        clock_reset!(self, writes, data);

        // offer_entry
        let put = self.put.val();
        self.writes.in_.valid.next = put;
        self.writes.in_.data.next = EntryWrite {
            header: write_header(self.address.val(), bits::<11>((W / 32) as u64)),
            joins: self.joins.val(),
            raises: self.raises.val(),
            vector: self.vector.val(),
        };
        self.data.in_.valid.next = put;
        self.data.in_.data.next = self.entry.val();
        let waits = self.writes.out.valid.val();
        let taken = waits & self.write.ready.val();
        self.waits.next = waits;
        self.room.next = self.writes.in_.ready.val();
        let first = self.writes.out.data.val();
        self.write.valid.next = waits;
        self.write.joins.next = first.joins;
        self.write.header.next = first.header;
        self.write.data.next = self.data.out.data.val();
        self.writes.out.ready.next = self.write.ready.val();
        self.data.out.ready.next = self.write.ready.val();

        // raise
        let raises_now = self.raises_now.val();
        self.raising.d.next = (taken & first.raises) | raises_now;
        self.raised.d.next = if raises_now {
            self.vector.val()
        } else {
            first.vector
        };
        self.raise.valid.next = self.raising.q.val();
        self.raise.vector.next = self.raised.q.val();

        if self.reset.val() {
            self.raising.d.next = false;
        }
    }
}
