//! Counts what of each epoch has not ended.

use hdl_macros::{clock, hdl, hdl_fn};
use rust_hdl::prelude::*;
use stellar_wire::hw::fence::EpochEnd;

/// Sources of uses that begin: locations of payloads, packets without payload in memory of two engines, reads of send queue entries of two engines, and control
/// packets of two ports.
pub const BEGINS: usize = 7;
/// Sources of uses that end: locations that are refused, or dropped by two engines; reads of payload by two ports, packets without one by two ports, reads of
/// send queue entries by two endpoints, and control packets by two engines.
pub const ENDS: usize = 11;
/// Bits of a count. At most one read of entries for each of 1,024 queue pairs is under way, 64 packets in each of four queues, a burst of 32 packets in each
/// engine, and 128 packets behind them in each lane: 1,600 with what is in registers. Control packets are 512 for each port and 16 for each engine: 2,700 in all.
const COUNT_BITS: usize = 12;

/// Returns how many of twelve are set. Levels: 2.
#[hdl_fn]
fn ones(set: Bits<12>) -> Bits<4> {
    let mut low = bits::<4>(0);
    let mut high = bits::<4>(0);
    for bit in 0..6 {
        low = low + bit_cast::<4, 1>(set.get_bit(bit).into());
        high = high + bit_cast::<4, 1>(set.get_bit(bit + 6).into());
    }
    low + high
}

/// Counts the uses of two epochs. What begins belongs to the current one, what ends says to which one it belongs.
///
/// That a use has begun or ended is known late in a cycle, so it is noted first. A use is in the count three cycles after it began, and out of it three cycles after it
/// ended; its epoch is open from two cycles after it began. LUT levels: 3 (sum of twelve; count, behind a carry chain).
#[derive(LogicBlock, Default)]
pub struct FenceEpochs {
    pub clock: Signal<In, Clock>,
    /// Forgets all uses. Reset whatever began them at the same time.
    pub reset: Signal<In, Bit>,

    /// The current epoch.
    pub epoch: Signal<In, Bit>,
    /// Bit s: a use of source s begins in this cycle.
    pub begun: Signal<In, Bits<BEGINS>>,
    pub ended: [Signal<In, EpochEnd>; ENDS],

    /// Bit e: a use of epoch e has not ended.
    pub open: Signal<Out, Bits<2>>,

    noted_epoch: DFF<Bit>,
    noted_begun: DFF<Bits<BEGINS>>,
    noted_ended: [DFF<EpochEnd>; ENDS],
    begins: [DFF<Bits<4>>; 2],
    ends: [DFF<Bits<4>>; 2],
    counts: [DFF<Bits<COUNT_BITS>>; 2],
}

impl Logic for FenceEpochs {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, noted_epoch, noted_begun);
        clock!(
            self,
            clock,
            noted_ended[..],
            begins[..],
            ends[..],
            counts[..]
        );
        // note
        self.noted_epoch.d.next = self.epoch.val();
        self.noted_begun.d.next = self.begun.val();
        for s in 0..ENDS {
            self.noted_ended[s].d.next = self.ended[s].val();
        }
        let epoch = self.noted_epoch.q.val();
        let begun = ones(bit_cast::<12, BEGINS>(self.noted_begun.q.val()));
        let mut open = bits::<2>(0);
        for e in 0..2 {
            // sum
            self.begins[e].d.next = if epoch == (e == 1) {
                begun
            } else {
                bits::<4>(0)
            };
            let mut of_epoch = bits::<12>(0);
            for s in 0..ENDS {
                let end = self.noted_ended[s].q.val();
                of_epoch = of_epoch.replace_bit(s, end.valid & (end.epoch == (e == 1)));
            }
            self.ends[e].d.next = ones(of_epoch);

            // count
            let count = self.counts[e].q.val();
            let begins = bit_cast::<COUNT_BITS, 4>(self.begins[e].q.val());
            let ends = bit_cast::<COUNT_BITS, 4>(self.ends[e].q.val());
            assert!(
                ends.index() <= count.index() + begins.index(),
                "more uses ended than began"
            );
            self.counts[e].d.next = count + begins - ends;
            open = open.replace_bit(e, count.any() | begins.any());
            if self.reset.val() {
                self.begins[e].d.next = bits(0);
                self.ends[e].d.next = bits(0);
                self.counts[e].d.next = bits(0);
            }
        }
        self.open.next = open;
        if self.reset.val() {
            self.noted_begun.d.next = bits(0);
            for s in 0..ENDS {
                self.noted_ended[s].d.next = EpochEnd::default();
            }
        }
    }
}
