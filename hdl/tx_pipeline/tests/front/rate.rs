//! Full rate, latency, and the state after a reset.

use hdl_testkit::equivalence::TestRng;
use hdl_tx_pipeline::tx_frame_builder::{ANSWER_LATENCY, LATENCY, REQUEST_ADDRESS};
use rand::SeedableRng;
use stellar_wire::Opcode;

use crate::front::bench::{Front, Stimulus, WIDTHS};
use crate::front::packets::{fill, Shape, TestPacket};

const PACKETS: usize = 600;
/// Headers of requests that wait for their payload, at most.
const HEADERS: usize = 1 << REQUEST_ADDRESS;

/// Returns packets of `opcode` with the largest headers that they can have in this nesting.
fn packets(opcode: Opcode, payload_length: usize, nesting: u8) -> Vec<TestPacket> {
    let mut rng = TestRng::seed_from_u64(payload_length as u64);
    let shape = Shape {
        opcode,
        nesting,
        timestamped: true,
        payload_length,
    };
    let few: Vec<_> = (0..20).map(|_| fill(shape, &mut rng)).collect();
    (0..PACKETS).map(|i| few[i % 20].clone()).collect()
}

/// Cycles per frame after the first one has left. Every cycle must carry a beat.
fn clocks_per_frame(width: usize, packets: &[TestPacket]) -> f64 {
    let mut front = Front::new(width);
    for packet in packets {
        front.send(packet);
    }
    front.run(packets.len(), 200_000, || Stimulus::FULL);
    // The first frames wait for the pipeline to fill.
    let (from, to) = (&front.sent[20], &front.sent[packets.len() - 1]);
    for pair in front.sent[20..].windows(2) {
        assert_eq!(pair[1].first, pair[0].last + 1, "a bubble between frames");
    }
    (to.first - from.first) as f64 / (packets.len() - 21) as f64
}

#[test]
fn frames_follow_each_other_without_a_bubble() {
    for width in WIDTHS {
        for nesting in 0..8 {
            for (opcode, length) in [
                (Opcode::MrcWriteOnly, 256),
                (Opcode::MrcWriteOnly, 64),
                (Opcode::RcWriteMiddle, 8192),
                (Opcode::RcWriteMiddle, 4096),
                (Opcode::RcWriteMiddle, 1024),
                (Opcode::MrcSack, 0),
                (Opcode::RcAck, 0),
            ] {
                let packets = packets(opcode, length, nesting);
                let bytes = packets[0].frame().len();
                let clocks = clocks_per_frame(width, &packets);
                let beats = bytes.div_ceil(width / 8) as f64;
                println!("{width} bits, {opcode:?}, {length} B payload, {bytes} B frame: {clocks:.2} clocks");
                assert_eq!(clocks, beats);
                if width == 1024 {
                    // 250 MHz; 24 bytes of preamble, FCS and gap. At least 200 Gb/s, and 62.5 M packets a second if they are small.
                    let rate = 250e6 / clocks * (bytes + 24) as f64 * 8.0;
                    assert!(length < 256 || rate >= 200e9, "{rate} b/s");
                    assert!(length > 64 || clocks <= 4.0, "{clocks} clocks");
                }
            }
        }
    }
}

#[test]
fn the_first_beat_leaves_after_the_documented_latency() {
    for width in WIDTHS {
        for length in [0, 1, 64] {
            let mut front = Front::new(width);
            for packet in packets(Opcode::MrcWriteOnly, length, 4).iter().take(3) {
                // The payload of one beat arrives before the header.
                front.send(packet);
                let count = front.sent.len() + 1;
                front.run(count, 100, || Stimulus::FULL);
                let taken = *front.taken.last().expect("a record");
                assert_eq!(front.sent[count - 1].first - taken, LATENCY as u64);
            }
        }
        let mut front = Front::new(width);
        front.answer(&packets(Opcode::RcAck, 0, 0)[0]);
        front.run(1, 100, || Stimulus::FULL);
        assert_eq!(front.sent[0].first - front.taken[0], ANSWER_LATENCY as u64);
    }
}

