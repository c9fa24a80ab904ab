//! SRv6 with compressed segments (RFC 9800 NEXT-CSID, "uSID") as a NIC uses it: H.Encaps.Red with one container.

use std::net::Ipv6Addr;

use crate::ip::length16;
use crate::{Ecn, Ipv6, WireError};

/// A uSID container in format F3216: a 32-bit locator block and six 16-bit uSIDs, the unused tail zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct UsidContainer {
    /// Locator block, the first 32 bits of the address.
    pub block: u32,
    /// Next hop first. Zero ends the list.
    pub usids: [u16; UsidContainer::CAPACITY],
}

impl UsidContainer {
    /// uSIDs in one container: (128 - 32) / 16.
    pub const CAPACITY: usize = 6;

    /// A container with `path` in order; `None` if it is longer than [`Self::CAPACITY`] or contains the
    /// end-of-container value 0, which would cut the path there.
    pub fn new(block: u32, path: &[u16]) -> Option<Self> {
        if path.len() > Self::CAPACITY || path.contains(&0) {
            return None;
        }
        let mut usids = [0; Self::CAPACITY];
        usids[..path.len()].copy_from_slice(path);
        Some(Self { block, usids })
    }

    /// The segment in front.
    pub const fn active(&self) -> u16 {
        self.usids[0]
    }

    /// Returns the container after a shift by the node of the active segment (RFC 9800, section 4.1). The argument moves up over the active uSID, and
    /// zeros fill the end. Returns `None` if the argument is zero. This was then the last segment of the container, and the packet gets plain End
    /// processing.
    pub fn next(&self) -> Option<Self> {
        let argument = &self.usids[1..];
        if argument.iter().all(|&usid| usid == 0) {
            return None;
        }
        let mut usids = [0; Self::CAPACITY];
        usids[..argument.len()].copy_from_slice(argument);
        Some(Self {
            block: self.block,
            usids,
        })
    }
}

impl From<UsidContainer> for Ipv6Addr {
    fn from(container: UsidContainer) -> Self {
        let usids = container
            .usids
            .iter()
            .fold(0u128, |acc, &usid| acc << 16 | u128::from(usid));
        Self::from(u128::from(container.block) << 96 | usids)
    }
}

impl From<Ipv6Addr> for UsidContainer {
    fn from(address: Ipv6Addr) -> Self {
        let bits = u128::from(address);
        Self {
            block: (bits >> 96) as u32,
            usids: std::array::from_fn(|i| (bits >> (80 - 16 * i)) as u16),
        }
    }
}

/// Outer IPv6 header of H.Encaps.Red (RFC 8986 section 5.2) whose policy fits one container, so that there is no
/// segment routing header. Length and next header follow from the packet inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Srv6Encap {
    /// Differentiated services code point, 6 bits.
    pub dscp: u8,
    pub ecn: Ecn,
    /// 20 bits.
    pub flow_label: u32,
    pub hop_limit: u8,
    pub src: Ipv6Addr,
    /// The path; it becomes the outer destination address.
    pub path: UsidContainer,
}

impl Default for Srv6Encap {
    /// Hop limit 64, empty path.
    fn default() -> Self {
        Self {
            dscp: 0,
            ecn: Ecn::NotEct,
            flow_label: 0,
            hop_limit: 64,
            src: Ipv6Addr::UNSPECIFIED,
            path: UsidContainer::default(),
        }
    }
}

impl Srv6Encap {
    /// The outer header around a packet of `length` bytes whose version `protocol` names (4 or 41).
    ///
    /// # Errors
    /// [`WireError::TooLong`] if the length does not fit 16 bits.
    pub fn outer_header(&self, protocol: u8, length: usize) -> Result<Ipv6, WireError> {
        Ok(Ipv6 {
            dscp: self.dscp,
            ecn: self.ecn,
            flow_label: self.flow_label,
            payload_len: length16("outer IPv6", length)?,
            next_header: protocol,
            hop_limit: self.hop_limit,
            src: self.src,
            dst: self.path.into(),
        })
    }
}

impl From<Ipv6> for Srv6Encap {
    /// Keeps the fields of the encapsulation, and drops length and next header.
    fn from(outer: Ipv6) -> Self {
        Self {
            dscp: outer.dscp,
            ecn: outer.ecn,
            flow_label: outer.flow_label,
            hop_limit: outer.hop_limit,
            src: outer.src,
            path: outer.dst.into(),
        }
    }
}
