//! The Verilated front compared with `RoceFrame::emit`, byte for byte.

use std::collections::VecDeque;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stellar_transport::rx::{classify_frame, DropReason, RxConfig};
use stellar_wire::{ethernet::MacAddr, ExtKind, Opcode, RoceFrame, Transport};

use crate::front::bench::{Front, Stimulus, WIDTHS};
use crate::front::packets::{any_packet, fill, opcodes, Shape, TestPacket};

/// Activity of each side, in percent.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    pub packets: u8,
    pub payload: u8,
    pub mac: u8,
    pub seed: u64,
}

pub fn pace() -> impl Strategy<Value = Pace> {
    let percent = || prop_oneof![2 => Just(100u8), 1 => 3..100u8];
    (percent(), percent(), percent(), any::<u64>()).prop_map(|(packets, payload, mac, seed)| Pace {
        packets,
        payload,
        mac,
        seed,
    })
}

/// Sends `packets`, half of those without payload as acknowledgements, and compares every frame.
fn compare(width: usize, packets: &[TestPacket], pace: Pace) {
    let mut front = Front::new(width);
    let mut rng = ChaCha8Rng::seed_from_u64(pace.seed);
    let mut due = [VecDeque::new(), VecDeque::new()];
    for packet in packets {
        let answers = packet.payload.is_empty() && rng.random();
        due[usize::from(answers)].push_back((packet, packet.frame()));
        if answers {
            front.answer(packet);
        } else {
            front.send(packet);
        }
    }
    let mut moves = |percent: u8| rng.random_range(0..100) < percent;
    front.run(packets.len(), 400_000, || Stimulus {
        offer_packet: moves(pace.packets),
        offer_payload: moves(pace.payload),
        mac_ready: moves(pace.mac),
    });
    for _ in 0..60 {
        front.step(Stimulus::FULL);
    }
    assert_eq!(front.sent.len(), packets.len(), "frames out of nothing");
    assert_eq!(front.mismatches, 0);
    for (i, sent) in front.sent.iter().enumerate() {
        let is_next =
            |due: &VecDeque<(_, Vec<u8>)>| due.front().is_some_and(|(_, f)| f == &sent.bytes);
        let from = due.iter_mut().find(|due| is_next(due)).unwrap_or_else(|| {
            panic!(
                "frame {i}, {} bytes, is the next of neither kind: {:02x?}",
                sent.bytes.len(),
                sent.bytes
            )
        });
        let (packet, _) = from.pop_front().expect("the next frame");
        check_reception(&sent.bytes, packet);
    }
}

/// The receive reference accepts every request, and refuses the other packets only for their opcode.
fn check_reception(bytes: &[u8], packet: &TestPacket) {
    let frame = packet.record.to_frame(packet.payload.clone());
    let frame = frame.expect("a frame");
    let opcode = frame.bth.opcode;
    let write = matches!(opcode.code(), 0x06..=0x0b | 0xc6..=0xcb);
    // Other RC requests are good frames too; the queue pair refuses them.
    let refused = opcode.transport() == Transport::Rc && !opcode.is_response();
    let expected = if frame.udp.dport != RxConfig::default().udp_port {
        DropReason::WrongUdpPort
    } else if write || refused {
        DropReason::None
    } else {
        DropReason::UnsupportedOpcode
    };
    let outcome = classify_frame(bytes, false, &RxConfig::default());
    assert_eq!(outcome.reason, expected, "{opcode:?}");
}

#[test]
fn random_packets_at_random_paces() {
    for width in WIDTHS {
        let mut runner = TestRunner::new(Config {
            cases: 60,
            failure_persistence: None,
            rng_seed: proptest::test_runner::RngSeed::Fixed(width as u64),
            ..Config::default()
        });
        let packets = proptest::collection::vec(any_packet(), 1..24);
        runner
            .run(&(packets, pace()), |(packets, pace)| {
                compare(width, &packets, pace);
                Ok(())
            })
            .expect("frames are as emitted");
    }
}

/// Every opcode in every nesting, with and without TSETH, with payload lengths for which parts of the frame cross beats.
#[test]
fn every_opcode_in_every_nesting() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    for width in WIDTHS {
        let mut packets = vec![];
        for opcode in opcodes() {
            for nesting in 0..8 {
                for timestamped in [false, true] {
                    let shape = Shape {
                        opcode,
                        nesting,
                        timestamped,
                        payload_length: rng.random_range(0..=width / 4),
                    };
                    packets.push(fill(shape, &mut rng));
                }
            }
        }
        assert!(packets.len() > 30 * 16);
        let pace = Pace {
            packets: 100,
            payload: 100,
            mac: 80,
            seed: 1,
        };
        compare(width, &packets, pace);
    }
}

/// Every position of the end of payload in a beat, and so every position of the iCRC, including those that the end of a beat cuts.
#[test]
fn every_payload_length_up_to_three_beats_and_the_longest() {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    for width in WIDTHS {
        let lengths = (0..=3 * width / 8).chain(4080..=4100).chain(8176..=8192);
        let packets: Vec<_> = lengths
            .map(|payload_length| {
                let shape = Shape {
                    opcode: Opcode::MrcWriteLastImm,
                    nesting: rng.random_range(0..8),
                    timestamped: rng.random(),
                    payload_length,
                };
                fill(shape, &mut rng)
            })
            .collect();
        let beat = width / 8;
        let straddles = |packet: &&TestPacket| packet.frame().len() % beat == 2;
        assert!(packets.iter().filter(straddles).count() > 3);
        let pace = Pace {
            packets: 100,
            payload: 100,
            mac: 100,
            seed: 2,
        };
        compare(width, &packets, pace);
    }
}

/// A `RoceFrame` is converted to its record, and the same frame leaves.
#[test]
fn a_frame_becomes_a_record_and_leaves_as_that_frame() {
    let frame = RoceFrame {
        eth: stellar_wire::Ethernet {
            dst: MacAddr([2, 0, 0, 0, 0, 9]),
            src: MacAddr([2, 0, 0, 0, 0, 1]),
            ..Default::default()
        },
        bth: stellar_wire::Bth {
            opcode: Opcode::RcAck,
            dest_qp: 17,
            psn: 0xabcdef,
            ..Default::default()
        },
        ext: stellar_wire::ExtHeaders {
            aeth: Some(stellar_wire::Aeth::default()),
            ..Default::default()
        },
        ..RoceFrame::default()
    };
    assert_eq!(frame.bth.opcode.ext_kinds(), [ExtKind::Aeth]);
    let record = stellar_wire::hw::tx::TxPacket::from_frame(&frame).expect("a record");
    for width in WIDTHS {
        let mut front = Front::new(width);
        front.send(&TestPacket {
            record,
            payload: vec![],
        });
        front.run(1, 100, || Stimulus::FULL);
        assert_eq!(front.sent[0].bytes, frame.emit().expect("a frame"));
    }
}
