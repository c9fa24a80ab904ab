//! IPv4 header without options (RFC 791).

use std::net::Ipv4Addr;

use crate::ethernet::MIN_PAYLOAD;
use crate::header::{be16, be32, fit, split};
use crate::ip::PROTO_UDP;
use crate::{Ecn, Header, WireError};

/// IPv4 header, 20 bytes. The header checksum is computed by `emit` and verified by `parse`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv4 {
    /// Differentiated services code point, 6 bits.
    pub dscp: u8,
    pub ecn: Ecn,
    /// Header and payload in bytes.
    pub total_len: u16,
    pub id: u16,
    /// Flag bit 0, which should be zero; kept because the iCRC covers it.
    pub reserved_flag: bool,
    pub dont_fragment: bool,
    pub more_fragments: bool,
    /// In units of 8 bytes, 13 bits.
    pub fragment_offset: u16,
    pub ttl: u8,
    pub protocol: u8,
    pub src: Ipv4Addr,
    pub dst: Ipv4Addr,
}

impl Default for Ipv4 {
    /// UDP, do not fragment, time to live 64, addresses and length unset.
    fn default() -> Self {
        Self {
            dscp: 0,
            ecn: Ecn::NotEct,
            total_len: 0,
            id: 0,
            reserved_flag: false,
            dont_fragment: true,
            more_fragments: false,
            fragment_offset: 0,
            ttl: 64,
            protocol: PROTO_UDP,
            src: Ipv4Addr::UNSPECIFIED,
            dst: Ipv4Addr::UNSPECIFIED,
        }
    }
}

impl Ipv4 {
    /// Whether the packet is a piece of a larger one.
    pub const fn is_fragment(&self) -> bool {
        self.more_fragments || self.fragment_offset != 0
    }
}

/// The IPv4 packet in the payload of an Ethernet frame: without the bytes by which Ethernet has made a shorter packet [`MIN_PAYLOAD`] bytes long.
/// IPv6 packets of RoCE are never that short.
pub fn without_padding(payload: &[u8]) -> &[u8] {
    if payload.len() != MIN_PAYLOAD {
        return payload;
    }
    let total = usize::from(u16::from_be_bytes([payload[2], payload[3]]));
    if (Ipv4::LEN..MIN_PAYLOAD).contains(&total) {
        &payload[..total]
    } else {
        payload
    }
}

impl Header for Ipv4 {
    const LEN: usize = 20;
    const NAME: &'static str = "IPv4";

    /// Besides truncation: [`WireError::IpVersion`], [`WireError::Ipv4Options`], [`WireError::Ipv4Checksum`].
    fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (b, rest) = split::<{ Self::LEN }>(Self::NAME, bytes)?;
        if b[0] >> 4 != 4 {
            return Err(WireError::IpVersion {
                expected: 4,
                found: b[0] >> 4,
            });
        }
        if b[0] & 0x0f != 5 {
            return Err(WireError::Ipv4Options { ihl: b[0] & 0x0f });
        }
        let (found, computed) = (be16(b, 10), header_checksum(b));
        let other_zero = found == 0xffff && computed == 0;
        if found != computed && !other_zero {
            return Err(WireError::Ipv4Checksum { found, computed });
        }
        let fragment = be16(b, 6);
        let header = Self {
            dscp: b[1] >> 2,
            ecn: Ecn::from_traffic_class(b[1]),
            total_len: be16(b, 2),
            id: be16(b, 4),
            reserved_flag: fragment & 0x8000 != 0,
            dont_fragment: fragment & 0x4000 != 0,
            more_fragments: fragment & 0x2000 != 0,
            fragment_offset: fragment & 0x1fff,
            ttl: b[8],
            protocol: b[9],
            src: be32(b, 12).into(),
            dst: be32(b, 16).into(),
        };
        Ok((header, rest))
    }

    fn emit(&self, out: &mut Vec<u8>) {
        let fragment = u16::from(self.reserved_flag) << 15
            | u16::from(self.dont_fragment) << 14
            | u16::from(self.more_fragments) << 13
            | fit("IPv4.fragment_offset", self.fragment_offset, 13);
        let mut b = [0; Self::LEN];
        b[0] = 0x45;
        b[1] = fit("IPv4.dscp", self.dscp, 6) << 2 | self.ecn.bits();
        b[2..4].copy_from_slice(&self.total_len.to_be_bytes());
        b[4..6].copy_from_slice(&self.id.to_be_bytes());
        b[6..8].copy_from_slice(&fragment.to_be_bytes());
        b[8] = self.ttl;
        b[9] = self.protocol;
        b[12..16].copy_from_slice(&self.src.octets());
        b[16..20].copy_from_slice(&self.dst.octets());
        let checksum = header_checksum(&b);
        b[10..12].copy_from_slice(&checksum.to_be_bytes());
        out.extend_from_slice(&b);
    }
}

/// Computes the checksum of a header without options, whatever its checksum field contains (RFC 1071: ones' complement of the ones' complement sum of
/// its 16-bit words).
///
/// Zero has two forms in ones' complement. The result is never 0xffff. A header with 0xffff in place of 0x0000 has the same sum, and `parse` accepts
/// it.
pub fn header_checksum(header: &[u8; 20]) -> u16 {
    let sum: u32 = (0..header.len())
        .step_by(2)
        .filter(|&at| at != 10)
        .map(|at| u32::from(be16(header, at)))
        .sum();
    // Nine words of 16 bits: two folds bring every carry home.
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}
