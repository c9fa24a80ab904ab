//! Framing of packets.

use std::net::IpAddr;

use stellar_wire::ethernet::{ETHERTYPE_IPV4, ETHERTYPE_IPV6};
use stellar_wire::ip::PROTO_UDP;
use stellar_wire::mrc::Entropy;
use stellar_wire::{
    icrc, Bth, Ecn, Ethernet, ExtHeaders, Header, Ip, Ipv4, Ipv6, Srv6Encap, Udp, UsidContainer,
};

use super::{MemoryFault, PlaneAddress};

/// Room for the largest headers: Ethernet, outer and inner IPv6, UDP, BTH, the extension headers, iCRC.
const HEADERS: usize = 160;

/// A frame without its payload.
pub(super) struct FrameSpec {
    pub local: PlaneAddress,
    pub peer: PlaneAddress,
    pub udp_port: u16,
    /// 6 bits.
    pub dscp: u8,
    pub ecn: Ecn,
    pub entropy: Entropy,
    /// Path of the outer header, if there is one.
    pub srv6: Option<UsidContainer>,
    /// Pad count and TSETH bit are set here.
    pub bth: Bth,
    pub ext: ExtHeaders,
}

impl FrameSpec {
    /// The frame with `payload_length` bytes of payload, at most 8,192, which `fill` writes in place.
    ///
    /// # Errors
    /// Those of `fill`.
    pub fn build(
        &self,
        payload_length: usize,
        fill: impl FnOnce(&mut [u8]) -> Result<(), MemoryFault>,
    ) -> Result<Vec<u8>, MemoryFault> {
        let pad = payload_length.wrapping_neg() % 4;
        let transport = Bth::LEN + self.ext.wire_len() + payload_length + pad + icrc::LEN;
        let (ip, udp) = self.ip_and_udp(transport);
        let mut out = Vec::with_capacity(HEADERS + payload_length);
        let ethertype = if self.srv6.is_some() || matches!(ip, Ip::V6(_)) {
            ETHERTYPE_IPV6
        } else {
            ETHERTYPE_IPV4
        };
        Ethernet {
            dst: self.peer.mac,
            src: self.local.mac,
            ethertype,
        }
        .emit(&mut out);
        if let (Some(path), Ip::V6(inner)) = (self.srv6, ip) {
            self.outer(path, &inner).emit(&mut out);
        }
        let packet_at = out.len();
        ip.emit(&mut out);
        udp.emit(&mut out);
        Bth {
            pad_count: pad as u8,
            tseth_present: self.ext.tseth.is_some(),
            ..self.bth
        }
        .emit(&mut out);
        self.ext.emit(&mut out);
        let payload_at = out.len();
        out.resize(payload_at + payload_length + pad + icrc::LEN, 0);
        fill(&mut out[payload_at..payload_at + payload_length])?;
        icrc::seal(&mut out[packet_at..]).expect("the packet has all its headers");
        Ok(out)
    }

    fn ip_and_udp(&self, transport: usize) -> (Ip, Udp) {
        let mut udp = Udp {
            dport: self.udp_port,
            ..Udp::default()
        };
        let mut ip = match (self.local.ip, self.peer.ip) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => Ip::V4(Ipv4 {
                dscp: self.dscp,
                ecn: self.ecn,
                src,
                dst,
                ..Ipv4::default()
            }),
            (IpAddr::V6(src), IpAddr::V6(dst)) => Ip::V6(Ipv6 {
                dscp: self.dscp,
                ecn: self.ecn,
                src,
                dst,
                ..Ipv6::default()
            }),
            _ => unreachable!("creation refuses a pair of IP versions"),
        };
        self.entropy.apply(&mut ip, &mut udp);
        let fits = "a payload of at most 8,192 bytes fits IP's lengths";
        let udp = udp.carrying(transport).expect(fits);
        let ip = ip.carrying(PROTO_UDP, udp.length.into()).expect(fits);
        (ip, udp)
    }

    /// The outer header: what routers look at is copied from the inner one.
    fn outer(&self, path: UsidContainer, inner: &Ipv6) -> Ipv6 {
        let encapsulation = Srv6Encap {
            dscp: inner.dscp,
            ecn: inner.ecn,
            flow_label: inner.flow_label,
            src: inner.src,
            path,
            ..Srv6Encap::default()
        };
        let length = Ipv6::LEN + usize::from(inner.payload_len);
        encapsulation
            .outer_header(Ip::V6(*inner).encapsulated_protocol(), length)
            .expect("a payload of at most 8,192 bytes fits IP's lengths")
    }
}
