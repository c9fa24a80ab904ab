//! Control packets, most of them as a peer sends them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;
use stellar_transport::rx::{ControlPeer, QpMode};
use stellar_wire::config::PlaneAddress;
use stellar_wire::mrc::{
    CcState, CongestionTag, Entropy, NackReason, Neth, PathHint, Peth, Seth, Tseth,
};
use stellar_wire::{
    Aeth, Bth, Ecn, ExtHeaders, Ip, Ipv4, Ipv6, MacAddr, Opcode, RoceFrame, Srv6Encap, Syndrome,
    Udp, Vlan,
};

use crate::front::frames::write;

/// Queue pairs with a peer.
pub const QPS: [u32; 4] = [2, 3, 0x155, 1023];

/// The address of the port: the one that a frame has by default.
pub const OWN: PlaneAddress = PlaneAddress {
    mac: MacAddr([0; 6]),
    ip: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
};

/// The address vector of a queue pair's peer: another number than that of the queue pair.
pub const fn vector_of(qp: u32) -> u16 {
    (3 * qp + 1) as u16
}

/// Returns the peer of a queue pair. Among the queue pairs are both modes, RC with and without probes, and both address families.
pub fn peer(qp: u32) -> ControlPeer {
    let addresses = if qp % 4 == 3 {
        [1, 2].map(|n| IpAddr::V6(Ipv6Addr::new(0xfd00, 7, 0, 0, 0x8000, 0, qp as u16, n)))
    } else {
        [1, 2].map(|n| IpAddr::V4(Ipv4Addr::new(10, 200, qp as u8, n)))
    };
    ControlPeer {
        mode: if qp == 2 || qp == 1023 {
            QpMode::Mrc
        } else {
            QpMode::Rc
        },
        pkey: 0x7abc | (qp as u16) << 15,
        qp: 0x51_0000 + qp * 3,
        addresses,
        probes: qp == 3,
    }
}

/// The field that differs from a packet of the peer.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Flaw {
    None,
    OtherMode,
    Pkey,
    Limited,
    Source,
    SourceContext,
    DestinationContext,
    /// The packet names another queue pair, with or without a peer.
    Number(u32),
    Version,
    Payload(u8),
}

fn flaw() -> impl Strategy<Value = Flaw> {
    prop_oneof![
        12 => Just(Flaw::None),
        1 => Just(Flaw::OtherMode),
        1 => Just(Flaw::Pkey),
        1 => Just(Flaw::Limited),
        1 => Just(Flaw::Source),
        1 => Just(Flaw::SourceContext),
        1 => Just(Flaw::DestinationContext),
        1 => prop::sample::select(&[0_u32, 1, 5, 2 + 1024, 0x80_0002, 3][..]).prop_map(Flaw::Number),
        1 => Just(Flaw::Version),
        1 => (1..20_u8).prop_map(Flaw::Payload),
    ]
}

/// A control packet of any kind to one of [`QPS`].
pub fn control() -> impl Strategy<Value = RoceFrame> {
    let numbers = any::<(u64, u32, u32, u16, u16, u16, u8, u8)>();
    let outer = any::<(bool, bool, u8, u8, bool)>();
    (
        prop::sample::select(&QPS[..]),
        0..4_u8,
        flaw(),
        numbers,
        outer,
    )
        .prop_map(|(qp, kind, flaw, numbers, outer)| build(qp, kind, flaw, numbers, outer))
}

/// An RDMA write for one of [`QPS`], in most cases from its peer and for this port.
pub fn data() -> impl Strategy<Value = RoceFrame> {
    let addresses = (any::<bool>(), 0..6_u8, any::<u8>());
    (prop::sample::select(&QPS[..]), write(), addresses).prop_map(
        |(qp, frame, (second, flaw, bit))| {
            let source = peer(qp).addresses[usize::from(second)];
            let source = if flaw == 0 {
                flipped(source, bit)
            } else {
                source
            };
            let mut ip = addressed(source, Ecn::Ect0, 0);
            if flaw == 1 {
                match &mut ip {
                    Ip::V4(ip) => ip.dst = (1_u32 << (bit % 32)).into(),
                    Ip::V6(ip) => ip.dst = (1_u128 << (bit % 128)).into(),
                }
            }
            RoceFrame {
                ip,
                bth: Bth {
                    dest_qp: qp,
                    ..frame.bth
                },
                ..frame
            }
        },
    )
}

/// An address that differs in one bit.
fn flipped(address: IpAddr, bit: u8) -> IpAddr {
    match address {
        IpAddr::V4(ip) => IpAddr::V4((u32::from(ip) ^ 1 << (bit % 32)).into()),
        IpAddr::V6(ip) => IpAddr::V6((u128::from(ip) ^ 1 << (bit % 128)).into()),
    }
}

