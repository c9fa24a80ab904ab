//! Whose control packets a queue pair takes.

use hdl_macros::FromBits;
use rust_hdl::prelude::*;

/// Address of a port of the peer.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct, FromBits)]
pub struct PeerAddress {
    /// IPv6; otherwise IPv4, in the low 32 bits of `address`.
    pub version6: Bit,
    /// As a number: the first byte on the wire is the most significant.
    pub address: Bits<128>,
}

/// The peer of a queue pair, as its control packets name it. 1,024 entries, indexed by local queue pair.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct, FromBits)]
pub struct ControlPeer {
    /// The queue pair takes control packets: an entry that was never written does not.
    pub valid: Bit,
    /// MRC: takes SACK, NACK and probes; otherwise RC: takes acknowledgements.
    pub mrc: Bit,
    /// Partition key. The low 15 bits must equal the packet's; not both may be limited members (bit 15 clear in both).
    pub pkey: Bits<16>,
    /// Queue pair number of the peer; MRC headers carry its low 16 bits as source context.
    pub qp: Bits<24>,
    /// Addresses of the peer's two ports; a packet comes from one of them. A peer with one port has it twice.
    pub address0: PeerAddress,
    pub address1: PeerAddress,
}
