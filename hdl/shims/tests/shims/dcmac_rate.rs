//! 200 Gb/s to the wire of a DCMAC's port.
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::dcmac_bench::{Bench, MAC};
use crate::model::CARD;
use crate::segments::{frame, Bytes, WIDE};
use crate::wire::{random_bytes, time_of, AROUND};

/// Lengths without check sequence: a minimum frame, the one that would lose most in cycles of its own, a SACK, a beat and a byte, two beats and a byte, an Ethernet
/// MTU, a WRITE of 4,096 bytes, a jumbo frame.
pub const LENGTHS: [usize; 8] = [60, 65, 86, 129, 257, 1_514, 4_170, 9_014];

/// Femtoseconds of a frame at 200 Gb/s.
fn time_200g(bytes: usize) -> u64 {
    time_of(bytes) / 2
}

/// Both clocks at 100 ppm from their frequency: the card's, then the MAC's.
pub const TOLERANCES: [[u64; 2]; 4] = [
    [CARD - CARD / 10_000, MAC - MAC / 10_000],
    [CARD - CARD / 10_000, MAC + MAC / 10_000],
    [CARD + CARD / 10_000, MAC - MAC / 10_000],
    [CARD + CARD / 10_000, MAC + MAC / 10_000],
];

/// The most of the line rate that frames of these lengths reach, between the end of the first one and that of the last: the card makes a beat per cycle, and a frame is
/// on the wire when all of it has been made and the one before has left.
fn possible(period: u64, lengths: &[usize]) -> f64 {
    let [mut made, mut left] = [0, 0];
    let mut ends = lengths.iter().map(|bytes| {
        made += bytes.div_ceil(WIDE) as u64 * period;
        left = made.max(left) + time_200g(*bytes);
        left
    });
    let first = ends.next().unwrap();
    let time = ends.last().unwrap() - first;
    let busy: u64 = lengths[1..].iter().map(|bytes| time_200g(*bytes)).sum();
    busy as f64 / time as f64
}

/// Sends frames of these lengths, and returns the share of the line rate that they reached.
fn reached(periods: [u64; 2], lengths: &[usize]) -> f64 {
    let numbered = (0..).zip(lengths);
    let frames: Vec<Bytes> = numbered
        .map(|(number, bytes)| frame(number, *bytes, false))
        .collect();
    let mut bench = Bench::new(periods, lengths[0] as u64);
    bench.paced = true;
    bench.card_sends(&frames);
    let mut until = |count: usize| {
        while bench.wire.frames.len() < count {
            bench.edge([8; 3]);
        }
        [bench.wire.time, bench.wire_free]
    };
    let [began, ended] = [until(1), until(frames.len())];
    assert!(bench.wire.frames == frames, "frames have changed");
    (ended[0] - began[0]) as f64 / (ended[1] - began[1]) as f64
}

fn check(name: &str, periods: [u64; 2], lengths: &[usize]) {
    let (share, most) = (reached(periods, lengths), possible(periods[0], lengths));
    println!("{name}, {periods:?}: {share:.4} of the line rate, {most:.4} is possible");
    assert!(
        (0.995..1.005).contains(&(share / most)),
        "{name}: {share:.4} of the line rate, and {most:.4} is possible"
    );
}

#[test]
fn frames_of_one_length_leave_at_line_rate_or_at_the_rate_of_the_cards_beats() {
    for periods in TOLERANCES {
        for bytes in LENGTHS {
            let lengths = vec![bytes; 400_000 / (bytes + AROUND)];
            check(&format!("{bytes} bytes"), periods, &lengths);
        }
    }
}

/// Both clocks slow, which leaves the least room.
#[test]
fn frames_of_every_length_leave_at_line_rate_or_at_the_rate_of_the_cards_beats() {
    for bytes in 60..=420 {
        let lengths = vec![bytes; 40_000 / (bytes + AROUND)];
        check(&format!("{bytes} bytes"), TOLERANCES[3], &lengths);
    }
}

/// Whether the beats of back-to-back frames of this length are no more than the card has: 250 M per second of 25 bytes per nanosecond.
pub fn fits(bytes: usize) -> bool {
    100 * bytes.div_ceil(WIDE) <= bytes + AROUND
}

#[test]
fn the_cards_beats_limit_three_ranges_of_lengths() {
    let limited: Vec<usize> = (60..=9_216).filter(|bytes| !fits(*bytes)).collect();
    let ranges = (60..=75).chain(129..=175).chain(257..=275);
    assert_eq!(limited, ranges.collect::<Vec<usize>>());
}

#[test]
fn frames_of_random_lengths_leave_at_line_rate() {
    for (seed, periods) in (0..).zip(TOLERANCES) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut lengths = |longest: usize, count: usize| -> Vec<usize> {
            let any = std::iter::repeat_with(|| rng.random_range(60..=longest));
            any.filter(|bytes| fits(*bytes)).take(count).collect()
        };
        check("up to 256 bytes", periods, &lengths(256, 2_000));
        check("up to 700 bytes", periods, &lengths(700, 1_000));
        check("up to 9,216 bytes", periods, &lengths(9_216, 150));
        let any: Vec<usize> = (0..600).map(|_| random_bytes(&mut rng)).collect();
        check("any", periods, &any);
    }
}
