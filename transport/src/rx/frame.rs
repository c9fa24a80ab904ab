//! Frame checks: decapsulation, headers, lengths, invariant CRC.

use std::net::IpAddr;

use stellar_wire::config::PlaneAddress;
use stellar_wire::ethernet::{ETHERTYPE_IPV4, ETHERTYPE_IPV6, ETHERTYPE_VLAN};
use stellar_wire::ip::{IPV6_FRAGMENT, PROTO_IPV4, PROTO_IPV6, PROTO_UDP};
use stellar_wire::ipv4::without_padding;
use stellar_wire::mrc::Entropy;
use stellar_wire::mtu::MAX_PAYLOAD;
use stellar_wire::{
    icrc, Bth, Ecn, Ethernet, ExtHeaders, ExtKind, Header, Ip, Ipv4, Ipv6, Opcode, Position,
    RoceFrame, Transport, Udp, Vlan, WireError,
};

use super::{DropReason, PacketHeaders, Psn, QpMode, RxConfig};

/// Result of the checks of a frame by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameOutcome {
    /// First reason against the frame in order of precedence, `None` if it is good.
    pub reason: DropReason,
    /// Set exactly if there is no reason.
    pub headers: Option<PacketHeaders>,
}

/// Checks a frame, given from the destination MAC address to the iCRC, and extracts its headers.
///
/// The first reason in this order decides: `MacError`, `NotRoce`, `BadIpChecksum`, `IpFragment`, `BadLength`, `WrongUdpPort`, `BadIcrc`,
/// `UnsupportedOpcode`, `BadPayloadLength`. A header that is not completely in the frame is not checked further, and the frame is `BadLength`. The bytes after UDP are a
/// RoCE header only on the RoCE port. So if they are missing, the frame is `BadLength` on that port and `WrongUdpPort` on others.
///
/// A frame that Ethernet has padded is read by its IP length ([`without_padding`]).
///
/// Only version, next header and ECN of the outer header of an encapsulated packet are checked. Its length is not: the inner length is compared with
/// the frame, and no decision depends on the outer one.
pub fn classify_frame(bytes: &[u8], mac_error: bool, config: &RxConfig) -> FrameOutcome {
    let result = if mac_error {
        Err(DropReason::MacError)
    } else {
        decapsulate(bytes).and_then(|inner| parse_packet(&inner, config.udp_port))
    };
    match result {
        Ok(headers) => FrameOutcome {
            reason: DropReason::None,
            headers: Some(headers),
        },
        Err(reason) => FrameOutcome {
            reason,
            headers: None,
        },
    }
}

/// The addresses of a frame that decide whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameAddresses {
    pub destination: PlaneAddress,
    pub source: IpAddr,
}

/// Reads the addresses of a frame that [`classify_frame`] found good, or bad for a reason after `BadIcrc`. `None` for a frame that is no IP packet.
pub(super) fn addresses_of(bytes: &[u8]) -> Option<FrameAddresses> {
    let (eth, _) = Ethernet::parse(bytes).ok()?;
    let inner = decapsulate(bytes).ok()?;
    let (ip, _) = parse_ip(inner.ethertype, inner.packet).ok()?;
    let (destination, source) = match ip {
        Ip::V4(ip) => (ip.dst.into(), ip.src.into()),
        Ip::V6(ip) => (ip.dst.into(), ip.src.into()),
    };
    Some(FrameAddresses {
        destination: PlaneAddress {
            mac: eth.dst,
            ip: destination,
        },
        source,
    })
}

/// A good control packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlFrame {
    /// The frame without its outer header, if it had one.
    pub roce: RoceFrame,
    /// Congestion experienced on the inner or the outer IP header.
    pub ecn_ce: bool,
}

