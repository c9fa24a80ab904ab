//! Packets of every opcode the lane sends, with random fields.

use hdl_testkit::equivalence::{Random, TestRng};
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rust_hdl::prelude::*;
use stellar_wire::hw::tx::*;
use stellar_wire::mtu::MAX_PAYLOAD;
use stellar_wire::Opcode;

use crate::extensions;

/// A record and its payload.
#[derive(Clone, Debug)]
pub struct TestPacket {
    pub record: TxPacket,
    pub payload: Vec<u8>,
}

impl TestPacket {
    /// The expected bytes.
    pub fn frame(&self) -> Vec<u8> {
        let frame = self.record.to_frame(self.payload.clone());
        let bytes = frame.expect("a packet the lane sends").emit();
        bytes.expect("a frame")
    }
}

/// The form of a packet. Bits of `nesting`: tagged, encapsulated, IPv6.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub opcode: Opcode,
    pub nesting: u8,
    pub timestamped: bool,
    pub payload_length: usize,
}

/// Opcodes the lane sends.
pub fn opcodes() -> Vec<Opcode> {
    let all = Opcode::ALL.iter().copied();
    all.filter(|&opcode| can_send(opcode)).collect()
}

/// Every field is random, including fields that the packet does not have.
pub fn fill(shape: Shape, rng: &mut TestRng) -> TestPacket {
    let record = TxPacket {
        ethernet: TxEthernet {
            destination: Bits::random(rng),
            source: Bits::random(rng),
            tagged: shape.nesting & 1 != 0,
            tag: Bits::random(rng),
        },
        srv6: TxSrv6 {
            present: shape.nesting & 2 != 0,
            source: Bits::random(rng),
            destination: Bits::random(rng),
            dscp: Bits::random(rng),
            ecn: Bits::random(rng),
            hop_limit: Bits::random(rng),
            flow_label: Bits::random(rng),
        },
        ip: TxIp {
            version6: shape.nesting & 4 != 0,
            source: Bits::random(rng),
            destination: Bits::random(rng),
            dscp: Bits::random(rng),
            ecn: Bits::random(rng),
            hop_limit: Bits::random(rng),
            identification: Bits::random(rng),
            flow_label: Bits::random(rng),
        },
        udp_source: Bits::random(rng),
        udp_destination: if rng.random_ratio(7, 8) {
            4791u64.to_bits()
        } else {
            Bits::random(rng)
        },
        bth: TxBth {
            opcode: u64::from(shape.opcode.code()).to_bits(),
            solicited: rng.random(),
            mig_req: rng.random(),
            fecn: rng.random(),
            becn: rng.random(),
            ack_req: rng.random(),
            retransmission: rng.random(),
            pkey: Bits::random(rng),
            dest_qp: Bits::random(rng),
            psn: Bits::random(rng),
        },
        extensions: TxExtensions {
            timestamped: shape.timestamped,
            ..extensions(rng)
        },
        payload_length: (shape.payload_length as u64).to_bits(),
    };
    let payload = (0..shape.payload_length).map(|_| rng.random()).collect();
    TestPacket { record, payload }
}

pub fn extensions(rng: &mut TestRng) -> TxExtensions {
    TxExtensions {
        meth: TxMeth {
            rqmsn: Bits::random(rng),
            msn: Bits::random(rng),
        },
        timestamped: rng.random(),
        timestamp: TxTimestamp {
            value: Bits::random(rng),
            own_resolution: rng.random(),
            format: Bits::random(rng),
        },
        reth: TxReth {
            va: Bits::random(rng),
            rkey: Bits::random(rng),
            dma_length: Bits::random(rng),
        },
        aeth: extensions::aeth(rng),
        immediate: Bits::random(rng),
        reflection: TxReflection {
            entropy: Bits::random(rng),
            source_context: Bits::random(rng),
            destination_context: Bits::random(rng),
            congestion: Bits::random(rng),
        },
        seth: extensions::seth(rng),
        cc_state: extensions::cc_state(rng),
        neth: extensions::neth(rng),
        peth: TxPeth {
            vendor_info: Bits::random(rng),
            probe_id: Bits::random(rng),
        },
    }
}

/// Any packet. Lengths for which a part of the frame ends near the end of a beat are frequent, and so are the shortest and the longest.
pub fn any_packet() -> impl Strategy<Value = TestPacket> {
    let lengths = prop_oneof![
        3 => Just(0usize),
        6 => 0..300usize,
        1 => 300..MAX_PAYLOAD,
        1 => MAX_PAYLOAD - 8..=MAX_PAYLOAD,
    ];
    let opcode = proptest::sample::select(opcodes());
    (opcode, 0..8u8, any::<bool>(), lengths, any::<u64>()).prop_map(
        |(opcode, nesting, timestamped, payload_length, seed)| {
            let shape = Shape {
                opcode,
                nesting,
                timestamped,
                payload_length,
            };
            fill(shape, &mut TestRng::seed_from_u64(seed))
        },
    )
}
