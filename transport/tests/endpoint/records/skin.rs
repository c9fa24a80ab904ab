//! The two skins of a card, for a channel that does not know which one it drives.

use std::net::IpAddr;

use stellar_transport::endpoint::{Endpoint, Packet, PlaneAddress, Transit};
use stellar_transport::rx::{ControlBody, ControlPacket, Psn};
use stellar_transport::time::Ticks;
use stellar_wire::mrc::{Entropy, Neth};
use stellar_wire::{Bth, Ecn, Ethernet, ExtHeaders, Ip, Ipv4, Opcode, RoceFrame, Udp};

use crate::endpoint::cards::TestMemory;

/// What an observer of a line sees of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    pub length: usize,
    pub opcode: Opcode,
    pub dest_qp: u32,
    pub psn: u32,
    pub entropy: Entropy,
    pub retransmission: bool,
    /// Time stamp that an answer reflects, 0 without one.
    pub stamp: u16,
}

/// A NACK that does not come from a card.
#[derive(Clone, Copy, Debug)]
pub struct CraftedNack {
    pub source: IpAddr,
    pub destination: PlaneAddress,
    pub dest_qp: u32,
    pub neth: Neth,
}

/// A way in which packets leave and reach a card.
pub trait Skin {
    type Parcel: Clone;

    fn poll(
        card: &mut Endpoint<TestMemory>,
        port: usize,
        now: Ticks,
    ) -> Option<(Head, Self::Parcel)>;

    fn receive(
        card: &mut Endpoint<TestMemory>,
        port: usize,
        parcel: &Self::Parcel,
        transit: Transit,
        now: Ticks,
    );

    fn nack(nack: &CraftedNack) -> Self::Parcel;
}

/// Frames.
pub struct Bytes;

impl Skin for Bytes {
    type Parcel = RoceFrame;

    fn poll(card: &mut Endpoint<TestMemory>, port: usize, now: Ticks) -> Option<(Head, RoceFrame)> {
        let bytes = card.poll_transmit(port, now)?;
        let frame = RoceFrame::parse(&bytes).expect("a card sends good frames");
        let peth = frame.ext.peth.map(|peth| peth.timestamp);
        let head = Head {
            length: bytes.len(),
            opcode: frame.bth.opcode,
            dest_qp: frame.bth.dest_qp,
            psn: frame.bth.psn,
            entropy: Entropy::of(&frame.ip, &frame.udp),
            retransmission: frame.bth.retransmit,
            stamp: frame
                .ext
                .tseth
                .or(peth)
                .map_or(0, |tseth| tseth.tx_timestamp),
        };
        Some((head, frame))
    }

    fn receive(
        card: &mut Endpoint<TestMemory>,
        port: usize,
        parcel: &RoceFrame,
        transit: Transit,
        now: Ticks,
    ) {
        let mut frame = parcel.clone();
        if transit.marked {
            match &mut frame.ip {
                Ip::V4(ip) => ip.ecn = Ecn::CongestionExperienced,
                Ip::V6(ip) => ip.ecn = Ecn::CongestionExperienced,
            }
        }
        if transit.trimmed {
            frame.payload.clear();
        }
        let mut bytes = frame.emit().expect("still a frame");
        if transit.trimmed {
            // What stands in the place of the iCRC was payload.
            *bytes.last_mut().expect("an iCRC") ^= 0xff;
        }
        card.receive(port, &bytes, now);
    }

    fn nack(nack: &CraftedNack) -> RoceFrame {
        let (IpAddr::V4(src), IpAddr::V4(dst)) = (nack.source, nack.destination.ip) else {
            unreachable!("the cards have IPv4 addresses");
        };
        RoceFrame {
            eth: Ethernet {
                dst: nack.destination.mac,
                ..Ethernet::default()
            },
            ip: Ip::V4(Ipv4 {
                src,
                dst,
                ..Ipv4::default()
            }),
            udp: Udp {
                dport: 4791,
                ..Udp::default()
            },
            bth: Bth {
                opcode: Opcode::MrcNack,
                pkey: 0xffff,
                dest_qp: nack.dest_qp,
                psn: nack.neth.nack_psn,
                ..Bth::default()
            },
            ext: ExtHeaders {
                neth: Some(nack.neth),
                ..ExtHeaders::default()
            },
            ..RoceFrame::default()
        }
    }
}

/// Records.
pub struct Records;

impl Skin for Records {
    type Parcel = Packet;

    fn poll(card: &mut Endpoint<TestMemory>, port: usize, now: Ticks) -> Option<(Head, Packet)> {
        let departure = card.poll_packet(port, now)?;
        let packet = departure.packet;
        let (opcode, retransmission, stamp) = match &packet {
            Packet::Data(data) => (
                data.opcode(),
                data.retransmission,
                data.timestamp.unwrap_or(0),
            ),
            Packet::Control(control) => {
                let stamp = match control.body {
                    ControlBody::Probe(peth) => peth.timestamp.tx_timestamp,
                    _ => 0,
                };
                (control.body.opcode(), false, stamp)
            }
        };
        let head = Head {
            length: departure.frame_length.into(),
            opcode,
            dest_qp: packet.dest_qp(),
            psn: packet.psn().value(),
            entropy: packet.entropy(),
            retransmission,
            stamp,
        };
        Some((head, packet))
    }

    fn receive(
        card: &mut Endpoint<TestMemory>,
        port: usize,
        parcel: &Packet,
        transit: Transit,
        now: Ticks,
    ) {
        card.receive_packet(port, parcel, transit, now);
    }

    fn nack(nack: &CraftedNack) -> Packet {
        Packet::Control(ControlPacket {
            body: ControlBody::Nack(nack.neth),
            pkey: 0xffff,
            dest_qp: nack.dest_qp,
            psn: Psn::new(nack.neth.nack_psn),
            source: nack.source,
            entropy: Entropy(0),
            ecn_ce: false,
        })
    }
}
