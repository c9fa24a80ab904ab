//! Transmission records of all queue pairs.

use hdl_macros::{hdl, hdl_fn};
use rust_hdl::prelude::*;
use stellar_wire::hw::window::SentPacket;
use stellar_wire::mtu::{LENGTH_BITS, MAX_PAYLOAD};

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

/// Returns the slots of a word that lie in a bank.
#[hdl_fn]
fn of_bank(slots: Bits<64>, bank: usize) -> Bits<16> {
    let mut own = bits::<16>(0);
    for i in 0..16 {
        own = own.replace_bit(i, slots.get_bit(4 * i + bank));
    }
    own
}

/// Stores the transmission records of all queue pairs in four banks. It writes or reads one record per cycle. During a walk it adds up the lengths of up to four packets per cycle that a SACK acknowledges.
///
/// LUT levels: behind the memory 3 and two carry chains.
#[derive(LogicBlock, Default)]
pub struct SentMemory<const Q: usize, const S: usize> {
    pub clock: Signal<In, Clock>,
    /// Aborts the walk.
    pub reset: Signal<In, Bit>,
    /// Queue pair of the reads in this cycle.
    pub qp: Signal<In, Bits<Q>>,

    // Walk over the slots of a word: see `SentBank`. Each bank walks independently.
    pub load: Signal<In, Bit>,
    pub slots: Signal<In, Bits<64>>,
    pub lost: Signal<In, Bits<64>>,
    pub word: Signal<In, Bits<4>>,
    pub last: Signal<Out, Bit>,
    /// Sum over the records addressed 3 cycles ago.
    pub sum_valid: Signal<Out, Bit>,
    pub sum: Signal<Out, LengthSum>,
    /// There will be a sum after this cycle. Slots that are loaded in this cycle do not count.
    pub busy: Signal<Out, Bit>,

    /// Slot to read while no walk is in progress. `record` is valid two cycles later.
    pub read_slot: Signal<In, Bits<10>>,
    pub record: Signal<Out, SentPacket>,
    pub write: Signal<In, Bit>,
    pub write_qp: Signal<In, Bits<Q>>,
    pub write_slot: Signal<In, Bits<10>>,
    pub write_data: Signal<In, SentPacket>,

    banks: [SentBank<Q, S>; BANKS],
    /// Banks that were read one cycle and two cycles ago.
    read_bank: DFF<Bits<2>>,
    record_bank: DFF<Bits<2>>,
    summed: DFF<Bit>,
    total: DFF<LengthSum>,
}

impl<const Q: usize, const S: usize> Logic for SentMemory<Q, S> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, read_bank, record_bank, summed, total);
        let read_slot = self.read_slot.val();
        let write_slot = self.write_slot.val();
        for b in 0..BANKS {
            self.banks[b].clock.next = self.clock.val();
            self.banks[b].reset.next = self.reset.val();
            self.banks[b].qp.next = self.qp.val();
            self.banks[b].load.next = self.load.val();
            self.banks[b].slots.next = of_bank(self.slots.val(), b);
            self.banks[b].lost.next = of_bank(self.lost.val(), b);
            self.banks[b].word.next = self.word.val();
            self.banks[b].read_place.next = read_slot.get_bits::<8>(2);
            self.banks[b].write.next =
                self.write.val() & (write_slot.get_bits::<2>(0) == (b as u64));
            self.banks[b].write_qp.next = self.write_qp.val();
            self.banks[b].write_place.next = write_slot.get_bits::<8>(2);
            self.banks[b].write_data.next = self.write_data.val();
        }
        self.read_bank.d.next = read_slot.get_bits::<2>(0);
        self.record_bank.d.next = self.read_bank.q.val();
        self.record.next = match self.record_bank.q.val().to_u8() {
            0 => self.banks[0].record.val(),
            1 => self.banks[1].record.val(),
            2 => self.banks[2].record.val(),
            _ => self.banks[3].record.val(),
        };

        let mut last = self.banks[0].last.val();
        let mut busy = self.banks[0].busy.val();
        let mut taken = self.banks[0].taken.val();
        for b in 1..BANKS {
            last = last & self.banks[b].last.val();
            busy = busy | self.banks[b].busy.val();
            taken = taken | self.banks[b].taken.val();
        }
        self.last.next = last;
        self.busy.next = busy;
        let low = together(
            length_of(
                self.banks[0].taken.val(),
                self.banks[0].taken_lost.val(),
                self.banks[0].record.val(),
            ),
            length_of(
                self.banks[1].taken.val(),
                self.banks[1].taken_lost.val(),
                self.banks[1].record.val(),
            ),
        );
        let high = together(
            length_of(
                self.banks[2].taken.val(),
                self.banks[2].taken_lost.val(),
                self.banks[2].record.val(),
            ),
            length_of(
                self.banks[3].taken.val(),
                self.banks[3].taken_lost.val(),
                self.banks[3].record.val(),
            ),
        );
        self.total.d.next = together(low, high);
        self.summed.d.next = taken & !self.reset.val();
        self.sum_valid.next = self.summed.q.val();
        self.sum.next = self.total.q.val();
    }
}
