//! Records between the blocks of the transmit lane.

use rust_hdl::prelude::*;
use stellar_wire::hw::layout::shift_bytes;
use stellar_wire::mrc::{CcState, Seth};
use stellar_wire::{Bth, Header, Ipv6, Udp};

/// Bytes from the IP header to the last extension header, at most: a SACK over IPv6.
pub const PACKET_HEADER_BYTES: usize = Ipv6::LEN + Udp::LEN + Bth::LEN + Seth::LEN + CcState::LEN;
/// Bits of [`PACKET_HEADER_BYTES`].
pub const PACKET_HEADER_BITS: usize = 8 * PACKET_HEADER_BYTES;
/// Bytes of all headers, at most: those, a tag and an outer IPv6 header.
pub const FRAME_HEADER_BYTES: usize = shift_bytes(true, true) + PACKET_HEADER_BYTES;
/// Bits of [`FRAME_HEADER_BYTES`].
pub const FRAME_HEADER_BITS: usize = 8 * FRAME_HEADER_BYTES;

// Struct fields need plain numbers.
const _: () = assert!(PACKET_HEADER_BITS == 768 && FRAME_HEADER_BITS == 1232);

/// The headers before the IP header of the RoCE packet, and its IP version. The invariant CRC needs them.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Nesting {
    /// One 802.1Q tag.
    pub tagged: Bit,
    /// The packet is inside an outer IPv6 header.
    pub encapsulated: Bit,
    pub version6: Bit,
}

/// Positions of the parts of a frame. Beats count from 0; a place in a beat is a byte number.
///
/// Ethernet is 14 or 18 bytes and everything behind it a multiple of four, so headers and pad end at 2 modulo 4, and never at the end of a beat.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct FrameLayout {
    pub nesting: Nesting,
    /// Beat and place of the first byte of payload, also of an empty one.
    pub payload_beat: Bits<8>,
    pub payload_at: Bits<7>,
    /// Beats of payload in the payload buffer, 0 to 128.
    pub payload_beats: Bits<8>,
    /// There is payload. The layout comes from a block RAM, so nothing has to be computed behind it to know.
    pub has_payload: Bit,
    /// Beat and place after the last byte of payload.
    pub end_beat: Bits<8>,
    pub end_at: Bits<7>,
    /// Beat and place of the first byte of the iCRC.
    pub icrc_beat: Bits<8>,
    pub icrc_at: Bits<7>,
    /// Last beat of the frame, and its bytes.
    pub last_beat: Bits<8>,
    pub last_bytes: Bits<8>,
}

/// All headers of a frame, from the destination MAC address on, and its layout. Bytes beyond the headers are zero.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct FrameHeader {
    pub layout: FrameLayout,
    pub bytes: Bits<1232>,
}

/// The flags beside the data of a beat.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TxBeat {
    pub nesting: Nesting,
    /// Beat 0, beat 1.
    pub first: Bit,
    pub second: Bit,
    pub last: Bit,
    /// Valid bytes, iCRC included; full except in the last beat.
    pub bytes: Bits<8>,
    /// The iCRC begins in this beat, at `icrc_at`.
    pub icrc: Bit,
    pub icrc_at: Bits<7>,
    /// The beat contains only the second half of the iCRC.
    pub icrc_rest: Bit,
}

/// The flags beside the data in the output FIFO.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct MacBeat {
    pub bytes: Bits<8>,
    pub last: Bit,
}
