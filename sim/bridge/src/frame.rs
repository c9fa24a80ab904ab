//! Inspection and padding of frames.

use stellar_wire::ethernet::{ETHERTYPE_IPV4, ETHERTYPE_IPV6};
use stellar_wire::ip::PROTO_UDP;
use stellar_wire::udp::ROCE_UDP_PORT;
use stellar_wire::{Ethernet, Header, Ipv4, Ipv6, Udp};

/// Shortest Ethernet frame without its frame check sequence. A MAC pads shorter frames; QEMU's network cards do not.
pub const MIN_FRAME: usize = 60;
/// Longest frame: an Ethernet header and the largest IPv4 packet.
pub const MAX_FRAME: usize = 14 + 65_535;

/// Offset of the IP packet of a RoCEv2 frame; `None` for other frames. A RoCEv2 frame has an untagged Ethernet header, IPv4 or IPv6, and UDP to port 4791.
pub fn roce_packet(frame: &[u8]) -> Option<usize> {
    let (ethernet, rest) = Ethernet::parse(frame).ok()?;
    let (protocol, rest) = match ethernet.ethertype {
        ETHERTYPE_IPV4 => Ipv4::parse(rest).map(|(ip, rest)| (ip.protocol, rest)),
        ETHERTYPE_IPV6 => Ipv6::parse(rest).map(|(ip, rest)| (ip.next_header, rest)),
        _ => return None,
    }
    .ok()?;
    let (udp, _) = Udp::parse(rest).ok()?;
    (protocol == PROTO_UDP && udp.dport == ROCE_UDP_PORT).then_some(Ethernet::LEN)
}

/// Whether a frame carries RoCEv2.
pub fn is_rocev2(frame: &[u8]) -> bool {
    roce_packet(frame).is_some()
}

/// Pads a frame as a MAC does.
pub fn pad(mut frame: Vec<u8>) -> Vec<u8> {
    frame.resize(frame.len().max(MIN_FRAME), 0);
    frame
}
