//! Payload length rules that depend only on the packet and the path MTU (IBTA volume 1, 9.7.4.1.6; `docs/rx_lane.md`,
//! MRC payload rules). Rules that depend on the message in progress are checked in `rc_track`.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::frame::{PacketHeaders, Position};
use stellar_wire::mtu::LENGTH_BITS;

/// Path MTU in bytes. It is wide enough for all values of the field, although only 8 to 13 are valid.
#[hdl_fn]
pub fn path_mtu(mtu_log2: Bits<4>) -> Bits<32> {
    bits::<32>(1) << mtu_log2
}

/// Whether the payload length is allowed at the position of the packet. In MRC every packet carries DMALen, so middle and last packets are
/// compared with it as well. A message has at most 2^31 bytes.
#[hdl_fn]
pub fn payload_fits(headers: PacketHeaders, mtu: Bits<32>) -> Bit {
    let payload = bit_cast::<32, LENGTH_BITS>(headers.payload_length);
    let is_full = payload == mtu;
    let is_within = payload <= mtu;
    let is_longer_than_allowed =
        headers.dma_length.get_bit(31) & headers.dma_length.get_bits::<31>(0).any();
    let message_exceeds_mtu = (headers.dma_length > mtu) & !is_longer_than_allowed;
    // Full packets leave exactly this payload of the message. The path MTU is a power of two.
    let is_rest = !((headers.dma_length ^ payload) & (mtu - 1)).any();
    let is_whole_message = headers.dma_length == payload;
    match headers.position {
        Position::First => is_full & message_exceeds_mtu,
        Position::Middle => is_full & (message_exceeds_mtu | !headers.mrc),
        Position::Last => {
            is_within & payload.any() & ((message_exceeds_mtu & is_rest) | !headers.mrc)
        }
        Position::Only => is_within & is_whole_message,
    }
}
