//! The peer whose control packets a queue pair accepts.

use std::net::IpAddr;

#[cfg(feature = "hdl")]
use rust_hdl::prelude::*;

use super::QpMode;

row! {
    /// Address of a port of the peer.
    pub struct PeerAddressRow => PeerAddress {
        /// IPv6; otherwise IPv4, in the low 32 bits of `address`.
        version6: bool => Bit,
        /// IP address as a number: the first byte on the wire is the most significant.
        address: u128 => Bits<128>,
    }
}

row! {
    /// The peer of a queue pair, as its control packets name it. An entry for each,
    /// indexed by local queue pair.
    pub struct ControlPeerRow => ControlPeer {
        /// The queue pair accepts control packets. It is false in an entry that was never written.
        valid: bool => Bit,
        /// MRC: it accepts SACK, NACK and probes. Otherwise RC: it accepts acknowledgements.
        mrc: bool => Bit,
        /// Partition key. The low 15 bits must equal the packet's; not both may be limited members (bit 15 clear in both).
        pkey: u16 => Bits<16>,
        /// Queue pair number of the peer; MRC headers carry its low 16 bits as source context.
        qp: u32 => Bits<24>,
        /// Addresses of the peer's two ports; a packet comes from one of them. A peer with one port has it twice.
        address0: PeerAddressRow => PeerAddress,
        address1: PeerAddressRow => PeerAddress,
        /// RC: it accepts probes and their answers, too, because it has a path policy.
        probes: bool => Bit,
    }
}

impl From<IpAddr> for PeerAddressRow {
    fn from(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(ip) => Self {
                version6: false,
                address: u32::from(ip).into(),
            },
            IpAddr::V6(ip) => Self {
                version6: true,
                address: ip.into(),
            },
        }
    }
}

impl ControlPeerRow {
    /// A peer that exists: its transport, partition, queue pair, and the addresses of its two ports.
    pub fn new(mode: QpMode, pkey: u16, qp: u32, addresses: [IpAddr; 2]) -> Self {
        let [address0, address1] = addresses.map(PeerAddressRow::from);
        Self {
            valid: true,
            mrc: mode == QpMode::Mrc,
            pkey,
            qp,
            address0,
            address1,
            probes: false,
        }
    }
}
