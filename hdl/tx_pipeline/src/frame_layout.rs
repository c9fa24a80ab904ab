//! Lengths of a frame, and the positions of its parts in beats.

use hdl_macros::hdl;
use hdl_primitives::{Checked, Parameters};
use rust_hdl::prelude::*;
use stellar_wire::hw::layout::shift_bytes;
use stellar_wire::mtu::LENGTH_BITS;
use stellar_wire::{icrc, Bth, Header, Ipv4, Ipv6, Udp};

use crate::records::{FrameLayout, Nesting};

/// Cycles from the record to the UDP length.
pub const LENGTH_LATENCY: usize = 3;
/// Cycles from the record to the layout.
pub const LATENCY: usize = 5;
/// Cycles from the record to the input of the extension headers' length.
pub const WORDS_AFTER: usize = 2;

/// Words of four bytes in UDP, BTH and iCRC.
const FIXED_WORDS: u64 = ((Udp::LEN + Bth::LEN + icrc::LEN) / 4) as u64;

/// Bytes of all headers but the extension headers.
fn header_bytes(nesting: usize) -> u64 {
    let ip = if nesting & 4 != 0 {
        Ipv6::LEN
    } else {
        Ipv4::LEN
    };
    (shift_bytes(nesting & 1 != 0, nesting & 2 != 0) + ip + Udp::LEN + Bth::LEN) as u64
}

/// Computes the lengths of a frame and the positions of its parts, in beats of 2^`B` bytes. It accepts one packet per cycle. LUT levels: sums of at most 14 bits (a carry chain, 2); the length of the headers also selects one
/// of 8 constants (1).
#[derive(LogicBlock, Default)]
pub struct FrameLayouts<const B: usize> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    pub in_nesting: Signal<In, Nesting>,
    pub in_payload_length: Signal<In, Bits<LENGTH_BITS>>,
    /// Words of the extension headers, [`WORDS_AFTER`] cycles after the rest.
    pub in_words: Signal<In, Bits<4>>,

    /// [`LENGTH_LATENCY`] cycles after the record.
    pub out_udp_length: Signal<Out, Bits<16>>,
    pub out_layout: Signal<Out, FrameLayout>,

    // The nesting in each of the cycles after the record.
    nesting: [DFF<Nesting>; 4],
    payload_length: [DFF<Bits<LENGTH_BITS>>; 4],
    /// Payload and pad in words.
    padded: [DFF<Bits<12>>; 4],
    /// Bytes of all headers but the extension headers.
    fixed_bytes: [DFF<Bits<8>>; 2],
    udp_words: DFF<Bits<14>>,
    /// Bytes of all headers.
    header: [DFF<Bits<8>>; 2],
    /// Place after the payload, and of the iCRC.
    end: DFF<Bits<LENGTH_BITS>>,
    icrc: DFF<Bits<LENGTH_BITS>>,
    layout: DFF<FrameLayout>,
}

impl<const B: usize> Parameters for FrameLayouts<B> {
    fn check() {
        assert!(
            B == 6 || B == 7,
            "FrameLayouts<{B}>: use 6 (lanes of 512 bits) or 7 (1,024)"
        );
    }
}

impl<const B: usize> Logic for FrameLayouts<B> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, udp_words, end, icrc, layout);
        for i in 0..LATENCY - 1 {
            self.nesting[i].clock.next = self.clock.val();
            self.payload_length[i].clock.next = self.clock.val();
            self.padded[i].clock.next = self.clock.val();
        }
        for i in 0..2 {
            self.fixed_bytes[i].clock.next = self.clock.val();
            self.header[i].clock.next = self.clock.val();
        }
        for i in 1..LATENCY - 1 {
            self.nesting[i].d.next = self.nesting[i - 1].q.val();
            self.payload_length[i].d.next = self.payload_length[i - 1].q.val();
            self.padded[i].d.next = self.padded[i - 1].q.val();
        }

        // Cycles 1 and 2: values that do not depend on the extension headers.
        let nesting = self.in_nesting.val();
        let index = bit_cast::<3, 1>(nesting.tagged.into())
            | (bit_cast::<3, 1>(nesting.encapsulated.into()) << 1)
            | (bit_cast::<3, 1>(nesting.version6.into()) << 2);
        let mut fixed = bits::<8>(0);
        for i in 0..8 {
            let this = if index == i as u64 {
                bits::<8>(header_bytes(i))
            } else {
                bits::<8>(0)
            };
            fixed = fixed | this;
        }
        self.nesting[0].d.next = nesting;
        self.payload_length[0].d.next = self.in_payload_length.val();
        self.padded[0].d.next =
            bit_cast::<12, LENGTH_BITS>((self.in_payload_length.val() + 3) >> 2);
        self.fixed_bytes[0].d.next = fixed;
        self.fixed_bytes[1].d.next = self.fixed_bytes[0].q.val();

        // Cycle 3: lengths.
        let words = self.in_words.val();
        self.udp_words.d.next = bit_cast::<14, 12>(self.padded[1].q.val())
            + bit_cast::<14, 4>(words)
            + bits::<14>(FIXED_WORDS);
        self.header[0].d.next = self.fixed_bytes[1].q.val() + (bit_cast::<8, 4>(words) << 2);

        // Cycle 4: places.
        let header = bit_cast::<LENGTH_BITS, 8>(self.header[0].q.val());
        self.header[1].d.next = self.header[0].q.val();
        self.end.d.next = header + self.payload_length[2].q.val();
        self.icrc.d.next = header + (bit_cast::<LENGTH_BITS, 12>(self.padded[2].q.val()) << 2);

        // Cycle 5: beats.
        let at_mask = bits::<LENGTH_BITS>((1 << B) - 1);
        let header = bit_cast::<LENGTH_BITS, 8>(self.header[1].q.val());
        let end = self.end.q.val();
        let icrc = self.icrc.q.val();
        let last = icrc + bits::<LENGTH_BITS>((icrc::LEN - 1) as u64);
        let payload = self.payload_length[3].q.val() + at_mask;
        self.layout.d.next = FrameLayout {
            nesting: self.nesting[3].q.val(),
            payload_beat: bit_cast::<8, LENGTH_BITS>(header >> (B as u64)),
            payload_at: bit_cast::<7, LENGTH_BITS>(header & at_mask),
            payload_beats: bit_cast::<8, LENGTH_BITS>(payload >> (B as u64)),
            has_payload: self.payload_length[3].q.val().any(),
            end_beat: bit_cast::<8, LENGTH_BITS>(end >> (B as u64)),
            end_at: bit_cast::<7, LENGTH_BITS>(end & at_mask),
            icrc_beat: bit_cast::<8, LENGTH_BITS>(icrc >> (B as u64)),
            icrc_at: bit_cast::<7, LENGTH_BITS>(icrc & at_mask),
            last_beat: bit_cast::<8, LENGTH_BITS>(last >> (B as u64)),
            last_bytes: bit_cast::<8, LENGTH_BITS>((last & at_mask) + 1),
        };

        self.out_udp_length.next = bit_cast::<16, 14>(self.udp_words.q.val()) << 2;
        self.out_layout.next = self.layout.q.val();
    }
}
