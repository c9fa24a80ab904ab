//! Packets with the expected frames.

use std::net::{IpAddr, Ipv4Addr};

use hdl_testkit::equivalence::{Random, TestRng};
use rand::Rng;
use rust_hdl::prelude::*;
use stellar_wire::host::Wqe;
use stellar_wire::hw::core::DmaSegments;
use stellar_wire::hw::requester::{TxAnswer, TxRequest};
use stellar_wire::hw::tx::{TxExtensions, TxMeth, TxPacket, TxReflection, TxReth, TxTimestamp};
use stellar_wire::mrc::Entropy;
use stellar_wire::{
    Bth, Ecn, Ethernet, ExtHeaders, Ip, Ipv4, Ipv6, Opcode, RoceFrame, Srv6Encap, Udp,
};

use crate::extensions;
use crate::lane::routes::{Tables, QPS};

#[derive(Clone, Debug)]
pub enum Packet {
    Answer(Box<TxAnswer>),
    Request {
        request: Box<TxRequest>,
        payload: Vec<u8>,
        /// The payload can be read.
        readable: bool,
    },
}

/// A packet and its expected frame.
#[derive(Clone, Debug)]
pub struct Item {
    pub packet: Packet,
    pub frame: Vec<u8>,
}

/// Packets of a port with these tables.
impl Tables {
    fn frame(&self, qp: usize, frame: Decided) -> Vec<u8> {
        let route = &self.routes[qp];
        let (dscp, ecn) = if frame.control {
            (self.control_dscp, Ecn::NotEct)
        } else {
            (self.data_dscp, Ecn::Ect0)
        };
        let mut ip = match route.peer.ip {
            IpAddr::V4(dst) => Ip::V4(Ipv4 {
                dscp,
                ecn,
                ttl: self.hop_limit,
                src: Ipv4Addr::from(u128::from(self.ip) as u32),
                dst,
                ..Ipv4::default()
            }),
            IpAddr::V6(dst) => Ip::V6(Ipv6 {
                dscp,
                ecn,
                hop_limit: self.hop_limit,
                src: self.ip,
                dst,
                ..Ipv6::default()
            }),
        };
        let mut udp = Udp {
            dport: self.udp_port,
            ..Udp::default()
        };
        frame.entropy.apply(&mut ip, &mut udp);
        let srv6 = route.source_route.map(|route| Srv6Encap {
            dscp,
            ecn,
            flow_label: frame.entropy.0 >> 16,
            hop_limit: self.hop_limit,
            src: self.ip,
            path: route.path(self.port, frame.entropy),
        });
        let roce = RoceFrame {
            eth: Ethernet {
                dst: route.peer.mac,
                src: self.mac,
                ..Ethernet::default()
            },
            vlan: None,
            srv6,
            ip,
            udp,
            bth: Bth {
                // No connection of the card migrates.
                mig_req: !frame.bth.opcode.is_mrc(),
                pkey: route.pkey,
                dest_qp: route.peer_qp,
                ..frame.bth
            },
            ext: frame.ext,
            payload: frame.payload,
        };
        roce.emit().expect("a frame")
    }

    fn reflection(&self, qp: usize, entropy: Bits<32>) -> TxReflection {
        TxReflection {
            entropy,
            source_context: (qp as u64).to_bits(),
            destination_context: u64::from(self.routes[qp].peer_qp & 0xffff).to_bits(),
            congestion: Bits::default(),
        }
    }

    pub fn answer(&self, rng: &mut TestRng) -> Item {
        let qp = rng.random_range(0..QPS);
        let opcode = [Opcode::MrcSack, Opcode::MrcNack, Opcode::RcAck][rng.random_range(0..3usize)];
        let entropy: u32 = rng.random();
        let answer = TxAnswer {
            qp: (qp as u64).to_bits(),
            port: self.port == 1,
            opcode: u64::from(opcode.code()).to_bits(),
            psn: Bits::random(rng),
            entropy: u64::from(entropy).to_bits(),
            reflected: Bits::random(rng),
            aeth: extensions::aeth(rng),
            seth: extensions::seth(rng),
            cc_state: extensions::cc_state(rng),
            neth: extensions::neth(rng),
        };
        let extensions = TxExtensions {
            aeth: answer.aeth,
            reflection: self.reflection(qp, answer.reflected),
            seth: answer.seth,
            cc_state: answer.cc_state,
            neth: answer.neth,
            ..TxExtensions::default()
        };
        let frame = self.frame(
            qp,
            Decided {
                control: true,
                entropy: Entropy(entropy),
                bth: Bth {
                    opcode,
                    psn: answer.psn.index() as u32,
                    ..Bth::default()
                },
                ext: headers(opcode, extensions),
                payload: vec![],
            },
        );
        Item {
            packet: Packet::Answer(Box::new(answer)),
            frame,
        }
    }

