//! One of four banks of transmission records.

use hdl_macros::hdl;
use hdl_primitives::ram::UltraRam;
use hdl_primitives::FlowSnk;
use rust_hdl::prelude::*;
use stellar_wire::hw::window::{Departure, SentPacket};

use crate::blocks::{lowest_of_8, Block};

/// log2 of the slots of a block in a bank.
const PLACE_BITS: u64 = 3;

/// Holds the records of every fourth slot, and when its packet last departed by each port. A walk reads the records of the slots that a SACK acknowledges, one per cycle.
///
/// Entry p of a block in a bank belongs to slot 4p + b of the block, b being the number of the bank. `S` = `B` + 3. LUT levels: read address 4, `last` 2.
#[derive(LogicBlock, Default)]
pub struct SentBank<const B: usize, const S: usize> {
    pub clock: Signal<In, Clock>,
    /// Aborts the walk.
    pub reset: Signal<In, Bit>,

    /// Loads the bank's 8 slots of the next block. It must be low between a load and its `last`; it may be high with `last`.
    pub load: Signal<In, Bit>,
    pub slots: Signal<In, Bits<8>>,
    /// The slots of `slots` that are marked lost. Other bits are ignored.
    pub lost: Signal<In, Bits<8>>,
    /// The block that was loaded. It is stable until `last`.
    pub block: Signal<In, Block>,
    /// After this cycle all slots of the block have been addressed.
    pub last: Signal<Out, Bit>,
    /// A slot of the block is addressed in this cycle.
    pub walks: Signal<Out, Bit>,
    /// `record` belongs to a slot of the walk; the slot was marked lost.
    pub taken: Signal<Out, Bit>,
    pub taken_lost: Signal<Out, Bit>,
    /// The record of a slot of the walk comes after this cycle.
    pub busy: Signal<Out, Bit>,

    /// Entry to read while no walk is in progress. `record` is valid two cycles later.
    pub read_block: Signal<In, Block>,
    pub read_place: Signal<In, Bits<3>>,
    pub record: Signal<Out, SentPacket>,
    /// When the packet of `record` departed by the port of its path.
    pub departed: Signal<Out, Bits<32>>,
    pub write: Signal<In, Bit>,
    pub write_block: Signal<In, Block>,
    pub write_place: Signal<In, Bits<3>>,
    pub write_data: Signal<In, SentPacket>,
    /// Packets that depart now by port 0 and by port 1. Those of other banks are ignored.
    pub departs: [FlowSnk<Departure>; 2],
    pub now: Signal<In, Bits<32>>,
    /// Number of the bank.
    pub number: Signal<In, Bits<2>>,

    /// The address is block, entry.
    sent: UltraRam<SentPacket, S>,
    departures: [UltraRam<Bits<32>, S>; 2],
    left: DFF<Bits<8>>,
    lost_slots: DFF<Bits<8>>,
    read: DFF<Bit>,
    read_lost: DFF<Bit>,
    comes: DFF<Bit>,
    comes_lost: DFF<Bit>,
}

impl<const B: usize, const S: usize> Logic for SentBank<B, S> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, left, lost_slots, read, read_lost, comes, comes_lost);
        clock!(self, clock, sent);
        let left = self.left.q.val();
        let rest = left & (left - 1);
        let slot = lowest_of_8(left);
        let walks = left.any();
        self.left.d.next = rest;
        if self.load.val() {
            self.left.d.next = self.slots.val();
            self.lost_slots.d.next = self.lost.val();
        }
        self.last.next = !rest.any();

        let place = if walks { slot } else { self.read_place.val() };
        let block = if walks {
            self.block.val()
        } else {
            self.read_block.val()
        };
        let row = bit_cast::<S, B>(block.get_bits::<B>(0)) << PLACE_BITS;
        let read_address = row | bit_cast::<S, 3>(place);
        self.sent.read_address.next = read_address;
        self.sent.write_enable.next = self.write.val();
        let write_row = bit_cast::<S, B>(self.write_block.val().get_bits::<B>(0)) << PLACE_BITS;
        self.sent.write_address.next = write_row | bit_cast::<S, 3>(self.write_place.val());
        self.sent.write_data.next = self.write_data.val();
        let record = self.sent.read_data.val();
        self.record.next = record;
        for p in 0..2 {
            let departure = self.departs[p].record.val();
            let own = departure.slot.get_bits::<2>(0) == self.number.val();
            let row = bit_cast::<S, B>(departure.block.get_bits::<B>(0)) << PLACE_BITS;
            self.departures[p].clock.next = self.clock.val();
            self.departures[p].read_address.next = read_address;
            self.departures[p].write_enable.next = self.departs[p].valid.val() & own;
            self.departures[p].write_address.next =
                row | bit_cast::<S, 3>(departure.slot.get_bits::<3>(2));
            self.departures[p].write_data.next = self.now.val();
        }
        self.departed.next = if record.ev.get_bit(0) {
            self.departures[1].read_data.val()
        } else {
            self.departures[0].read_data.val()
        };

        // Delay of the memory.
        self.read.d.next = walks;
        self.read_lost.d.next = self.lost_slots.q.val().get_bit(slot.index());
        self.comes.d.next = self.read.q.val();
        self.comes_lost.d.next = self.read_lost.q.val();
        self.taken.next = self.comes.q.val();
        self.taken_lost.next = self.comes_lost.q.val();
        self.walks.next = walks;
        self.busy.next = walks | self.read.q.val();

        if self.reset.val() {
            self.left.d.next = bits::<8>(0);
            self.read.d.next = false;
            self.comes.d.next = false;
        }
    }
}
