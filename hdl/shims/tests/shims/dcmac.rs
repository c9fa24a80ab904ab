//! The shim of a DCMAC at its pins.
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::dcmac_bench::{Bench, MAC};
use crate::model::CARD;
use crate::segments::{frame, Bytes};
use crate::wire::random_bytes;

fn frames(count: u32, rng: &mut ChaCha8Rng) -> Vec<Bytes> {
    (0..count)
        .map(|number| frame(number, random_bytes(rng), false))
        .collect()
}

/// Both ends of the tolerance of both clocks. Frames come without a gap between them, so a cycle that is not valid now and then stands for the 24 bytes around
/// each on the wire.
#[test]
fn frames_cross_a_dcmac_in_order() {
    for (seed, periods) in (0..).zip([
        [CARD - CARD / 10_000, MAC + MAC / 10_000],
        [CARD + CARD / 10_000, MAC - MAC / 10_000],
    ]) {
        for pace in [[7, 8, 8], [4, 3, 8], [6, 8, 3]] {
            let mut bench = Bench::new(periods, seed);
            let [received, sent] = [0; 2].map(|_| frames(70, &mut bench.rng));
            bench.wire_sends(&received);
            bench.card_sends(&sent);
            bench.drain(pace);
            assert_eq!(bench.dut.get("rx_dropped"), 0, "{pace:?}");
            assert_eq!(bench.card.frames, received, "{pace:?}");
            assert_eq!(bench.wire.frames, sent, "{pace:?}");
        }
    }
}

/// Shortest frames without a gap are 390 M per second, more than the card's 250 M beats: some are dropped, whole.
#[test]
fn what_overruns_a_dcmac_port_is_dropped_whole_and_counted() {
    let mut bench = Bench::new([CARD, MAC], 7);
    let sent: Vec<Bytes> = (0..3_000).map(|number| frame(number, 64, false)).collect();
    bench.wire_sends(&sent);
    bench.drain([8; 3]);
    let dropped = bench.dut.get("rx_dropped") as usize;
    assert!((100..1_500).contains(&dropped), "{dropped}");
    assert_eq!(bench.card.frames.len() + dropped, sent.len());
    let mut left = sent.iter();
    assert!(
        bench
            .card
            .frames
            .iter()
            .all(|frame| left.any(|sent| sent == frame)),
        "whole and in order"
    );
    let more = frames(40, &mut bench.rng);
    bench.card.frames.clear();
    bench.wire_sends(&more);
    bench.drain([5, 8, 8]);
    assert_eq!(bench.card.frames, more, "and the port goes on");
}

/// A reset of the MAC cuts the frame that leaves. What leaves afterwards keeps the rules, and is whole and in order.
#[test]
fn frames_leave_whole_behind_a_reset_of_the_mac() {
    for seed in 0..30 {
        let mut bench = Bench::new([CARD, MAC], seed);
        let sent = frames(120, &mut bench.rng);
        bench.card_sends(&sent);
        let pace = [0, 8, [8, 5][seed as usize % 2]];
        let edges = bench.rng.random_range(50..600);
        bench.run(edges, pace);
        let before = bench.wire.frames.len();
        bench.reset_mac(pace);
        bench.drain(pace);
        let mut left = sent.iter();
        assert!(
            bench
                .wire
                .frames
                .iter()
                .all(|frame| left.any(|sent| sent == frame)),
            "whole and in order"
        );
        assert!(bench.wire.frames.len() > before + 10, "the port goes on");
        assert_eq!(bench.wire.frames.last(), sent.last());
    }
}
