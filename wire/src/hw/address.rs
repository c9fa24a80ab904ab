//! Where the frames of a queue pair go, and what all frames of a port have in common: the tables of framing (`docs/tx_lane.md`).

use hdl_macros::FromBits;
use rust_hdl::prelude::*;

/// The way from a queue pair to its peer by one port. Numbers as in [`super::tx::TxPacket`]: the first byte on the wire is the most significant.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct, FromBits)]
pub struct FrameAddress {
    /// Queue pair at the peer.
    pub peer_qp: Bits<24>,
    pub pkey: Bits<16>,
    /// Of the next hop.
    pub peer_mac: Bits<48>,
    /// IPv6; otherwise IPv4. The port's own address is of the same version.
    pub version6: Bit,
    /// IPv4: in the low 32 bits.
    pub peer_ip: Bits<128>,
    /// Frames are encapsulated in an outer IPv6 header (H.Encaps.Red) whose destination is `path` with the uplink added. Only over IPv6.
    pub srv6: Bit,
    /// uSID container for this port's plane and uplink 0, as an address (`docs/multipath.md`, source routes).
    pub path: Bits<128>,
    /// Place of the T1 switch's uSID, to which the uplink is added, 0 (first) to 5. The sum does not carry.
    pub t1: Bits<3>,
    /// Lowest bit of the uplink in the entropy value.
    pub uplink_low: Bits<5>,
    /// Bits of the uplink, 1 to 16.
    pub uplink_bits: Bits<5>,
}

/// Registers of a port.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct, FromBits)]
pub struct PortConfig {
    pub mac: Bits<48>,
    /// IPv4: in the low 32 bits.
    pub ip: Bits<128>,
    /// Code point of data packets and probes, which are ECN-capable.
    pub data_dscp: Bits<6>,
    /// Code point of ACK, SACK and NACK, which are not.
    pub control_dscp: Bits<6>,
    /// UDP destination port.
    pub udp_port: Bits<16>,
    /// Of every IP header; IPv4: time to live.
    pub hop_limit: Bits<8>,
}