/// Records come long before their payload. Nothing leaves before the payload is complete, nothing overflows, and then everything leaves.
#[test]
fn a_frame_waits_for_all_of_its_payload() {
    for width in WIDTHS {
        let mut front = Front::new(width);
        let packets = packets(Opcode::RcWriteMiddle, 4096, 0);
        for packet in packets.iter().take(HEADERS + 20) {
            front.send(packet);
        }
        let beats = 4096 / (width / 8);
        for clock in 0..beats + HEADERS + 100 {
            front.step(Stimulus {
                offer_payload: (50..50 + beats - 1).contains(&clock),
                ..Stimulus::FULL
            });
        }
        assert!(front.sent.is_empty() && front.taken.len() == HEADERS);
        front.run(HEADERS + 20, 40_000, || Stimulus::FULL);
        for (sent, packet) in front.sent.iter().zip(&packets) {
            assert_eq!(sent.bytes, packet.frame());
        }
    }
}

/// The payload of requests does not come: acknowledgements leave all the same, and nothing else does.
#[test]
fn acknowledgements_pass_requests_that_wait_for_payload() {
    for width in WIDTHS {
        let mut front = Front::new(width);
        let requests = packets(Opcode::RcWriteMiddle, 4096, 0);
        let answers = packets(Opcode::MrcSack, 0, 0);
        for packet in requests.iter().take(HEADERS - 1) {
            front.send(packet);
        }
        for packet in answers.iter().take(100) {
            front.answer(packet);
        }
        front.run(100, 2_000, || Stimulus {
            offer_payload: false,
            ..Stimulus::FULL
        });
        for (sent, packet) in front.sent.iter().zip(&answers) {
            assert_eq!(sent.bytes, packet.frame());
        }
        front.run(HEADERS + 99, 40_000, || Stimulus::FULL);
        for (sent, packet) in front.sent[100..].iter().zip(&requests) {
            assert_eq!(sent.bytes, packet.frame());
        }
    }
}

#[test]
fn a_mac_that_stops_stalls_everything_and_loses_nothing() {
    for width in WIDTHS {
        let mut front = Front::new(width);
        let packets = packets(Opcode::MrcWriteOnly, 700, 7);
        for packet in packets.iter().take(HEADERS + 150) {
            front.send(packet);
        }
        for _ in 0..3000 {
            front.step(Stimulus {
                mac_ready: false,
                ..Stimulus::FULL
            });
        }
        assert!(
            front.taken.len() < HEADERS + 16,
            "records taken: {}",
            front.taken.len()
        );
        front.run(HEADERS + 150, 20_000, || Stimulus::FULL);
        for (sent, packet) in front.sent.iter().zip(&packets) {
            assert_eq!(sent.bytes, packet.frame());
        }
    }
}

#[test]
fn a_reset_in_the_middle_of_frames_leaves_nothing_behind() {
    for width in WIDTHS {
        let mut front = Front::new(width);
        let packets = packets(Opcode::MrcWriteOnly, 1000, 3);
        for cut in 1..70 {
            for packet in packets.iter().take(4) {
                front.send(packet);
            }
            for _ in 0..cut {
                front.step(Stimulus::FULL);
            }
            front.reset();
            front.sent.clear();
            let packet = &packets[cut % 20];
            front.send(packet);
            front.run(1, 200, || Stimulus::FULL);
            for _ in 0..60 {
                front.step(Stimulus::FULL);
            }
            assert_eq!(front.sent.len(), 1, "reset after {cut} clocks");
            assert_eq!(front.sent[0].bytes, packet.frame());
        }
    }
}

#[test]
fn payload_that_does_not_fit_its_record_is_reported() {
    for width in WIDTHS {
        for (said, given) in [(2, 1), (1, 2)] {
            let mut front = Front::new(width);
            let beat = width / 8;
            let mut packet = packets(Opcode::RcWriteMiddle, said * beat, 0)[0].clone();
            packet.payload.resize(given * beat, 0);
            front.send(&packet);
            front.send(&packets(Opcode::RcWriteMiddle, 2 * beat, 0)[0]);
            for _ in 0..100 {
                front.step(Stimulus::FULL);
            }
            assert!(front.mismatches > 0, "{said} beats said, {given} given");
        }
    }
}
