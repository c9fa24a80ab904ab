//! The time stamp of a probe that has that of its departure.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::layout::{peth, shift_bytes, tseth};
use stellar_wire::{Bth, Header, Ipv4, Ipv6, Udp};

use crate::records::{FrameHeader, Nesting, FRAME_HEADER_BITS};
use crate::wire_order::network_order;

/// Place of a probe's stamp in a frame: its first bit.
const fn stamp_at(tagged: bool, encapsulated: bool, version6: bool) -> usize {
    let ip = if version6 { Ipv6::LEN } else { Ipv4::LEN };
    let extension = shift_bytes(tagged, encapsulated) + ip + Udp::LEN + Bth::LEN;
    8 * (extension + peth::TSETH + tseth::TIMESTAMP)
}

/// Returns the headers with the time in place of their stamp, if they are nested like this.
#[hdl_fn]
fn stamped_if(bytes: Bits<1232>, here: Bit, at: usize, now: Bits<16>) -> Bits<1232> {
    let place = bit_cast::<FRAME_HEADER_BITS, 16>(Bits::<16>::mask()) << (at as u64);
    let stamp = bit_cast::<FRAME_HEADER_BITS, 16>(network_order(now)) << (at as u64);
    if here {
        (bytes & !place) | stamp
    } else {
        bytes
    }
}

/// Returns the headers of a frame that departs at time `now`, the low bits of ticks of 8 ns. 2 levels.
#[hdl_fn]
pub fn departing(header: FrameHeader, now: Bits<16>) -> Bits<1232> {
    let nesting: Nesting = header.layout.nesting;
    let stamped = header.layout.stamped;
    let tagged = nesting.tagged;
    let inner = nesting.encapsulated;
    let version6 = nesting.version6;
    let in4 = stamped & !inner & !version6;
    let in6 = stamped & !inner & version6;
    let outer4 = stamped & inner & !version6;
    let outer6 = stamped & inner & version6;
    let at4 = stamped_if(
        header.bytes,
        in4 & !tagged,
        stamp_at(false, false, false),
        now,
    );
    let at6 = stamped_if(at4, in6 & !tagged, stamp_at(false, false, true), now);
    let over4 = stamped_if(at6, outer4 & !tagged, stamp_at(false, true, false), now);
    let over6 = stamped_if(over4, outer6 & !tagged, stamp_at(false, true, true), now);
    let tag4 = stamped_if(over6, in4 & tagged, stamp_at(true, false, false), now);
    let tag6 = stamped_if(tag4, in6 & tagged, stamp_at(true, false, true), now);
    let tag_over4 = stamped_if(tag6, outer4 & tagged, stamp_at(true, true, false), now);
    stamped_if(tag_over4, outer6 & tagged, stamp_at(true, true, true), now)
}