/// The RC ACK or the MRC Transport ACK, SACK, NACK or probe that a frame is, if it is good: what [`classify_frame`] calls `UnsupportedOpcode`, for lanes with a
/// control path.
pub fn parse_control(bytes: &[u8], config: &RxConfig) -> Option<ControlFrame> {
    if classify_frame(bytes, false, config).reason != DropReason::UnsupportedOpcode {
        return None;
    }
    let inner = decapsulate(bytes).ok()?;
    let mut plain = Vec::new();
    let eth = Ethernet {
        ethertype: inner.ethertype,
        ..Ethernet::default()
    };
    eth.emit(&mut plain);
    plain.extend_from_slice(inner.packet);
    let roce = RoceFrame::parse_on_port(&plain, config.udp_port).ok()?;
    roce.bth.opcode.is_control().then(|| ControlFrame {
        ecn_ce: inner.outer_ce || roce.ip.ecn() == Ecn::CongestionExperienced,
        roce,
    })
}

/// The innermost IP packet of a frame.
struct Inner<'a> {
    /// EtherType of the version announced by the layer below.
    ethertype: u16,
    /// From the first byte of the IP header to the end of the frame, without padding by Ethernet.
    packet: &'a [u8],
    outer_ce: bool,
}

/// Removes Ethernet, one 802.1Q tag, one outer IPv6 header, and padding.
fn decapsulate(bytes: &[u8]) -> Result<Inner<'_>, DropReason> {
    let (eth, mut packet) = Ethernet::parse(bytes).map_err(|_| DropReason::BadLength)?;
    let mut ethertype = eth.ethertype;
    if ethertype == ETHERTYPE_VLAN {
        let (tag, rest) = Vlan::parse(packet).map_err(|_| DropReason::BadLength)?;
        (ethertype, packet) = (tag.ethertype, rest);
    }
    let mut outer_ce = false;
    if ethertype == ETHERTYPE_IPV6 {
        let (outer, rest) = parse_ipv6(packet)?;
        let inner = match outer.next_header {
            PROTO_IPV4 => Some(ETHERTYPE_IPV4),
            PROTO_IPV6 => Some(ETHERTYPE_IPV6),
            _ => None,
        };
        if let Some(inner) = inner {
            outer_ce = outer.ecn == Ecn::CongestionExperienced;
            (ethertype, packet) = (inner, rest);
        }
    } else if ethertype == ETHERTYPE_IPV4 {
        packet = without_padding(packet);
    }
    Ok(Inner {
        ethertype,
        packet,
        outer_ce,
    })
}

fn parse_ipv6(packet: &[u8]) -> Result<(Ipv6, &[u8]), DropReason> {
    Ipv6::parse(packet).map_err(|error| match error {
        WireError::Truncated { .. } => DropReason::BadLength,
        _ => DropReason::NotRoce,
    })
}

/// An unfragmented IPv4 packet without options that carries UDP, with a good header checksum. The checksum comes before the fragment fields, so a
/// damaged bit in them does not count as a fragment.
fn parse_ipv4(packet: &[u8]) -> Result<(Ipv4, &[u8]), DropReason> {
    let header = packet
        .first_chunk::<{ Ipv4::LEN }>()
        .ok_or(DropReason::BadLength)?;
    let version_and_length = header[0];
    if version_and_length != 0x45 || header[9] != PROTO_UDP {
        return Err(DropReason::NotRoce);
    }
    match Ipv4::parse(packet) {
        Ok((ip, _)) if ip.is_fragment() => Err(DropReason::IpFragment),
        parsed => parsed.map_err(|_| DropReason::BadIpChecksum),
    }
}

fn parse_ip(ethertype: u16, packet: &[u8]) -> Result<(Ip, &[u8]), DropReason> {
    match ethertype {
        ETHERTYPE_IPV4 => parse_ipv4(packet).map(|(ip, rest)| (Ip::V4(ip), rest)),
        ETHERTYPE_IPV6 => match parse_ipv6(packet)? {
            (ip, rest) if ip.next_header == PROTO_UDP => Ok((Ip::V6(ip), rest)),
            (ip, _) if ip.next_header == IPV6_FRAGMENT => Err(DropReason::IpFragment),
            _ => Err(DropReason::NotRoce),
        },
        _ => Err(DropReason::NotRoce),
    }
}

