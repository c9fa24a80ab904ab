//! The tables of a port, for the reference and for the hardware.

use std::net::{IpAddr, Ipv6Addr};

use hdl_testkit::equivalence::TestRng;
use rand::Rng;
use rust_hdl::prelude::*;
use stellar_transport::endpoint::PlaneAddress;
use stellar_transport::spray::{EntropyField, EvIndex, Path, Srv6Template};
use stellar_wire::hw::address::{FrameAddress, PortConfig, VECTOR_BITS};
use stellar_wire::hw::control::QpPeer;
use stellar_wire::mrc::Entropy;
use stellar_wire::rows::{PeerRow, QpMode};
use stellar_wire::{MacAddr, UsidContainer};

/// log2 of the queue pairs of the lane under test.
pub const QP_BITS: usize = 3;
/// Queue pairs of the lane under test.
pub const QPS: usize = 1 << QP_BITS;

/// The address vector of a queue pair's peer: another number than that of the queue pair, up to the last one.
pub fn vector_of(qp: usize) -> u16 {
    ((1 << VECTOR_BITS) - 1 - 5 * qp) as u16
}

/// Source routes, for the reference and for the hardware.
#[derive(Clone, Copy, Debug)]
pub struct SourceRoute {
    pub container: UsidContainer,
    pub plane_step: u16,
    pub t1: usize,
    pub uplink: EntropyField,
}

impl SourceRoute {
    pub fn template(&self) -> Srv6Template {
        Srv6Template::new(self.container, self.plane_step, self.t1, self.uplink).expect("a route")
    }

    /// The path of an entropy value through a port, which is its plane.
    pub fn path(&self, port: u8, entropy: Entropy) -> UsidContainer {
        self.template().container(&Path {
            index: EvIndex::new(port).expect("an index of the plane"),
            plane: port,
            entropy,
        })
    }
}

/// The addresses of a queue pair at one port.
#[derive(Clone, Copy, Debug)]
pub struct QpRoute {
    pub peer_qp: u32,
    pub pkey: u16,
    pub peer: PlaneAddress,
    pub source_route: Option<SourceRoute>,
}

pub fn wide(value: u128) -> Bits<128> {
    (0..128).fold(Bits::default(), |bits, i| {
        bits.replace_bit(i, value >> i & 1 == 1)
    })
}

fn ip_bits(ip: IpAddr) -> Bits<128> {
    wide(match ip {
        IpAddr::V4(ip) => u32::from(ip).into(),
        IpAddr::V6(ip) => ip.into(),
    })
}

fn mac_bits(mac: MacAddr) -> Bits<48> {
    mac.0
        .iter()
        .fold(0u64, |all, &byte| all << 8 | u64::from(byte))
        .to_bits()
}

impl QpRoute {
    /// The entry of the table of peers, if `vector` is the address vector of the peer's host.
    pub fn peer(&self, vector: u16) -> QpPeer {
        PeerRow::new(QpMode::Mrc, self.pkey, self.peer_qp, vector).to_hw()
    }

    /// The address vector at `port`.
    pub fn address(&self, port: u8) -> FrameAddress {
        let path = self.source_route.map_or(UsidContainer::default(), |route| {
            route.path(port, Entropy(0))
        });
        let (t1, low, bits) = self.source_route.map_or((0, 0, 0), |route| {
            (route.t1, route.uplink.low, route.uplink.bits)
        });
        FrameAddress {
            peer_mac: mac_bits(self.peer.mac),
            version6: self.peer.ip.is_ipv6(),
            peer_ip: ip_bits(self.peer.ip),
            srv6: self.source_route.is_some(),
            path: wide(Ipv6Addr::from(path).into()),
            t1: (t1 as u64).to_bits(),
            uplink_low: u64::from(low).to_bits(),
            uplink_bits: u64::from(bits).to_bits(),
        }
    }
}

/// A port and the addresses of its queue pairs.
#[derive(Clone, Debug)]
pub struct Tables {
    pub port: u8,
    pub mac: MacAddr,
    /// The IPv6 address; its low 32 bits are the IPv4 address.
    pub ip: Ipv6Addr,
    pub data_dscp: u8,
    pub control_dscp: u8,
    pub udp_port: u16,
    pub hop_limit: u8,
    pub routes: Vec<QpRoute>,
}

impl Tables {
    pub fn config(&self) -> PortConfig {
        PortConfig {
            mac: mac_bits(self.mac),
            ip: wide(self.ip.into()),
            data_dscp: u64::from(self.data_dscp).to_bits(),
            control_dscp: u64::from(self.control_dscp).to_bits(),
            udp_port: u64::from(self.udp_port).to_bits(),
            hop_limit: u64::from(self.hop_limit).to_bits(),
        }
    }

    /// A port, with addresses of every kind.
    pub fn random(rng: &mut TestRng) -> Self {
        let routes = (0..QPS)
            .map(|_| {
                let version6 = rng.random_bool(0.7);
                let ip = if version6 {
                    IpAddr::V6(rng.random::<u128>().into())
                } else {
                    IpAddr::V4(rng.random::<u32>().into())
                };
                QpRoute {
                    peer_qp: rng.random_range(0..1 << 24),
                    pkey: rng.random(),
                    peer: PlaneAddress {
                        mac: MacAddr(rng.random()),
                        ip,
                    },
                    source_route: (version6 && rng.random_bool(0.6)).then(|| route(rng)),
                }
            })
            .collect();
        Self {
            port: rng.random_range(0..2),
            mac: MacAddr(rng.random()),
            ip: rng.random::<u128>().into(),
            data_dscp: rng.random_range(0..64),
            control_dscp: rng.random_range(0..64),
            udp_port: rng.random(),
            hop_limit: rng.random(),
            routes,
        }
    }
}

fn route(rng: &mut TestRng) -> SourceRoute {
    let length = rng.random_range(1..=UsidContainer::CAPACITY);
    let bits = rng.random_range(1..=16u8);
    let t1 = rng.random_range(0..length);
    // The largest sum must fit 16 bits, and the smallest must not be zero.
    let plane_step = rng.random_range(0..=0xffu16);
    let usids: Vec<u16> = (0..length)
        .map(|i| {
            let uplinks = if i == t1 { (1u32 << bits) - 1 } else { 0 };
            let most = (0xffff_u32 - u32::from(plane_step)).saturating_sub(uplinks);
            rng.random_range(1..=most.max(1)) as u16
        })
        .collect();
    let uplink = EntropyField {
        low: rng.random_range(0..=32 - bits),
        bits,
    };
    let container = UsidContainer::new(rng.random(), &usids).expect("a container");
    let route = SourceRoute {
        container,
        plane_step,
        t1,
        uplink,
    };
    // With 16 bits of uplink nothing is left for the uSID itself.
    match Srv6Template::new(container, plane_step, t1, uplink) {
        Ok(_) => route,
        Err(_) => self::route(rng),
    }
}
