//! Ethernet II and the IEEE 802.1Q tag.

use std::fmt;

use crate::header::{be16, fit, split};
use crate::{Header, WireError};

/// EtherType of IPv4.
pub const ETHERTYPE_IPV4: u16 = 0x0800;
/// EtherType of IPv6.
pub const ETHERTYPE_IPV6: u16 = 0x86dd;
/// EtherType (TPID) of an 802.1Q tag.
pub const ETHERTYPE_VLAN: u16 = 0x8100;

/// Least bytes between the header of a frame, with its tag if it has one, and its FCS (IEEE 802.3, 3.2.8). A frame with less is padded.
pub const MIN_PAYLOAD: usize = 46;

/// A 48-bit MAC address in transmission order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MacAddr(pub [u8; 6]);

impl fmt::Display for MacAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

/// Ethernet II header (14 bytes), without preamble and FCS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ethernet {
    pub dst: MacAddr,
    pub src: MacAddr,
    /// Type of the next header, which may be a [`Vlan`] tag.
    pub ethertype: u16,
}

impl Header for Ethernet {
    const LEN: usize = 14;
    const NAME: &'static str = "Ethernet";

    fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (b, rest) = split::<{ Self::LEN }>(Self::NAME, bytes)?;
        let mac = |at: usize| MacAddr(std::array::from_fn(|i| b[at + i]));
        Ok((
            Self {
                dst: mac(0),
                src: mac(6),
                ethertype: be16(b, 12),
            },
            rest,
        ))
    }

    fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.dst.0);
        out.extend_from_slice(&self.src.0);
        out.extend_from_slice(&self.ethertype.to_be_bytes());
    }
}

/// 802.1Q tag as it follows the TPID 0x8100 (4 bytes: tag control information and the next EtherType).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vlan {
    /// Priority code point, 3 bits.
    pub pcp: u8,
    /// Drop eligible indicator.
    pub dei: bool,
    /// VLAN identifier, 12 bits.
    pub vid: u16,
    /// Type of the header after the tag.
    pub ethertype: u16,
}

impl Header for Vlan {
    const LEN: usize = 4;
    const NAME: &'static str = "802.1Q";

    fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (b, rest) = split::<{ Self::LEN }>(Self::NAME, bytes)?;
        let tci = be16(b, 0);
        let tag = Self {
            pcp: (tci >> 13) as u8,
            dei: tci & 0x1000 != 0,
            vid: tci & 0x0fff,
            ethertype: be16(b, 2),
        };
        Ok((tag, rest))
    }

    fn emit(&self, out: &mut Vec<u8>) {
        let tci = u16::from(fit("802.1Q.pcp", self.pcp, 3)) << 13
            | u16::from(self.dei) << 12
            | fit("802.1Q.vid", self.vid, 12);
        out.extend_from_slice(&tci.to_be_bytes());
        out.extend_from_slice(&self.ethertype.to_be_bytes());
    }
}