fn parse_packet(inner: &Inner<'_>, udp_port: u16) -> Result<PacketHeaders, DropReason> {
    let bad_length = |_| DropReason::BadLength;
    let (ip, datagram) = parse_ip(inner.ethertype, inner.packet)?;
    ip.check_length(datagram.len()).map_err(bad_length)?;
    let (udp, transport) = Udp::parse(datagram).map_err(bad_length)?;
    udp.check_length(transport.len()).map_err(bad_length)?;
    if udp.dport != udp_port {
        return Err(DropReason::WrongUdpPort);
    }

    let (body, _) = transport
        .split_last_chunk::<{ icrc::LEN }>()
        .filter(|(body, _)| body.len() >= transport_headers_len(body))
        .ok_or(DropReason::BadLength)?;
    icrc::verify(inner.packet).map_err(|_| DropReason::BadIcrc)?;

    let (bth, rest) = Bth::parse(body)
        .ok()
        .filter(|(bth, _)| (is_supported(bth.opcode) || is_refused(bth.opcode)) && bth.tver == 0)
        .ok_or(DropReason::UnsupportedOpcode)?;
    let refused = is_refused(bth.opcode);
    let (ext, payload_and_pad) = if refused {
        (ExtHeaders::default(), rest)
    } else {
        ExtHeaders::parse(&bth, rest).map_err(|_| DropReason::BadLength)?
    };
    let payload_length = if refused {
        0
    } else {
        payload_length(&bth, payload_and_pad.len())?
    };

    let mode = if bth.opcode.is_mrc() {
        QpMode::Mrc
    } else {
        QpMode::Rc
    };
    let position = match bth.opcode.position() {
        Some(position) if !refused => position,
        _ => Position::Only,
    };
    let payload_offset = ip.header_len() + Udp::LEN + body.len() - payload_and_pad.len();
    Ok(PacketHeaders {
        mode,
        refused,
        position,
        reth: ext.reth,
        immediate: ext.imm.map(|imm| imm.0),
        meth: ext.meth,
        timestamp: ext.tseth.map(|tseth| tseth.tx_timestamp),
        ack_req: bth.ack_req,
        solicited: bth.solicited,
        retransmission: mode == QpMode::Mrc && bth.retransmit,
        pkey: bth.pkey,
        dest_qp: bth.dest_qp,
        psn: Psn::new(bth.psn),
        ecn_ce: inner.outer_ce || ip.ecn() == Ecn::CongestionExperienced,
        entropy: Entropy::of(&ip, &udp),
        payload_offset: payload_offset as u8,
        payload_length,
    })
}

/// Whether the lane executes the opcode: RC and MRC RDMA WRITE, with and without immediate.
fn is_supported(opcode: Opcode) -> bool {
    opcode.is_write() && matches!(opcode.transport(), Transport::Rc | Transport::Mrc)
}

/// Whether the opcode is an RC request other than WRITE, which this lane does not execute.
fn is_refused(opcode: Opcode) -> bool {
    opcode.transport() == Transport::Rc && !opcode.is_write() && !opcode.is_response()
}

/// Bytes of BTH and, for an opcode the lane executes, extension headers. Used before the iCRC is checked:
/// headers that do not fit are `BadLength`, even if a damaged bit is the cause.
fn transport_headers_len(body: &[u8]) -> usize {
    let Ok((bth, _)) = Bth::parse(body) else {
        return Bth::LEN;
    };
    if !is_supported(bth.opcode) {
        return Bth::LEN;
    }
    let fixed: usize = bth
        .opcode
        .ext_kinds()
        .iter()
        .map(|kind| kind.wire_len())
        .sum();
    let timestamp = if bth.opcode.is_mrc() && bth.tseth_present {
        ExtKind::Tseth.wire_len()
    } else {
        0
    };
    Bth::LEN + fixed + timestamp
}

/// Payload without pad: the pad is there exactly to complete a multiple of four bytes.
fn payload_length(bth: &Bth, payload_and_pad: usize) -> Result<u16, DropReason> {
    payload_and_pad
        .checked_sub(usize::from(bth.pad_count))
        .filter(|&payload| payload_and_pad.is_multiple_of(4) && payload <= MAX_PAYLOAD)
        .map(|payload| payload as u16)
        .ok_or(DropReason::BadPayloadLength)
}
