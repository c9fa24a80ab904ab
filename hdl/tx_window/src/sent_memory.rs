//! Transmission records of the blocks of the pool.

use hdl_macros::{hdl, hdl_fn, join};
use hdl_primitives::FlowSnk;
use rust_hdl::prelude::*;
use stellar_wire::hw::window::{Departure, SentPacket};
use stellar_wire::mtu::{LENGTH_BITS, MAX_PAYLOAD};

use crate::blocks::Block;
use crate::sent_bank::SentBank;

/// Number of banks. As many records are read per cycle, if their PSNs differ modulo 4.
pub const BANKS: usize = 4;

/// Width of the payload bytes of one packet from each bank.
pub const SUM_BITS: usize = LENGTH_BITS + 2;
const _: () = assert!(BANKS * MAX_PAYLOAD < 1 << SUM_BITS);

/// Sum over packets that a SACK acknowledges.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct LengthSum {
    pub packets: Bits<3>,
    /// Payload bytes.
    pub bytes: Bits<SUM_BITS>,
    /// Payload bytes of the packets that were in flight.
    pub landed: Bits<SUM_BITS>,
    /// Number of packets that were marked lost.
    pub lost: Bits<3>,
}

/// Returns the sum over one packet, or over none.
#[hdl_fn]
fn length_of(taken: Bit, lost: Bit, record: SentPacket) -> LengthSum {
    let bytes = if taken {
        bit_cast::<SUM_BITS, LENGTH_BITS>(record.length)
    } else {
        bits::<SUM_BITS>(0)
    };
    LengthSum {
        packets: bits::<3>(0).replace_bit(0, taken),
        bytes,
        landed: if lost { bits::<SUM_BITS>(0) } else { bytes },
        lost: bits::<3>(0).replace_bit(0, taken & lost),
    }
}

#[hdl_fn]
fn together(a: LengthSum, b: LengthSum) -> LengthSum {
    LengthSum {
        packets: a.packets + b.packets,
        bytes: a.bytes + b.bytes,
        landed: a.landed + b.landed,
        lost: a.lost + b.lost,
    }
}

/// Returns the slots of a block that lie in a bank.
#[hdl_fn]
fn of_bank(slots: Bits<32>, bank: usize) -> Bits<8> {
    let mut own = bits::<8>(0);
    for i in 0..8 {
        own = own.replace_bit(i, slots.get_bit(4 * i + bank));
    }
    own
}

/// Stores the transmission records of 2^`B` blocks in four banks. It writes or reads one record per cycle. During a walk it adds up the lengths of up to four packets per cycle that a SACK acknowledges.
///
/// LUT levels: behind the memory 3 and two carry chains.
#[derive(LogicBlock, Default)]
pub struct SentMemory<const B: usize, const S: usize> {
    pub clock: Signal<In, Clock>,
    /// Aborts the walk.
    pub reset: Signal<In, Bit>,

    // Walk over the slots of a block: see `SentBank`. Each bank walks independently.
    pub load: Signal<In, Bit>,
    pub slots: Signal<In, Bits<32>>,
    pub lost: Signal<In, Bits<32>>,
    pub block: Signal<In, Block>,
    pub last: Signal<Out, Bit>,
    pub walks: Signal<Out, Bit>,
    /// Sum over the records addressed 3 cycles ago.
    pub sum_valid: Signal<Out, Bit>,
    pub sum: Signal<Out, LengthSum>,
    /// There will be a sum after the next cycle. Slots that are loaded in this cycle do not count.
    pub busy: Signal<Out, Bit>,

    /// Slot to read while no walk is in progress. `record` is valid two cycles later.
    pub read_block: Signal<In, Block>,
    pub read_slot: Signal<In, Bits<5>>,
    pub record: Signal<Out, SentPacket>,
    /// When the packet of `record` departed by the port of its path.
    pub departed: Signal<Out, Bits<32>>,
    /// The packet of `record` counts for the sum; it was marked lost. No record of a walk comes in that cycle.
    pub counts: Signal<In, Bit>,
    pub counts_lost: Signal<In, Bit>,
    pub write: Signal<In, Bit>,
    pub write_block: Signal<In, Block>,
    pub write_slot: Signal<In, Bits<5>>,
    pub write_data: Signal<In, SentPacket>,
    /// Packets that depart now by port 0 and by port 1.
    pub departs: [FlowSnk<Departure>; 2],
    pub now: Signal<In, Bits<32>>,

