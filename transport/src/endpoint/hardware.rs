//! What software writes into the card's tables for a card and its queue pairs: rows as the hardware's tables hold them.

use std::net::{IpAddr, Ipv6Addr};

use rust_hdl::prelude::*;
use stellar_wire::hw::address::{FrameAddress, PortConfig};
use stellar_wire::hw::messages::SendQueueConfig;
use stellar_wire::hw::requester::RequesterConfig;
use stellar_wire::hw::responder::ResponderConfig;
use stellar_wire::MacAddr;

use super::{EndpointConfig, PlaneAddress, QpConfig, TransportConfig};
use crate::requester::{QpIdentity, SqRing};
use crate::rx::{ControlPeer, QpContext, QpMode, QpState};

/// Hop limit, and time to live, of frames.
const HOP_LIMIT: u64 = 64;

fn bits<const N: usize>(value: impl Into<u64>) -> Bits<N> {
    value.into().to_bits()
}

fn wide(value: u128) -> Bits<128> {
    (0..128).fold(Bits::default(), |bits, i| {
        bits.replace_bit(i, value >> i & 1 == 1)
    })
}

fn mac(address: MacAddr) -> Bits<48> {
    let number = address
        .0
        .iter()
        .fold(0u64, |number, &byte| number << 8 | u64::from(byte));
    bits(number)
}

/// Whether it is version 6, and the address; version 4 in the low 32 bits.
fn ip(address: IpAddr) -> (bool, Bits<128>) {
    match address {
        IpAddr::V4(address) => (false, wide(u32::from(address).into())),
        IpAddr::V6(address) => (true, wide(address.into())),
    }
}

/// A port's own addresses and code points.
pub fn port(config: &EndpointConfig, plane: PlaneAddress) -> PortConfig {
    PortConfig {
        mac: mac(plane.mac),
        ip: ip(plane.ip).1,
        data_dscp: bits(config.data_dscp),
        control_dscp: bits(config.control_dscp),
        udp_port: bits(config.rx.udp_port),
        hop_limit: bits(HOP_LIMIT),
    }
}

/// Receive context of a queue pair that is ready.
pub fn context(config: &QpConfig) -> QpContext {
    QpContext {
        state: QpState::Ready,
        mode: config.transport.mode(),
        pd: config.pd,
        pkey: config.pkey,
        mtu_log2: config.mtu_log2,
        initial_psn: config.rq_psn,
        remote_write: config.remote_write,
    }
}

/// Where frames go in a plane.
pub fn address(config: &QpConfig, plane: usize) -> FrameAddress {
    let peer = config.peer.planes[plane];
    let (version6, peer_ip) = ip(peer.ip);
    let route = config.srv6.map_or_else(FrameAddress::default, |template| {
        let path = Ipv6Addr::from(template.first_container(plane as u8));
        FrameAddress {
            srv6: true,
            path: wide(path.into()),
            t1: bits(template.t1() as u64),
            uplink_low: bits(template.uplink().low),
            uplink_bits: bits(template.uplink().bits),
            ..FrameAddress::default()
        }
    });
    FrameAddress {
        peer_qp: bits(config.peer.qp),
        pkey: bits(config.pkey),
        peer_mac: mac(peer.mac),
        version6,
        peer_ip,
        ..route
    }
}

/// Whose control packets are taken.
pub fn peer(config: &QpConfig) -> ControlPeer {
    ControlPeer {
        mode: config.transport.mode(),
        pkey: config.pkey,
        qp: config.peer.qp,
        addresses: config.peer.planes.map(|plane| plane.ip),
    }
}

/// Receive side.
pub fn responder(config: &QpConfig) -> ResponderConfig {
    ResponderConfig {
        mrc: config.transport.mode() == QpMode::Mrc,
        mtu_log2: bits(config.mtu_log2),
        initial_psn: bits(config.rq_psn.value()),
        max_wimm: bits(config.imm.max_wimm),
        sack_every: bits(config.sack_every),
        completions: config.imm.completions,
    }
}

/// Registers of the requester.
pub fn requester(config: &QpConfig) -> RequesterConfig {
    let qp = QpIdentity {
        local: config.number,
        peer: config.peer.qp,
        pd: config.pd,
        mtu: 1 << config.mtu_log2,
    };
    match &config.transport {
        TransportConfig::Mrc(mrc) => mrc.to_hw(&qp, config.page, config.sq_psn),
        TransportConfig::Rc(rc) => rc.to_hw(&qp, config.page, config.sq_psn),
    }
}

/// Send queue in `ring`.
pub fn send_queue(config: &QpConfig, ring: SqRing) -> SendQueueConfig {
    // RC has no limit: a responder completes each message as it ends.
    let max_wimm = match config.transport.mode() {
        QpMode::Mrc => config.imm.max_wimm,
        QpMode::Rc => u16::MAX,
    };
    ring.to_hw(1 << config.mtu_log2, max_wimm)
}