    /// A request with at most `longest` bytes of payload.
    pub fn request(&self, rng: &mut TestRng, longest: usize) -> Item {
        let opcodes = [
            Opcode::MrcWriteFirst,
            Opcode::MrcWriteMiddle,
            Opcode::MrcWriteLast,
            Opcode::MrcWriteLastImm,
            Opcode::MrcWriteOnly,
            Opcode::MrcWriteOnlyImm,
            Opcode::MrcProbe,
            Opcode::RcWriteFirst,
            Opcode::RcWriteMiddle,
            Opcode::RcWriteLast,
            Opcode::RcWriteLastImm,
            Opcode::RcWriteOnly,
            Opcode::RcWriteOnlyImm,
        ];
        let opcode = opcodes[rng.random_range(0..opcodes.len())];
        let inline = rng.random_bool(0.2);
        let length = match opcode {
            Opcode::MrcProbe => 0,
            _ if inline => rng.random_range(0..=Wqe::INLINE),
            _ if rng.random_bool(0.1) => 0,
            _ => rng.random_range(1..=longest),
        };
        self.request_of(rng, opcode, inline, length)
    }

    /// A request with `length` bytes of payload, inline (at most 64) or from memory.
    pub fn request_of(
        &self,
        rng: &mut TestRng,
        opcode: Opcode,
        inline: bool,
        length: usize,
    ) -> Item {
        let qp = rng.random_range(0..QPS);
        let payload: Vec<u8> = (0..length).map(|_| rng.random()).collect();
        let entropy: u32 = rng.random();
        let request = TxRequest {
            qp: (qp as u64).to_bits(),
            port: self.port == 1,
            opcode: u64::from(opcode.code()).to_bits(),
            psn: Bits::random(rng),
            ack_req: rng.random(),
            retransmission: rng.random(),
            block: Bits::random(rng),
            timestamp: Bits::random(rng),
            meth: TxMeth {
                rqmsn: Bits::random(rng),
                msn: Bits::random(rng),
            },
            reth: TxReth {
                va: Bits::random(rng),
                rkey: Bits::random(rng),
                dma_length: Bits::random(rng),
            },
            immediate: Bits::random(rng),
            probe_id: Bits::random(rng),
            entropy: u64::from(entropy).to_bits(),
            length: (length as u64).to_bits(),
            segments: segments(rng),
            inline,
            inline_data: if inline {
                inline_data(&payload, rng)
            } else {
                Bits::random(rng)
            },
            slot: Bits::random(rng),
            epoch: rng.random(),
        };
        let mut extensions = TxExtensions {
            meth: request.meth,
            timestamped: request.retransmission,
            timestamp: TxTimestamp {
                value: request.timestamp,
                // Ticks of 8 ns.
                format: 1u64.to_bits(),
                ..TxTimestamp::default()
            },
            reth: request.reth,
            immediate: request.immediate,
            reflection: self.reflection(qp, Bits::default()),
            ..TxExtensions::default()
        };
        extensions.peth.probe_id = request.probe_id;
        let frame = self.frame(
            qp,
            Decided {
                control: false,
                entropy: Entropy(entropy),
                bth: Bth {
                    opcode,
                    ack_req: request.ack_req,
                    retransmit: request.retransmission,
                    psn: request.psn.index() as u32,
                    ..Bth::default()
                },
                ext: headers(opcode, extensions),
                payload: payload.clone(),
            },
        );
        Item {
            packet: Packet::Request {
                request: Box::new(request),
                payload,
                readable: true,
            },
            frame,
        }
    }
}

/// The decisions about a frame, except its path.
struct Decided {
    control: bool,
    entropy: Entropy,
    bth: Bth,
    ext: ExtHeaders,
    payload: Vec<u8>,
}

/// Returns the extension headers that `opcode` has, from a record with every extension header.
fn headers(opcode: Opcode, extensions: TxExtensions) -> ExtHeaders {
    let mut record = TxPacket {
        extensions,
        ..TxPacket::default()
    };
    record.bth.opcode = u64::from(opcode.code()).to_bits();
    record
        .to_frame(vec![])
        .expect("a packet the lane sends")
        .ext
}

pub fn segments(rng: &mut TestRng) -> DmaSegments {
    DmaSegments {
        first_length: Bits::random(rng),
        first_address: Bits::random(rng),
        first_translated: rng.random(),
        second_address: Bits::random(rng),
        second_translated: rng.random(),
        has_third: rng.random(),
        third_address: Bits::random(rng),
        third_translated: rng.random(),
    }
}

/// At most 64 bytes of payload, and random bytes behind them.
pub fn inline_data(payload: &[u8], rng: &mut TestRng) -> Bits<512> {
    let mut bytes: [u8; Wqe::INLINE] = std::array::from_fn(|_| rng.random());
    bytes[..payload.len()].copy_from_slice(payload);
    let byte = |at: usize| u64::from(bytes[at]).to_bits::<512>() << (8 * at as u64);
    (0..bytes.len()).fold(Bits::default(), |data, at| data | byte(at))
}
