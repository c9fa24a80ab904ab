//! The header fields that a switch reads and writes. Layouts are those of `stellar_wire`.

use stellar_wire::ethernet::{ETHERTYPE_IPV4, ETHERTYPE_IPV6, ETHERTYPE_VLAN};
use stellar_wire::ip::{PROTO_IPV4, PROTO_IPV6, PROTO_UDP};
use stellar_wire::{
    Bth, Ecn, Ethernet, Header, Ip, Ipv4, Ipv6, MacAddr, Opcode, Udp, Vlan, WireError,
};

use crate::hash::{mix, mix_bytes};
use crate::{DropReason, Frame};

/// Class of service. Control frames are sent before data frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Data,
    Control,
}

/// How frames are divided into classes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Classifier {
    /// Code points of the control class; with `None`, the BTH opcode decides.
    pub control_dscp: Option<Vec<u8>>,
    /// UDP destination port of RoCEv2 and MRC.
    pub roce_port: u16,
}

impl Classifier {
    fn class(&self, dscp: u8, opcode: Option<Opcode>) -> Class {
        let control = match &self.control_dscp {
            Some(list) => list.contains(&dscp),
            None => matches!(
                opcode,
                Some(
                    Opcode::RcAck
                        | Opcode::Cnp
                        | Opcode::MrcAck
                        | Opcode::MrcSack
                        | Opcode::MrcNack
                        | Opcode::MrcProbe
                )
            ),
        };
        if control {
            Class::Control
        } else {
            Class::Data
        }
    }
}

/// An IP header at its place in a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IpAt {
    pub ip: Ip,
    pub at: usize,
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

/// What the switches of a path need to know about a packet, computed once.
#[derive(Clone, Debug)]
pub(crate) struct Headers {
    /// The outermost IP header, as it is in the frame.
    pub outer: IpAt,
    pub class: Class,
    /// Hash of what makes a flow: addresses, protocol, UDP ports, IPv6 flow label.
    pub flow: u64,
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

impl Headers {
    pub(crate) fn parse(frame: &Frame, classifier: &Classifier) -> Result<Self, DropReason> {
        let bytes = frame.bytes();
        let outer = outer_ip(bytes)?;
        let behind = &bytes[outer.at + outer.ip.header_len()..];
        let mut flow = flow_of(&outer.ip);
        // Inside an encapsulation, switches read only the class: they hash the outer header.
        let (ip, datagram) = match outer.inner_ethertype() {
            None => (Some(outer.ip), behind),
            Some(ethertype) => match Ip::parse(ethertype, behind) {
                Ok((ip, rest)) => (Some(ip), rest),
                Err(_) => (None, behind),
            },
        };
        let udp = ip
            .filter(|ip| ip.protocol() == PROTO_UDP)
            .and_then(|_| Udp::parse(datagram).ok());
        let mut opcode = None;
        if let Some((udp, transport)) = udp {
            if outer.inner_ethertype().is_none() {
                flow = mix(flow ^ u64::from(udp.sport) << 16 ^ u64::from(udp.dport));
            }
            if udp.dport == classifier.roce_port {
                opcode = Bth::parse(transport).ok().map(|(bth, _)| bth.opcode);
            }
        }
        Ok(Self {
            outer,
            class: classifier.class(outer.dscp(), opcode),
            flow,
        })
    }
}

fn flow_of(ip: &Ip) -> u64 {
    match ip {
        Ip::V4(Ipv4 { src, dst, .. }) => {
            let hash = mix_bytes(
                mix_bytes(u64::from(ip.protocol()), &src.octets()),
                &dst.octets(),
            );
            mix(hash)
        }
        Ip::V6(Ipv6 {
            src,
            dst,
            flow_label,
            ..
        }) => {
            let hash = mix_bytes(
                mix_bytes(u64::from(ip.protocol()), &src.octets()),
                &dst.octets(),
            );
            mix(hash ^ u64::from(*flow_label))
        }
    }
}

/// Gives the frame new addresses for its next hop.
pub(crate) fn readdress(bytes: &mut [u8], dst: MacAddr, src: MacAddr) {
    let (eth, _) =
        Ethernet::parse(bytes).expect("a frame with an IP header has an Ethernet header");
    let mut header = Vec::with_capacity(Ethernet::LEN);
    Ethernet { dst, src, ..eth }.emit(&mut header);
    bytes[..Ethernet::LEN].copy_from_slice(&header);
}
