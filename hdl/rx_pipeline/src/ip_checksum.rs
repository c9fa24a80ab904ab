//! IPv4 header checksum (RFC 1071) of a header without options.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::{Header, Ipv4};

use crate::network_order::be16;

/// Bits of the header.
pub const HEADER_BITS: usize = 8 * Ipv4::LEN;
/// Cycles from the header to the verdict.
pub const LATENCY: usize = 4;

const WORDS: usize = Ipv4::LEN / 2;

/// Adds the ten 16-bit words of the header in a tree, then folds the carries. It accepts one header per cycle.
/// LUT levels per stage: one add of up to 20 bits (a carry chain, 2), a three-input add in the second (3); the comparison behind the last
/// register 3.
#[derive(LogicBlock, Default)]
pub struct IpChecksum {
    pub clock: Signal<In, Clock>,
    /// Byte 0 of the header in bits 7:0.
    pub in_header: Signal<In, Bits<HEADER_BITS>>,
    /// The ones' complement sum of the header, checksum included, is all ones.
    pub out_good: Signal<Out, Bit>,

    pairs: [DFF<Bits<20>>; 5],
    halves: [DFF<Bits<20>>; 2],
    total: DFF<Bits<20>>,
    folded: DFF<Bits<17>>,
}

impl Logic for IpChecksum {
    #[hdl]
    fn update(&mut self) {
        let header = self.in_header.val();
        for i in 0..WORDS / 2 {
            self.pairs[i].clock.next = self.clock.val();
            self.pairs[i].d.next = bit_cast::<20, 16>(be16(header, 4 * i))
                + bit_cast::<20, 16>(be16(header, 4 * i + 2));
        }
        for i in 0..2 {
            self.halves[i].clock.next = self.clock.val();
        }
        dff_setup!(self, clock, total, folded);
        self.halves[0].d.next = self.pairs[0].q.val() + self.pairs[1].q.val();
        self.halves[1].d.next =
            self.pairs[2].q.val() + self.pairs[3].q.val() + self.pairs[4].q.val();
        self.total.d.next = self.halves[0].q.val() + self.halves[1].q.val();
        let total = self.total.q.val();
        self.folded.d.next = bit_cast::<17, 16>(total.get_bits::<16>(0))
            + bit_cast::<17, 4>(total.get_bits::<4>(16));
        // There are at most nine carries. A second fold is needed only for a sum above 0xffff, whose low half cannot be all ones.
        self.out_good.next = self.folded.q.val() == 0xffff;
    }
}
