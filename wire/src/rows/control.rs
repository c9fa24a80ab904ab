//! The peer of a queue pair: whom its frames go to, and whose packets it accepts.

use std::net::IpAddr;

#[cfg(feature = "hdl")]
use rust_hdl::prelude::*;

use super::{QpMode, VECTOR_BITS};

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
    /// The peer of a queue pair, by local queue pair.
    pub struct PeerRow => QpPeer {
        /// The queue pair accepts control packets. It is false in an entry that was never written. Frames that still leave have the last valid entry.
        valid: bool => Bit,
        /// MRC: it accepts SACK, NACK and probes. Otherwise RC: it accepts acknowledgements.
        mrc: bool => Bit,
        /// Partition key of frames. The low 15 bits must equal those of a received control packet; not both may be limited members (bit 15 clear in both).
        pkey: u16 => Bits<16>,
        /// Queue pair number of the peer; MRC headers carry its low 16 bits as source context.
        qp: u32 => Bits<24>,
        /// Number of the address vector of the peer's host at each port ([`super::AddressRow`]). A packet comes from the address of one of them.
        vector: u16 => Bits<VECTOR_BITS>,
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

impl PeerRow {
    /// A peer that exists: its transport, partition, queue pair, and the number of its host's address vector.
    pub fn new(mode: QpMode, pkey: u16, qp: u32, vector: u16) -> Self {
        Self {
            valid: true,
            mrc: mode == QpMode::Mrc,
            pkey,
            qp,
            vector,
            probes: false,
        }
    }
}
