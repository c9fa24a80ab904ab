//! The headers that a world parses in passing frames; it does not check the iCRC.

use stellar_wire::ethernet::ETHERTYPE_IPV6;
use stellar_wire::ip::PROTO_IPV6;
use stellar_wire::{Bth, Ethernet, Header, Ip, Udp};

/// Transport header of a RoCEv2 frame without tag, which may be encapsulated in IPv6, and the UDP payload length behind it.
fn transport(frame: &[u8]) -> Option<(Bth, usize)> {
    let (ethernet, packet) = Ethernet::parse(frame).ok()?;
    let (outer, inside) = Ip::parse(ethernet.ethertype, packet).ok()?;
    let datagram = match outer.protocol() {
        PROTO_IPV6 => Ip::parse(ETHERTYPE_IPV6, inside).ok()?.1,
        _ => inside,
    };
    let (_, segment) = Udp::parse(datagram).ok()?;
    let (bth, after) = Bth::parse(segment).ok()?;
    Some((bth, after.len()))
}

/// Base transport header of a frame; `None` if it is not a RoCEv2 frame.
pub fn bth(frame: &[u8]) -> Option<Bth> {
    transport(frame).map(|(bth, _)| bth)
}

/// Length in bytes of the RDMA payload in an endpoint's frame.
pub(crate) fn payload_bytes(frame: &[u8]) -> u64 {
    let Some((bth, after)) = transport(frame) else {
        return 0;
    };
    let kinds = bth.opcode.ext_kinds().iter().map(|kind| kind.wire_len());
    let stamp = if bth.opcode.is_mrc_data() && bth.tseth_present {
        stellar_wire::mrc::Tseth::LEN
    } else {
        0
    };
    let headers = kinds.sum::<usize>() + stamp;
    let overhead = headers + usize::from(bth.pad_count) + stellar_wire::icrc::LEN;
    if bth.opcode.is_write() {
        after.saturating_sub(overhead) as u64
    } else {
        0
    }
}
