//! Framing of packets, and the length of a frame that is not built.

use std::net::IpAddr;

use stellar_wire::ethernet::{ETHERTYPE_IPV4, ETHERTYPE_IPV6};
use stellar_wire::ip::PROTO_UDP;
use stellar_wire::mrc::Entropy;
use stellar_wire::{
    icrc, Bth, Ecn, Ethernet, ExtHeaders, ExtKind, Header, Ip, Ipv4, Ipv6, Opcode, Srv6Encap, Udp,
    UsidContainer,
};

use super::{Departure, EndpointConfig, MemoryFault, Packet, Peer, PlaneAddress};

/// Room for the largest headers: Ethernet, outer and inner IPv6, UDP, BTH, the extension headers, iCRC.
const HEADERS: usize = 160;

/// Bytes from the start of the (inner) IP header to the payload.
pub(super) fn headers_length(local: &PlaneAddress, opcode: Opcode, has_tseth: bool) -> u16 {
    let ip = match local.ip {
        IpAddr::V4(_) => Ipv4::LEN,
        IpAddr::V6(_) => Ipv6::LEN,
    };
    let ext = opcode.ext_kinds().iter().map(|kind| kind.wire_len());
    let tseth = if has_tseth {
        ExtKind::Tseth.wire_len()
    } else {
        0
    };
    (ip + Udp::LEN + Bth::LEN + ext.sum::<usize>() + tseth) as u16
}

/// Bytes of a frame with so many bytes of headers and of payload.
pub(super) const fn frame_length(headers: u16, payload_and_pad: u16, encapsulated: bool) -> u16 {
    let outer = if encapsulated { Ipv6::LEN } else { 0 };
    (Ethernet::LEN + outer + icrc::LEN) as u16 + headers + payload_and_pad
}

/// A frame without its payload.
pub(super) struct FrameSpec {
    local: PlaneAddress,
    peer: PlaneAddress,
    udp_port: u16,
    /// 6 bits.
    dscp: u8,
    ecn: Ecn,
    entropy: Entropy,
    /// Path of the outer header, if there is one.
    outer: Option<UsidContainer>,
    bth: Bth,
    ext: ExtHeaders,
}

/// BTH.MigReq of a packet. No connection of this card migrates to another path, and the migration state of an RC connection that does not is "migrated" (IBTA, automatic path
/// migration). MRC gives the bit no meaning.
const fn is_migrated(opcode: Opcode) -> bool {
    !opcode.is_mrc()
}

impl FrameSpec {
    /// The frame of a packet that leaves a card by `port`.
    pub fn of(config: &EndpointConfig, peer: &Peer, port: usize, departure: &Departure) -> Self {
        let Departure { packet, outer, .. } = departure;
        let (bth, ext) = match packet {
            Packet::Data(data) => (
                Bth {
                    opcode: data.opcode(),
                    mig_req: is_migrated(data.opcode()),
                    pkey: data.pkey,
                    dest_qp: data.dest_qp,
                    ack_req: data.ack_req,
                    solicited: data.solicited,
                    retransmit: data.retransmission,
                    psn: data.psn.value(),
                    tseth_present: data.timestamp.is_some(),
                    pad_count: (data.payload_length.wrapping_neg() % 4) as u8,
                    ..Bth::default()
                },
                data.extension_headers(),
            ),
            Packet::Control(control) => (
                Bth {
                    opcode: control.body.opcode(),
                    mig_req: is_migrated(control.body.opcode()),
                    pkey: control.pkey,
                    dest_qp: control.dest_qp,
                    psn: control.psn.value(),
                    ..Bth::default()
                },
                control.body.headers(),
            ),
        };
        let (dscp, ecn) = if packet.is_like_data() {
            (config.data_dscp, Ecn::Ect0)
        } else {
            (config.control_dscp, Ecn::NotEct)
        };
        Self {
            local: config.planes[port],
            peer: peer.planes[port],
            udp_port: config.rx.udp_port,
            dscp,
            ecn,
            entropy: packet.entropy(),
            outer: *outer,
            bth,
            ext,
        }
    }

    /// The frame with `payload_length` bytes of payload, at most 8,192, which `fill` writes in place.
    ///
    /// # Errors
    /// Those of `fill`.
    pub fn build(
        &self,
        payload_length: usize,
        fill: impl FnOnce(&mut [u8]) -> Result<(), MemoryFault>,
    ) -> Result<Vec<u8>, MemoryFault> {
        let pad = usize::from(self.bth.pad_count);
        let transport = Bth::LEN + self.ext.wire_len() + payload_length + pad + icrc::LEN;
        let (ip, udp) = self.ip_and_udp(transport);
        let mut out = Vec::with_capacity(HEADERS + payload_length);
        let ethertype = if self.outer.is_some() || matches!(ip, Ip::V6(_)) {
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
        if let (Some(path), Ip::V6(inner)) = (self.outer, ip) {
            self.outer_header(path, &inner).emit(&mut out);
        }
        let packet_at = out.len();
        ip.emit(&mut out);
        udp.emit(&mut out);
        self.bth.emit(&mut out);
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
    fn outer_header(&self, path: UsidContainer, inner: &Ipv6) -> Ipv6 {
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
