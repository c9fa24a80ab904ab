//! The hash of ECMP.

use std::net::IpAddr;

/// What makes a flow, without its ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowKey {
    /// Source of the outermost IP header.
    pub src: IpAddr,
    /// Its destination.
    pub dst: IpAddr,
    /// Its protocol or next header.
    pub protocol: u8,
    /// IPv6 flow label; 0 with IPv4.
    pub flow_label: u32,
}

/// The hash by which switches choose among equal paths, before the ports. Each switch mixes a seed of its own into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowHash(u64);

impl FlowHash {
    /// The hash of a flow.
    pub fn new(key: &FlowKey) -> Self {
        let addresses = match (key.src, key.dst) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => {
                mix_bytes(mix_bytes(key.protocol.into(), &src.octets()), &dst.octets())
            }
            (src, dst) => {
                let octets = |address| match address {
                    IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
                    IpAddr::V6(address) => address.octets(),
                };
                let hash = mix_bytes(key.protocol.into(), &octets(src));
                mix_bytes(hash, &octets(dst)) ^ u64::from(key.flow_label)
            }
        };
        Self(mix(addresses))
    }

    /// The hash of a packet whose IP header is not followed by UDP, or by a header that switches do not look into.
    pub const fn without_ports(self) -> u64 {
        self.0
    }

    /// The hash of a packet with these UDP ports.
    #[inline]
    pub const fn with_ports(self, sport: u16, dport: u16) -> u64 {
        mix(self.0 ^ (sport as u64) << 16 ^ dport as u64)
    }
}

/// Finalizer of SplitMix64 (Steele, Lea and Flood 2014): every input bit changes every output bit with probability near
/// one half. Unlike a CRC it is not linear, so switches with different seeds choose independently.
#[inline]
pub(crate) const fn mix(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// Mixes `bytes`, a multiple of four of them, into `hash`.
fn mix_bytes(hash: u64, bytes: &[u8]) -> u64 {
    bytes.chunks_exact(4).fold(hash, |hash, word| {
        let word = u32::from_be_bytes([word[0], word[1], word[2], word[3]]);
        mix(hash ^ u64::from(word))
    })
}

/// One of `choices` indices, chosen by the high bits of `hash`.
#[inline]
pub(crate) fn choose(hash: u64, choices: usize) -> usize {
    ((u128::from(hash) * choices as u128) >> 64) as usize
}
