//! Packet trimming: cutting a data packet that finds its queue full.

use serde::{Deserialize, Serialize};
use stellar_wire::ip::PROTO_UDP;
use stellar_wire::{icrc, Bth, ExtHeaders, Header, Ip, Udp};

use crate::headers::{outer_ip, IpAt};
use crate::Frame;

/// Trimming of data packets that find a full queue (MRC 1.0 and Ultra Ethernet): the switch cuts the payload and sends
/// the headers on in the control class. The code points are the deployment's choice; no default is published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trimming {
    /// DSCP of a trimmed packet (TRIMMED), 0 to 63.
    pub dscp: u8,
    /// DSCP of a packet trimmed at the port to its host (TRIMMED_LASTHOP), 0 to 63; without it, `dscp`.
    pub last_hop_dscp: Option<u8>,
}

impl Trimming {
    pub(crate) fn dscp_at(&self, last_hop: bool) -> u8 {
        match self.last_hop_dscp {
            Some(dscp) if last_hop => dscp,
            _ => self.dscp,
        }
    }
}

/// The RoCE packet `frame` cut to its headers and four bytes, and its outer IP header; `None` if it is no RoCE packet on `roce_port` or not longer
/// than that.
///
/// IP and UDP lengths fit the trimmed packet, outside and inside an encapsulation, and every IP header has `dscp`. The last four bytes are in the
/// place of the iCRC, but they are the first bytes of the payload that was cut. No switch computes an iCRC, so the iCRC of a trimmed packet is wrong,
/// and receivers must recognise it by the DSCP.
pub(crate) fn trimmed(frame: &Frame, roce_port: u16, dscp: u8) -> Option<(Frame, IpAt)> {
    let bytes = frame.bytes();
    let outer = outer_ip(bytes).ok()?;
    let mut behind = &bytes[outer.at + outer.ip.header_len()..];
    let mut headers = vec![outer];
    if let Some(ethertype) = outer.inner_ethertype() {
        let at = bytes.len() - behind.len();
        let (ip, rest) = Ip::parse(ethertype, behind).ok()?;
        headers.push(IpAt { ip, at });
        behind = rest;
    }
    if headers.last()?.ip.protocol() != PROTO_UDP {
        return None;
    }
    let udp_at = bytes.len() - behind.len();
    let (udp, transport) = Udp::parse(behind).ok()?;
    if udp.dport != roce_port {
        return None;
    }
    let (bth, rest) = Bth::parse(transport).ok()?;
    let (_, payload) = ExtHeaders::parse(&bth, rest).ok()?;
    let len = bytes.len() - payload.len() + icrc::LEN;
    if len >= frame.len() {
        return None;
    }

    let mut cut = bytes[..len.min(bytes.len())].to_vec();
    let udp = udp.carrying(len - udp_at - Udp::LEN).ok()?;
    cut[udp_at..udp_at + Udp::LEN].copy_from_slice(&udp.to_bytes());
    for header in &mut headers {
        let payload = len - header.at - header.ip.header_len();
        header.ip = header.ip.carrying(header.ip.protocol(), payload).ok()?;
        header.set_dscp(dscp);
        header.write(&mut cut);
    }
    Some((Frame::elided(cut, len), headers[0]))
}