/// An IP header from an address to this port.
fn addressed(source: IpAddr, ecn: Ecn, flow_label: u32) -> Ip {
    match source {
        IpAddr::V4(src) => Ip::V4(Ipv4 {
            src,
            ecn,
            ..Ipv4::default()
        }),
        IpAddr::V6(src) => Ip::V6(Ipv6 {
            src,
            ecn,
            flow_label,
            ..Ipv6::default()
        }),
    }
}

type Numbers = (u64, u32, u32, u16, u16, u16, u8, u8);

fn build(
    qp: u32,
    kind: u8,
    flaw: Flaw,
    numbers: Numbers,
    (tagged, srv6, ecn, outer_ecn, second): (bool, bool, u8, u8, bool),
) -> RoceFrame {
    let peer = peer(qp);
    let (bitmap, entropy, psn, a, b, sport, c, d) = numbers;
    let has_packets_of_mrc = peer.mode == QpMode::Mrc || peer.probes && psn & 1 == 1;
    let mrc = has_packets_of_mrc ^ (flaw == Flaw::OtherMode);
    let mut contexts = (peer.qp as u16, qp as u16);
    match flaw {
        Flaw::SourceContext => contexts.0 ^= 1 << (a % 16),
        Flaw::DestinationContext => contexts.1 ^= 1 << (a % 16),
        _ => {}
    }
    let mut ext = ExtHeaders::default();
    let opcode = match (mrc, kind) {
        (false, _) => Opcode::RcAck,
        (true, 0) => Opcode::MrcSack,
        (true, 1) => Opcode::MrcNack,
        (true, 2) => Opcode::MrcProbe,
        (true, _) => Opcode::MrcAck,
    };
    let congestion = CongestionTag {
        cc_type: c >> 4,
        cc_flags: d >> 4,
    };
    match opcode {
        Opcode::MrcSack => {
            ext.seth = Some(Seth {
                path_hint: [PathHint::Good, PathHint::SkipOnce, PathHint::AlwaysSkip]
                    [usize::from(c % 3)],
                probe_response: c & 64 != 0,
                ack_psn_offset: a as i16,
                entropy: Entropy(entropy),
                src_context: contexts.0,
                dst_context: contexts.1,
                cack_psn: psn >> 8,
                congestion,
                mpr: d,
                sack_offset: b as i16,
                bitmap,
            });
            ext.cc_state = Some(CcState {
                tx_timestamp: sport ^ a,
                ooo_count: b & 0x7fff,
                restore_cwnd: d & 1 == 1,
                rcv_cwnd_pen: c & 0x7f,
                rcvd_bytes: entropy >> 8,
            });
        }
        Opcode::MrcNack => {
            ext.neth = Some(Neth {
                reason: NackReason::from_byte(c),
                vendor_info: d,
                entropy: Entropy(entropy),
                src_context: contexts.0,
                dst_context: contexts.1,
                nack_psn: psn >> 8,
                congestion,
                tx_timestamp: a,
            });
        }
        Opcode::MrcProbe => {
            ext.peth = Some(Peth {
                vendor_info: d,
                probe_id: a,
                src_context: contexts.0,
                dst_context: contexts.1,
                timestamp: Tseth {
                    tx_timestamp: b,
                    own_resolution: c & 1 == 1,
                    format: d & 15,
                },
            });
        }
        _ => {
            ext.aeth = Some(Aeth {
                syndrome: Syndrome::from_byte(c),
                msn: entropy >> 8,
            });
        }
    }
    let mut source = peer.addresses[usize::from(second)];
    if flaw == Flaw::Source {
        source = flipped(source, a as u8);
    }
    let ecn = Ecn::from_traffic_class(ecn);
    let pkey = match flaw {
        Flaw::Pkey => peer.pkey ^ 1 << (a % 15),
        Flaw::Limited => peer.pkey & 0x7fff,
        _ => peer.pkey | 0x8000,
    };
    RoceFrame {
        vlan: tagged.then(Vlan::default),
        srv6: srv6.then(|| Srv6Encap {
            ecn: Ecn::from_traffic_class(outer_ecn),
            ..Srv6Encap::default()
        }),
        ip: addressed(source, ecn, psn >> 12),
        udp: Udp {
            sport,
            ..Udp::default()
        },
        bth: Bth {
            opcode,
            pkey,
            tver: u8::from(flaw == Flaw::Version),
            dest_qp: if let Flaw::Number(number) = flaw {
                number
            } else {
                qp
            },
            psn: entropy & 0xff_ffff,
            ..Bth::default()
        },
        ext,
        payload: if let Flaw::Payload(length) = flaw {
            vec![0x5a; length.into()]
        } else {
            vec![]
        },
        ..RoceFrame::default()
    }
}

/// Returns a packet as the peer sends it.
pub fn good(qp: u32, kind: u8, number: u32) -> RoceFrame {
    let numbers = (u64::from(number), number, number, 1, 2, 3, 0, 0);
    build(qp, kind, Flaw::None, numbers, (false, false, 0, 0, false))
}
