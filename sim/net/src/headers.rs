//! The header fields that a switch reads and writes. Layouts are those of `stellar_wire`.

use stellar_wire::ethernet::{ETHERTYPE_IPV4, ETHERTYPE_IPV6, ETHERTYPE_VLAN};
use stellar_wire::ip::{PROTO_IPV4, PROTO_IPV6};
use stellar_wire::{Ecn, Ethernet, Header, Ip, Ipv6, Vlan, WireError};

use crate::DropReason;

/// An IP header at its place in a frame.
#[derive(Clone, Copy, Debug)]
pub struct IpAt {
    /// The header.
    pub(crate) ip: Ip,
    /// Its first byte.
    pub(crate) at: usize,
}

impl IpAt {
    /// Writes the header back. IPv4's checksum is computed again.
    pub(crate) fn write(&self, bytes: &mut [u8]) {
        let mut header = Vec::with_capacity(Ipv6::LEN);
        self.ip.emit(&mut header);
        bytes[self.at..self.at + header.len()].copy_from_slice(&header);
    }

    /// Differentiated services code point.
    pub(crate) fn dscp(&self) -> u8 {
        match &self.ip {
            Ip::V4(ip) => ip.dscp,
            Ip::V6(ip) => ip.dscp,
        }
    }

    pub(crate) fn set_dscp(&mut self, dscp: u8) {
        match &mut self.ip {
            Ip::V4(ip) => ip.dscp = dscp,
            Ip::V6(ip) => ip.dscp = dscp,
        }
    }

    /// The hop limit or time to live.
    pub(crate) fn hops(&mut self) -> &mut u8 {
        match &mut self.ip {
            Ip::V4(ip) => &mut ip.ttl,
            Ip::V6(ip) => &mut ip.hop_limit,
        }
    }

    /// Sets CE if the packet is ECN-capable and has no CE yet; returns whether it did.
    pub(crate) fn mark(&mut self) -> bool {
        let ecn = match &mut self.ip {
            Ip::V4(ip) => &mut ip.ecn,
            Ip::V6(ip) => &mut ip.ecn,
        };
        let marks = matches!(ecn, Ecn::Ect0 | Ecn::Ect1);
        if marks {
            *ecn = Ecn::CongestionExperienced;
        }
        marks
    }

    /// EtherType of the packet inside, if the header is that of an SRv6 encapsulation.
    pub(crate) fn inner_ethertype(&self) -> Option<u16> {
        match &self.ip {
            Ip::V6(outer) if outer.next_header == PROTO_IPV4 => Some(ETHERTYPE_IPV4),
            Ip::V6(outer) if outer.next_header == PROTO_IPV6 => Some(ETHERTYPE_IPV6),
            _ => None,
        }
    }
}

/// Finds the outermost IP header.
pub(crate) fn outer_ip(bytes: &[u8]) -> Result<IpAt, DropReason> {
    let malformed = |_: WireError| DropReason::Malformed;
    let (eth, rest) = Ethernet::parse(bytes).map_err(malformed)?;
    let (ethertype, packet) = if eth.ethertype == ETHERTYPE_VLAN {
        let (tag, rest) = Vlan::parse(rest).map_err(malformed)?;
        (tag.ethertype, rest)
    } else {
        (eth.ethertype, rest)
    };
    let (ip, _) = Ip::parse(ethertype, packet).map_err(|error| match error {
        WireError::EtherType(_) => DropReason::NotIp,
        _ => DropReason::Malformed,
    })?;
    let at = bytes.len() - packet.len();
    Ok(IpAt { ip, at })
}
