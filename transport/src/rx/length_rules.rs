//! Payload lengths each message position allows (InfiniBand architecture volume 1, section 9.7.4.1.6 for RC). A message has at most 2^31 bytes (9.4.1).

use stellar_wire::Position;

use super::PacketHeaders;
use crate::requester::MAX_MESSAGE;

/// Whether an MRC packet's payload fits its position. DMALen is the length of the whole message in every packet, so the last packet has what full packets leave of it: a
/// completion reports DMALen to the consumer.
pub fn check_mrc_length(headers: &PacketHeaders, mtu: u32) -> bool {
    let payload = u32::from(headers.payload_length);
    let length = headers.dma_length();
    let longer = length > mtu && length <= MAX_MESSAGE;
    match headers.position {
        Position::First | Position::Middle => payload == mtu && longer,
        Position::Last => {
            (1..=mtu).contains(&payload) && longer && (length - payload).is_multiple_of(mtu)
        }
        Position::Only => payload <= mtu && length == payload,
    }
}

/// Whether an RC packet's payload fits its position and the `left` bytes its message still lacks.
/// Only the DMALen of first and only exists.
pub fn check_rc_length(headers: &PacketHeaders, mtu: u32, left: u32) -> bool {
    let payload = u32::from(headers.payload_length);
    match headers.position {
        Position::First => {
            payload == mtu && headers.dma_length() > mtu && headers.dma_length() <= MAX_MESSAGE
        }
        Position::Middle => payload == mtu && left > mtu,
        Position::Last => (1..=mtu).contains(&payload) && left == payload,
        Position::Only => payload <= mtu && headers.dma_length() == payload,
    }
}
