//! The frames of two reference cards are converted back to the decisions of requesters and responders, and the lane builds them again.

use std::collections::BTreeMap;

use hdl_testkit::equivalence::TestRng;
use rand::{Rng, SeedableRng};
use rust_hdl::prelude::*;
use stellar_wire::host::Wqe;
use stellar_wire::hw::requester::{TxAnswer, TxRequest};
use stellar_wire::hw::tx::TxPacket;
use stellar_wire::mrc::Entropy;
use stellar_wire::{Opcode, RoceFrame};

use crate::lane::bench::{Bench, Pace, WIDTHS};
use crate::lane::conversation::{conversation, tables, PAIRS};
use crate::lane::items::{inline_data, segments, Item, Packet};

/// The decisions about a packet, from its frame. Addresses, code points, P_Key and contexts are not among them: the tables must supply these.
fn item(card: usize, port: usize, bytes: &[u8], rng: &mut TestRng) -> Item {
    let frame = RoceFrame::parse(bytes).expect("a frame of the reference");
    let record = TxPacket::from_frame(&frame).expect("a packet the lane sends");
    let (a, b) = PAIRS
        .into_iter()
        .find(|&(a, b)| frame.bth.dest_qp == [b, a][card])
        .expect("a queue pair");
    let qp = u64::from([a, b][card]).to_bits();
    let entropy = u64::from(Entropy::of(&frame.ip, &frame.udp).0).to_bits();
    let ext = record.extensions;
    let opcode = record.bth.opcode;
    let answers = [Opcode::RcAck, Opcode::MrcSack, Opcode::MrcNack];
    let packet = if answers.contains(&frame.bth.opcode) {
        Packet::Answer(Box::new(TxAnswer {
            qp,
            port: port == 1,
            opcode,
            psn: record.bth.psn,
            entropy,
            reflected: ext.reflection.entropy,
            aeth: ext.aeth,
            seth: ext.seth,
            cc_state: ext.cc_state,
            neth: ext.neth,
        }))
    } else {
        let inline = frame.payload.len() <= Wqe::INLINE && rng.random();
        Packet::Request {
            request: Box::new(TxRequest {
                qp,
                port: port == 1,
                opcode,
                psn: record.bth.psn,
                ack_req: frame.bth.ack_req,
                retransmission: frame.bth.retransmit,
                block: rng.random_range(0..1u64 << 10).to_bits(),
                timestamp: ext.timestamp.value,
                meth: ext.meth,
                reth: ext.reth,
                immediate: ext.immediate,
                probe_id: ext.peth.probe_id,
                entropy,
                length: record.payload_length,
                segments: segments(rng),
                inline,
                inline_data: if inline {
                    inline_data(&frame.payload, rng)
                } else {
                    Bits::default()
                },
                slot: rng.random_range(0..1u64 << 16).to_bits(),
                epoch: rng.random(),
            }),
            payload: frame.payload,
            readable: true,
        }
    };
    Item {
        packet,
        frame: bytes.to_vec(),
    }
}

#[test]
fn the_frames_of_two_cards_in_conversation() {
    let mut opcodes: BTreeMap<&str, usize> = BTreeMap::new();
    for version6 in [false, true] {
        let left = conversation(version6);
        for frame in &left {
            let frame = RoceFrame::parse(&frame.frame).expect("a frame");
            *opcodes.entry(frame.bth.opcode.name()).or_default() += 1;
        }
        for (card, port) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let tables = tables(card as u8, port as u8, version6);
            let width = WIDTHS[(card + port) % 2];
            let mut rng = TestRng::seed_from_u64(9);
            let mut bench = Bench::new(width, &tables, 9);
            let of_port = left.iter().filter(|l| (l.card, l.port) == (card, port));
            let items = of_port.map(|l| item(card, port, &l.frame, &mut rng));
            bench.queue(items);
            let queued = bench.answers.len() + bench.requests.len();
            assert!(queued > 50, "{queued} frames by port {port} of card {card}");
            bench.run(Pace::FULL, 100_000);
            assert_eq!(bench.sent.len(), queued);
        }
    }
    let wanted = [
        Opcode::MrcWriteFirst,
        Opcode::MrcWriteMiddle,
        Opcode::MrcWriteLast,
        Opcode::MrcWriteLastImm,
        Opcode::MrcWriteOnly,
        Opcode::MrcWriteOnlyImm,
        Opcode::MrcProbe,
        Opcode::MrcSack,
        Opcode::MrcNack,
        Opcode::RcWriteFirst,
        Opcode::RcWriteMiddle,
        Opcode::RcWriteLast,
        Opcode::RcWriteLastImm,
        Opcode::RcWriteOnly,
        Opcode::RcWriteOnlyImm,
        Opcode::RcAck,
    ];
    for opcode in wanted {
        assert!(
            opcodes.contains_key(opcode.name()),
            "no {opcode:?} in {opcodes:?}"
        );
    }
}
