//! Where header fields lie, in bytes from the start of their header. Lengths of headers are those of `stellar_wire`.

use stellar_wire::mrc::{Meth, Tseth};
use stellar_wire::{icrc, Bth, Ethernet, Header, ImmDt, Ipv6, Reth, Udp, Vlan};

/// Ethernet II.
pub mod ethernet {
    pub const ETHERTYPE: usize = 12;
}

/// 802.1Q tag, counted from the byte after the EtherType that announces it.
pub mod vlan {
    pub const ETHERTYPE: usize = 2;
}

/// IPv4 (RFC 791).
pub mod ipv4 {
    pub const VERSION_IHL: usize = 0;
    pub const TOS: usize = 1;
    pub const TOTAL_LENGTH: usize = 2;
    pub const FRAGMENT: usize = 6;
    pub const TTL: usize = 8;
    pub const PROTOCOL: usize = 9;
    pub const CHECKSUM: usize = 10;
}

/// IPv6 (RFC 8200). The traffic class lies across bytes 0 and 1, the flow label in the low 20 bits of bytes 1 to 3.
pub mod ipv6 {
    pub const VERSION: usize = 0;
    pub const TRAFFIC_CLASS_LOW: usize = 1;
    /// The low 16 bits of the flow label.
    pub const FLOW_LABEL_LOW: usize = 2;
    pub const PAYLOAD_LENGTH: usize = 4;
    pub const NEXT_HEADER: usize = 6;
    pub const HOP_LIMIT: usize = 7;
}

/// UDP (RFC 768).
pub mod udp {
    pub const SOURCE_PORT: usize = 0;
    pub const DESTINATION_PORT: usize = 2;
    pub const LENGTH: usize = 4;
    pub const CHECKSUM: usize = 6;
}

/// Base transport header (IBTA volume 1, 9.2; bits RTX and TSETH of byte 8 from MRC 1.0).
pub mod bth {
    pub const OPCODE: usize = 0;
    /// Solicited, migration, pad count, transport version.
    pub const FLAGS: usize = 1;
    pub const PKEY: usize = 2;
    /// Congestion bits, which switches may change.
    pub const CONGESTION: usize = 4;
    pub const DEST_QP: usize = 5;
    /// Acknowledge request, RTX, TSETH.
    pub const ACK_REQ: usize = 8;
    pub const PSN: usize = 9;
}

/// RDMA extended transport header.
pub mod reth {
    pub const VA: usize = 0;
    pub const RKEY: usize = 8;
    pub const DMA_LENGTH: usize = 12;
}

/// MRC message numbers.
pub mod meth {
    pub const RQMSN: usize = 0;
    pub const MSN: usize = 2;
}

/// UDP to the last extension header of the longest packet: MRC last or only with time stamp and immediate.
pub const TRANSPORT_BYTES: usize =
    Udp::LEN + Bth::LEN + Meth::LEN + Tseth::LEN + Reth::LEN + ImmDt::LEN;
/// Bits of a window on [`TRANSPORT_BYTES`].
pub const TRANSPORT_BITS: usize = 8 * TRANSPORT_BYTES;
/// Bits of a window on all headers from the first IP byte on.
pub const WINDOW_BITS: usize = 8 * (Ipv6::LEN + TRANSPORT_BYTES);
/// Bytes of a RoCE datagram that are never payload or pad, without extension headers.
pub const DATAGRAM_OVERHEAD: usize = Udp::LEN + Bth::LEN + icrc::LEN;

/// Bytes before the first IP header: untagged, tagged.
pub const ETHERNET_BYTES: [usize; 2] = [Ethernet::LEN, Ethernet::LEN + Vlan::LEN];

/// Bytes before the IP header the lane works on, by whether the frame is tagged and whether it is encapsulated.
pub const fn shift_bytes(tagged: bool, encapsulated: bool) -> usize {
    let ethernet = ETHERNET_BYTES[tagged as usize];
    if encapsulated {
        ethernet + Ipv6::LEN
    } else {
        ethernet
    }
}

/// Longest IP packet the lane stores, in bytes: the largest payload, all headers, and room for neighbours' jumbo frames
/// to be recognised for what they are. A whole number of beats of either lane width.
pub const MAX_IP_BYTES: usize = 4352;
