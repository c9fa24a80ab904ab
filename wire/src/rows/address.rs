//! Where frames go, and what all frames of a port have in common: the tables of framing (`docs/tx_lane.md`).

#[cfg(feature = "hdl")]
use rust_hdl::prelude::*;

/// Bits of the number of an address vector: a card has 4,096 of them at each port. Queue pairs to the same host share one.
pub const VECTOR_BITS: usize = 12;

row! {
    /// An address vector (InfiniBand architecture, volume 1, section 11.2.2): the way to a host by one port. The first byte of an address on the wire is the most
    /// significant.
    pub struct AddressRow => FrameAddress {
        /// MAC address of the next hop.
        peer_mac: u64 => Bits<48>,
        /// IPv6; otherwise IPv4. The port's own address is of the same version.
        version6: bool => Bit,
        /// IPv4: in the low 32 bits.
        /// Frames that come from another address are not from this host.
        peer_ip: u128 => Bits<128>,
        /// Frames are encapsulated in an outer IPv6 header (H.Encaps.Red) whose destination is `path` with the uplink added. Only over IPv6.
        srv6: bool => Bit,
        /// uSID container for this port's plane and uplink 0, as an address (`docs/multipath.md`, source routes).
        path: u128 => Bits<128>,
        /// Place of the T1 switch's uSID, to which the uplink is added, 0 (first) to 5. The sum does not carry.
        t1: u8 => Bits<3>,
        /// Lowest bit of the uplink in the entropy value.
        uplink_low: u8 => Bits<5>,
        /// Bits of the uplink, 1 to 16.
        uplink_bits: u8 => Bits<5>,
    }
}

row! {
    /// Registers of a port.
    pub struct PortRow => PortConfig {
        mac: u64 => Bits<48>,
        /// IPv4: in the low 32 bits.
        ip: u128 => Bits<128>,
        /// Code point of data packets and probes, which are ECN-capable.
        data_dscp: u8 => Bits<6>,
        /// Code point of ACK, SACK and NACK, which are not.
        control_dscp: u8 => Bits<6>,
        /// UDP destination port.
        udp_port: u16 => Bits<16>,
        /// Hop limit of every IP header; the time to live in IPv4.
        hop_limit: u8 => Bits<8>,
    }
}
