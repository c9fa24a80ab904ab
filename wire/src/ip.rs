//! What IPv4 and IPv6 share.

use crate::ethernet::{ETHERTYPE_IPV4, ETHERTYPE_IPV6};
use crate::{Header, Ipv4, Ipv6, WireError};

/// IP protocol number: IPv4 encapsulated.
pub const PROTO_IPV4: u8 = 4;
/// IP protocol number: UDP.
pub const PROTO_UDP: u8 = 17;
/// IP protocol number: an InfiniBand transport header directly after the GRH (RoCE v1).
pub const PROTO_IBA: u8 = 27;
/// IP protocol number: IPv6 encapsulated.
pub const PROTO_IPV6: u8 = 41;

/// IPv6 next header: fragment header (RFC 8200, 4.5).
pub const IPV6_FRAGMENT: u8 = 44;

/// Explicit congestion notification field (RFC 3168), 2 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ecn {
    /// 00: sender does not understand ECN.
    #[default]
    NotEct,
    /// 01: ECN-capable transport, codepoint 1.
    Ect1,
    /// 10: ECN-capable transport, codepoint 0.
    Ect0,
    /// 11: a switch saw congestion.
    CongestionExperienced,
}

impl Ecn {
    /// From the low two bits of an IPv4 TOS or IPv6 traffic class byte.
    pub const fn from_traffic_class(byte: u8) -> Self {
        match byte & 3 {
            0 => Self::NotEct,
            1 => Self::Ect1,
            2 => Self::Ect0,
            _ => Self::CongestionExperienced,
        }
    }

    /// The two bits.
    pub const fn bits(self) -> u8 {
        self as u8
    }
}

/// An IP header of either version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ip {
    V4(Ipv4),
    V6(Ipv6),
}

impl Default for Ip {
    fn default() -> Self {
        Self::V4(Ipv4::default())
    }
}

impl Ip {
    /// EtherType that announces this version.
    pub const fn ethertype(&self) -> u16 {
        match self {
            Self::V4(_) => ETHERTYPE_IPV4,
            Self::V6(_) => ETHERTYPE_IPV6,
        }
    }

    /// Protocol number that announces this version inside another IP header.
    pub const fn encapsulated_protocol(&self) -> u8 {
        match self {
            Self::V4(_) => PROTO_IPV4,
            Self::V6(_) => PROTO_IPV6,
        }
    }

    /// Header length in bytes.
    pub const fn header_len(&self) -> usize {
        match self {
            Self::V4(_) => Ipv4::LEN,
            Self::V6(_) => Ipv6::LEN,
        }
    }

    /// ECN field.
    pub const fn ecn(&self) -> Ecn {
        match self {
            Self::V4(ip) => ip.ecn,
            Self::V6(ip) => ip.ecn,
        }
    }

    /// Protocol number (IPv4) or next header (IPv6).
    pub const fn protocol(&self) -> u8 {
        match self {
            Self::V4(ip) => ip.protocol,
            Self::V6(ip) => ip.next_header,
        }
    }

    /// Takes a header of the version `ethertype` announces off `bytes`.
    ///
    /// # Errors
    /// [`WireError::EtherType`] if it announces no IP; otherwise those of [`Ipv4`] and [`Ipv6`].
    pub fn parse(ethertype: u16, bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        match ethertype {
            ETHERTYPE_IPV4 => Ipv4::parse(bytes).map(|(ip, rest)| (Self::V4(ip), rest)),
            ETHERTYPE_IPV6 => Ipv6::parse(bytes).map(|(ip, rest)| (Self::V6(ip), rest)),
            other => Err(WireError::EtherType(other)),
        }
    }

    /// Appends the header.
    pub fn emit(&self, out: &mut Vec<u8>) {
        match self {
            Self::V4(ip) => ip.emit(out),
            Self::V6(ip) => ip.emit(out),
        }
    }

    /// Checks the length field against the `payload` bytes that follow the header in the packet.
    ///
    /// # Errors
    /// [`WireError::LengthShort`], [`WireError::LengthLong`].
    pub fn check_length(&self, payload: usize) -> Result<(), WireError> {
        match self {
            Self::V4(ip) => compare_length("IPv4", usize::from(ip.total_len), Ipv4::LEN + payload),
            Self::V6(ip) => compare_length("IPv6", usize::from(ip.payload_len), payload),
        }
    }

    /// The header with protocol and length set for `payload` bytes of `protocol`.
    ///
    /// # Errors
    /// [`WireError::TooLong`] if the length does not fit 16 bits.
    pub fn carrying(self, protocol: u8, payload: usize) -> Result<Self, WireError> {
        Ok(match self {
            Self::V4(ip) => {
                let total_len = length16("IPv4", Ipv4::LEN + payload)?;
                Self::V4(Ipv4 {
                    protocol,
                    total_len,
                    ..ip
                })
            }
            Self::V6(ip) => {
                let payload_len = length16("IPv6", payload)?;
                Self::V6(Ipv6 {
                    next_header: protocol,
                    payload_len,
                    ..ip
                })
            }
        })
    }
}

/// Compares a layer's length field with what arrived.
pub(crate) fn compare_length(
    layer: &'static str,
    claimed: usize,
    actual: usize,
) -> Result<(), WireError> {
    match actual.cmp(&claimed) {
        std::cmp::Ordering::Less => Err(WireError::LengthShort {
            layer,
            claimed,
            actual,
        }),
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Greater => Err(WireError::LengthLong {
            layer,
            claimed,
            actual,
        }),
    }
}

/// A length as its 16-bit field.
pub(crate) fn length16(layer: &'static str, length: usize) -> Result<u16, WireError> {
    u16::try_from(length).map_err(|_| WireError::TooLong { layer, length })
}
