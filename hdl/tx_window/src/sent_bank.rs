//! A quarter of the last transmissions.

use hdl_macros::hdl;
use hdl_primitives::ram::UltraRam;
use rust_hdl::prelude::*;
use stellar_wire::hw::window::SentPacket;

use crate::slots::lowest_of_16;

/// Slots of a queue pair in a bank, as log2.
const PLACE_BITS: u64 = 8;

/// The last transmissions of every fourth slot, and a walk over those that a SACK acknowledges, one per clock.
///
/// Place p of a bank is its slot of the window without the low 2 bits. `S` = `Q` + 8. LUT levels: read address 5, `last` 3.
#[derive(LogicBlock, Default)]
pub struct SentBank<const Q: usize, const S: usize> {
    pub clock: Signal<In, Clock>,
    /// Forgets the walk under way.
    pub reset: Signal<In, Bit>,
    /// Of what is read in this clock.
    pub qp: Signal<In, Bits<Q>>,

    /// Takes the bank's 16 slots of the next word; only in or after the clock of `last`.
    pub load: Signal<In, Bit>,
    pub slots: Signal<In, Bits<16>>,
    /// Of them (others are not looked at), those lost.
    pub lost: Signal<In, Bits<16>>,
    /// Word loaded before: stable from then to `last`.
    pub word: Signal<In, Bits<4>>,
    /// After this clock every slot of the word is on its way.
    pub last: Signal<Out, Bit>,
    /// `record` is that of a slot of the walk, of one that was lost.
    pub taken: Signal<Out, Bit>,
    pub taken_lost: Signal<Out, Bit>,
    /// A walk is in progress: the record of one of its slots is still to come, in this cycle or later.
    pub busy: Signal<Out, Bit>,

    /// Place read if no walk is under way; `record` is there two clocks later.
    pub read_place: Signal<In, Bits<8>>,
    pub record: Signal<Out, SentPacket>,
    pub write: Signal<In, Bit>,
    pub write_qp: Signal<In, Bits<Q>>,
    pub write_place: Signal<In, Bits<8>>,
    pub write_data: Signal<In, SentPacket>,

    /// Address is queue pair, place.
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

        // As long as the memory takes.
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
