//! IPv4 header checksum (RFC 1071) of a header to be sent.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::hw::tx::TxIp;
use stellar_wire::ip::PROTO_UDP;

/// Cycles from the header's fields to the checksum.
pub const LATENCY: usize = 5;
/// Cycles from the fields to the input of the total length.
pub const LENGTH_AFTER: usize = 2;

/// Version 4, five words.
pub const VERSION_IHL: u64 = 0x45;
/// Flags and fragment offset: do not fragment.
pub const DO_NOT_FRAGMENT: u64 = 0x4000;

/// Computes the IPv4 header checksum (RFC 1071) of one header per cycle. Nine half-words are summed in a tree, then the carries are folded in twice. LUT levels: every stage is one sum of up to 20
/// bits (a carry chain, 2), with three inputs where the length is added (3).
#[derive(LogicBlock, Default)]
pub struct IpChecksum {
    pub clock: Signal<In, Clock>,
    pub in_ip: Signal<In, TxIp>,
    /// [`LENGTH_AFTER`] cycles after `in_ip`.
    pub in_total_length: Signal<In, Bits<16>>,
    pub out_checksum: Signal<Out, Bits<16>>,

    pairs: [DFF<Bits<20>>; 4],
    halves: [DFF<Bits<20>>; 2],
    total: DFF<Bits<20>>,
    folded: DFF<Bits<17>>,
    checksum: DFF<Bits<16>>,
}

impl Logic for IpChecksum {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, total, folded, checksum);
        for i in 0..4 {
            self.pairs[i].clock.next = self.clock.val();
        }
        for i in 0..2 {
            self.halves[i].clock.next = self.clock.val();
        }
        let ip = self.in_ip.val();
        let service = bits::<20>(VERSION_IHL << 8)
            | (bit_cast::<20, 6>(ip.dscp) << 2)
            | bit_cast::<20, 2>(ip.ecn);
        let hops = (bit_cast::<20, 8>(ip.hop_limit) << 8) | bits::<20>(u64::from(PROTO_UDP));
        let source_low = bit_cast::<20, 16>(ip.source.get_bits::<16>(0));
        let source_high = bit_cast::<20, 16>(ip.source.get_bits::<16>(16));
        let destination_low = bit_cast::<20, 16>(ip.destination.get_bits::<16>(0));
        let destination_high = bit_cast::<20, 16>(ip.destination.get_bits::<16>(16));
        self.pairs[0].d.next = service + bit_cast::<20, 16>(ip.identification);
        self.pairs[1].d.next = hops + source_high;
        self.pairs[2].d.next = source_low + destination_high;
        self.pairs[3].d.next = destination_low + bits::<20>(DO_NOT_FRAGMENT);

        self.halves[0].d.next = self.pairs[0].q.val() + self.pairs[1].q.val();
        self.halves[1].d.next = self.pairs[2].q.val() + self.pairs[3].q.val();

        let length = bit_cast::<20, 16>(self.in_total_length.val());
        self.total.d.next = self.halves[0].q.val() + self.halves[1].q.val() + length;

        let total = self.total.q.val();
        self.folded.d.next = bit_cast::<17, 16>(total.get_bits::<16>(0))
            + bit_cast::<17, 4>(total.get_bits::<4>(16));

        let folded = self.folded.q.val();
        self.checksum.d.next =
            !(folded.get_bits::<16>(0) + bit_cast::<16, 1>(folded.get_bits::<1>(16)));
        self.out_checksum.next = self.checksum.q.val();
    }
}
