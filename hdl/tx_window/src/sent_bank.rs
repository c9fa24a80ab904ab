//! One of four banks of transmission records.

use hdl_macros::hdl;
use hdl_primitives::ram::UltraRam;
use rust_hdl::prelude::*;
use stellar_wire::hw::window::SentPacket;

use crate::slots::lowest_of_16;

/// log2 of the slots of a queue pair in a bank.
const PLACE_BITS: u64 = 8;

/// Holds the records of every fourth slot. A walk reads the records of the slots that a SACK acknowledges, one per cycle.
///
/// Entry p of a bank belongs to slot 4p + b of the window, b being the number of the bank. `S` = `Q` + 8. LUT levels: read address 5, `last` 3.
#[derive(LogicBlock, Default)]
pub struct SentBank<const Q: usize, const S: usize> {
    pub clock: Signal<In, Clock>,
    /// Aborts the walk.
    pub reset: Signal<In, Bit>,
    /// Queue pair of the reads in this cycle.
    pub qp: Signal<In, Bits<Q>>,

    /// Loads the bank's 16 slots of the next word. It must be low between a load and its `last`; it may be high with `last`.
    pub load: Signal<In, Bit>,
    pub slots: Signal<In, Bits<16>>,
    /// The slots of `slots` that are marked lost. Other bits are ignored.
    pub lost: Signal<In, Bits<16>>,
    /// The word that was loaded. It is stable until `last`.
    pub word: Signal<In, Bits<4>>,
    /// After this cycle all slots of the word have been addressed.
    pub last: Signal<Out, Bit>,
    /// `record` belongs to a slot of the walk; the slot was marked lost.
    pub taken: Signal<Out, Bit>,
    pub taken_lost: Signal<Out, Bit>,
    /// A walk is in progress: the record of one of its slots is still to come, in this cycle or later.
    pub busy: Signal<Out, Bit>,

    /// Entry to read while no walk is in progress. `record` is valid two cycles later.
    pub read_place: Signal<In, Bits<8>>,
    pub record: Signal<Out, SentPacket>,
    pub write: Signal<In, Bit>,
    pub write_qp: Signal<In, Bits<Q>>,
    pub write_place: Signal<In, Bits<8>>,
    pub write_data: Signal<In, SentPacket>,

    /// The address is queue pair, entry.
    sent: UltraRam<SentPacket, S>,
    left: DFF<Bits<16>>,
    lost_slots: DFF<Bits<16>>,
    read: DFF<Bit>,
    read_lost: DFF<Bit>,
    comes: DFF<Bit>,
    comes_lost: DFF<Bit>,
}

impl<const Q: usize, const S: usize> Logic for SentBank<Q, S> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, left, lost_slots, read, read_lost, comes, comes_lost);
        clock!(self, clock, sent);
        let left = self.left.q.val();
        let rest = left & (left - 1);
        let slot = lowest_of_16(left);
        let walks = left.any();
        self.left.d.next = rest;
        if self.load.val() {
            self.left.d.next = self.slots.val();
            self.lost_slots.d.next = self.lost.val();
        }
        self.last.next = !rest.any();

        let place = if walks {
            (bit_cast::<8, 4>(self.word.val()) << 4) | bit_cast::<8, 4>(slot)
        } else {
            self.read_place.val()
        };
        let row = bit_cast::<S, Q>(self.qp.val()) << PLACE_BITS;
        self.sent.read_address.next = row | bit_cast::<S, 8>(place);
        self.sent.write_enable.next = self.write.val();
        let write_row = bit_cast::<S, Q>(self.write_qp.val()) << PLACE_BITS;
        self.sent.write_address.next = write_row | bit_cast::<S, 8>(self.write_place.val());
        self.sent.write_data.next = self.write_data.val();
        self.record.next = self.sent.read_data.val();

        // Delay of the memory.
        self.read.d.next = walks;
        self.read_lost.d.next = self.lost_slots.q.val().get_bit(slot.index());
        self.comes.d.next = self.read.q.val();
        self.comes_lost.d.next = self.read_lost.q.val();
        self.taken.next = self.comes.q.val();
        self.taken_lost.next = self.comes_lost.q.val();
        self.busy.next = walks | self.read.q.val() | self.comes.q.val();

        if self.reset.val() {
            self.left.d.next = bits::<16>(0);
            self.read.d.next = false;
            self.comes.d.next = false;
        }
    }
}
