//! Frames whose payload cannot be read are dropped, and their neighbours are not affected.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stellar_wire::Opcode;

use crate::front::bench::{Front, Stimulus, WIDTHS};
use crate::front::packets::{any_packet, fill, Shape, TestPacket};
use crate::front::reference::{pace, Pace};

/// Sends `packets` and compares. Marked packets with payload must be dropped.
fn compare(width: usize, packets: &[(TestPacket, bool)], pace: Pace) {
    let mut front = Front::new(width);
    let unreadable = |(packet, marked): &&(TestPacket, bool)| *marked && !packet.payload.is_empty();
    for entry in packets {
        if unreadable(&entry) {
            front.send_unreadable(&entry.0);
        } else {
            front.send(&entry.0);
        }
    }
    let failed = packets.iter().filter(unreadable).count();
    let mut rng = ChaCha8Rng::seed_from_u64(pace.seed);
    let mut moves = |percent: u8| rng.random_range(0..100) < percent;
    front.run(packets.len() - failed, 400_000, || Stimulus {
        offer_packet: moves(pace.packets),
        offer_payload: moves(pace.payload),
        mac_ready: moves(pace.mac),
    });
    for _ in 0..200 {
        front.step(Stimulus::FULL);
    }
    assert_eq!(front.left_out, failed as u64);
    assert_eq!(front.mismatches, 0);
    // A dropped frame frees the space that was reserved for it, not only the space that it used.
    let beats = |(packet, _): &(TestPacket, bool)| packet.payload.len().div_ceil(width / 8) as u64;
    assert_eq!(front.freed, packets.iter().map(beats).sum::<u64>());
    let readable: Vec<_> = packets.iter().filter(|entry| !unreadable(entry)).collect();
    assert_eq!(front.sent.len(), readable.len());
    for (i, (sent, (packet, _))) in front.sent.iter().zip(readable).enumerate() {
        assert!(sent.bytes == packet.frame(), "frame {i} of {width} bits");
    }
}

#[test]
fn unreadable_packets_between_others_at_random_paces() {
    for width in WIDTHS {
        let mut runner = TestRunner::new(Config {
            cases: 60,
            failure_persistence: None,
            rng_seed: RngSeed::Fixed(width as u64),
            ..Config::default()
        });
        let packets = proptest::collection::vec((any_packet(), prop::bool::weighted(0.4)), 1..32);
        runner
            .run(&(packets, pace()), |(packets, pace)| {
                compare(width, &packets, pace);
                Ok(())
            })
            .expect("only readable frames leave");
    }
}

/// At full rate a dropped frame costs exactly two cycles: the next one does not wait to hear that it is dropped.
#[test]
fn a_frame_left_out_costs_two_clocks() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for width in WIDTHS {
        let shape = Shape {
            opcode: Opcode::MrcWriteOnly,
            nesting: 4,
            timestamped: true,
            payload_length: 1024,
        };
        let mut front = Front::new(width);
        for i in 0..60 {
            let packet = fill(shape, &mut rng);
            if i % 3 == 1 {
                front.send_unreadable(&packet);
            } else {
                front.send(&packet);
            }
        }
        front.run(40, 20_000, || Stimulus::FULL);
        let gaps = front.sent[20..].windows(2);
        for (i, pair) in gaps.enumerate() {
            let left_out = (i + 20) % 2 == 0;
            assert_eq!(pair[1].first, pair[0].last + 1 + 2 * u64::from(left_out));
        }
    }
}