    banks: [SentBank<B, S>; BANKS],
    /// Banks that were read one cycle and two cycles ago.
    read_bank: DFF<Bits<2>>,
    record_bank: DFF<Bits<2>>,
    summed: DFF<Bit>,
    total: DFF<LengthSum>,
}

impl<const B: usize, const S: usize> Logic for SentMemory<B, S> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, read_bank, record_bank, summed, total);
        let read_slot = self.read_slot.val();
        let write_slot = self.write_slot.val();
        for b in 0..BANKS {
            self.banks[b].clock.next = self.clock.val();
            self.banks[b].reset.next = self.reset.val();
            self.banks[b].load.next = self.load.val();
            self.banks[b].slots.next = of_bank(self.slots.val(), b);
            self.banks[b].lost.next = of_bank(self.lost.val(), b);
            self.banks[b].block.next = self.block.val();
            self.banks[b].read_block.next = self.read_block.val();
            self.banks[b].read_place.next = read_slot.get_bits::<3>(2);
            self.banks[b].write.next =
                self.write.val() & (write_slot.get_bits::<2>(0) == (b as u64));
            self.banks[b].write_block.next = self.write_block.val();
            self.banks[b].write_place.next = write_slot.get_bits::<3>(2);
            self.banks[b].write_data.next = self.write_data.val();
            self.banks[b].number.next = bits::<2>(b as u64);
            join!(
                self,
                departs[0] => banks[b].departs[0],
                departs[1] => banks[b].departs[1],
                now => banks[b].now,
            );
        }
        self.read_bank.d.next = read_slot.get_bits::<2>(0);
        self.record_bank.d.next = self.read_bank.q.val();
        let read_bank = self.record_bank.q.val();
        self.record.next = match read_bank.to_u8() {
            0 => self.banks[0].record.val(),
            1 => self.banks[1].record.val(),
            2 => self.banks[2].record.val(),
            _ => self.banks[3].record.val(),
        };
        self.departed.next = match read_bank.to_u8() {
            0 => self.banks[0].departed.val(),
            1 => self.banks[1].departed.val(),
            2 => self.banks[2].departed.val(),
            _ => self.banks[3].departed.val(),
        };

        let mut last = self.banks[0].last.val();
        let mut walks = self.banks[0].walks.val();
        let mut busy = self.banks[0].busy.val();
        let mut any = self.counts.val() | self.banks[0].taken.val();
        for b in 1..BANKS {
            last = last & self.banks[b].last.val();
            walks = walks | self.banks[b].walks.val();
            busy = busy | self.banks[b].busy.val();
            any = any | self.banks[b].taken.val();
        }
        self.last.next = last;
        self.walks.next = walks;
        self.busy.next = busy;
        let counts = self.counts.val();
        let counts_lost = self.counts_lost.val();
        let counted_0 = counts & (read_bank == 0);
        let counted_1 = counts & (read_bank == 1);
        let counted_2 = counts & (read_bank == 2);
        let counted_3 = counts & (read_bank == 3);
        let low = together(
            length_of(
                self.banks[0].taken.val() | counted_0,
                (self.banks[0].taken_lost.val() & !counted_0) | (counted_0 & counts_lost),
                self.banks[0].record.val(),
            ),
            length_of(
                self.banks[1].taken.val() | counted_1,
                (self.banks[1].taken_lost.val() & !counted_1) | (counted_1 & counts_lost),
                self.banks[1].record.val(),
            ),
        );
        let high = together(
            length_of(
                self.banks[2].taken.val() | counted_2,
                (self.banks[2].taken_lost.val() & !counted_2) | (counted_2 & counts_lost),
                self.banks[2].record.val(),
            ),
            length_of(
                self.banks[3].taken.val() | counted_3,
                (self.banks[3].taken_lost.val() & !counted_3) | (counted_3 & counts_lost),
                self.banks[3].record.val(),
            ),
        );
        self.total.d.next = together(low, high);
        self.summed.d.next = any & !self.reset.val();
        self.sum_valid.next = self.summed.q.val();
        self.sum.next = self.total.q.val();
    }
}
