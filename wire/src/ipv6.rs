//! IPv6 header (RFC 8200).

use std::net::Ipv6Addr;

use crate::header::{be16, be32, fit, split};
use crate::ip::PROTO_UDP;
use crate::{Ecn, Header, WireError};

/// IPv6 header, 40 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv6 {
    /// Differentiated services code point, 6 bits.
    pub dscp: u8,
    pub ecn: Ecn,
    /// 20 bits.
    pub flow_label: u32,
    /// Bytes after this header.
    pub payload_len: u16,
    pub next_header: u8,
    pub hop_limit: u8,
    pub src: Ipv6Addr,
    pub dst: Ipv6Addr,
}

impl Default for Ipv6 {
    /// UDP, hop limit 64, addresses and length unset.
    fn default() -> Self {
        Self {
            dscp: 0,
            ecn: Ecn::NotEct,
            flow_label: 0,
            payload_len: 0,
            next_header: PROTO_UDP,
            hop_limit: 64,
            src: Ipv6Addr::UNSPECIFIED,
            dst: Ipv6Addr::UNSPECIFIED,
        }
    }
}

impl Header for Ipv6 {
    const LEN: usize = 40;
    const NAME: &'static str = "IPv6";

    /// Besides truncation: [`WireError::IpVersion`].
    fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (b, rest) = split::<{ Self::LEN }>(Self::NAME, bytes)?;
        let word = be32(b, 0);
        if word >> 28 != 6 {
            return Err(WireError::IpVersion {
                expected: 6,
                found: (word >> 28) as u8,
            });
        }
        let traffic_class = (word >> 20) as u8;
        let address = |at: usize| Ipv6Addr::from(std::array::from_fn::<u8, 16, _>(|i| b[at + i]));
        let header = Self {
            dscp: traffic_class >> 2,
            ecn: Ecn::from_traffic_class(traffic_class),
            flow_label: word & 0xf_ffff,
            payload_len: be16(b, 4),
            next_header: b[6],
            hop_limit: b[7],
            src: address(8),
            dst: address(24),
        };
        Ok((header, rest))
    }

    fn emit(&self, out: &mut Vec<u8>) {
        let traffic_class = fit("IPv6.dscp", self.dscp, 6) << 2 | self.ecn.bits();
        let word =
            6 << 28 | u32::from(traffic_class) << 20 | fit("IPv6.flow_label", self.flow_label, 20);
        out.extend_from_slice(&word.to_be_bytes());
        out.extend_from_slice(&self.payload_len.to_be_bytes());
        out.extend_from_slice(&[self.next_header, self.hop_limit]);
        out.extend_from_slice(&self.src.octets());
        out.extend_from_slice(&self.dst.octets());
    }
}
