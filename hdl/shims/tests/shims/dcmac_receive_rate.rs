//! 200 Gb/s from the wire of a DCMAC's port.
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::dcmac_bench::{Bench, FAST_BYTE_FS};
use crate::dcmac_rate::{fits, LENGTHS, TOLERANCES};
use crate::model::CARD;
use crate::segments::{frame, Bytes, WIDE};
use crate::wire::{random_bytes, AROUND};

/// Edges of both clocks in which the card takes a full FIFO.
const EMPTIES: usize = 3_000;

/// 391 MHz in femtoseconds: the MAC's clock of a V80.
const V80: u64 = 2_557_545;

/// Both clocks at 100 ppm from their frequency, the MAC's from 390.625 MHz and from 391 MHz. The wire is 100 ppm fast in all cases.
fn clocks() -> Vec<[u64; 2]> {
    let v80 = [V80 - V80 / 10_000, V80 + V80 / 10_000];
    let cards = [CARD - CARD / 10_000, CARD + CARD / 10_000];
    let of_v80 = cards.iter().flat_map(|card| v80.map(|mac| [*card, mac]));
    TOLERANCES.into_iter().chain(of_v80).collect()
}

/// Femtoseconds of a frame on the wire.
fn time(bytes: usize) -> u64 {
    (bytes + AROUND) as u64 * FAST_BYTE_FS
}

/// Femtoseconds in which the card takes a frame.
fn card_time(period: u64, bytes: usize) -> u64 {
    bytes.div_ceil(WIDE) as u64 * period
}

fn numbered(lengths: &[usize]) -> Vec<Bytes> {
    let lengths = (0..).zip(lengths);
    let frames = lengths.map(|(number, bytes)| frame(number, *bytes, false));
    frames.collect()
}

/// What came of frames that the wire sent back to back.
struct Arrival {
    /// Of the line rate: frames that arrived while the wire sent, from the first one that was dropped on, or else from the first one.
    share: f64,
    dropped: usize,
    /// Frames in front of the first one that was dropped.
    burst: usize,
}

/// Sends frames of these lengths. Those that are dropped are missing whole, and are counted.
fn receive(periods: [u64; 2], lengths: &[usize]) -> Arrival {
    let frames = numbered(lengths);
    let mut bench = Bench::new(periods, lengths[0] as u64);
    bench.paced = true;
    bench.wire_sends(&frames);
    let (mut from, mut last, mut drops) = (None, (0, 0), false);
    let mut behind = 0;
    // Behind the wire, the card takes what is in the FIFO. Where frames are dropped, the share is that of the time before.
    while !bench.is_sent() || (!drops && last.0 < frames.len() && behind < EMPTIES) {
        behind += usize::from(bench.is_sent());
        bench.edge([8; 3]);
        let arrived = bench.card.frames.len();
        if !drops && bench.dut.get("rx_dropped") > 0 {
            drops = true;
            from = None;
        }
        if arrived > last.0 {
            last = (arrived, bench.now());
            from.get_or_insert(last);
        }
    }
    let (first, began) = from.unwrap();
    let (until, ended) = last;
    bench.drain([8; 3]);
    let dropped = bench.dut.get("rx_dropped") as usize;
    let arrived = &bench.card.frames;
    let mut sent = frames.iter();
    assert!(
        arrived.iter().all(|frame| sent.any(|sent| sent == frame)),
        "frames are whole and in order"
    );
    assert_eq!(arrived.len() + dropped, frames.len(), "all are counted");
    let busy: u64 = arrived[first..until].iter().map(|f| time(f.0.len())).sum();
    Arrival {
        share: busy as f64 / (ended - began) as f64,
        dropped,
        burst: frames
            .iter()
            .zip(arrived)
            .take_while(|(sent, arrived)| sent == arrived)
            .count(),
    }
}

fn agrees(name: &str, share: f64, most: f64) {
    assert!(
        (0.995..1.005).contains(&(share / most)),
        "{name}: {share:.4} of the line rate, and {most:.4} is possible"
    );
}

/// What the card cannot take is dropped: it has a beat in every cycle then.
#[test]
fn frames_of_one_length_arrive_at_line_rate_or_at_the_rate_of_the_cards_beats() {
    for periods in clocks() {
        for bytes in LENGTHS {
            let count = if fits(bytes) {
                400_000 / (bytes + AROUND)
            } else {
                12_000
            };
            let arrival = receive(periods, &vec![bytes; count]);
            let most = (time(bytes) as f64 / card_time(periods[0], bytes) as f64).min(1.0);
            println!(
                "{bytes} bytes, {periods:?}: {:.4} of the line rate, {most:.4} is possible; {} of {count} dropped, the first behind {}",
                arrival.share, arrival.dropped, arrival.burst
            );
            assert_eq!(arrival.dropped == 0, fits(bytes), "{bytes} bytes");
            agrees(&format!("{bytes} bytes"), arrival.share, most);
        }
    }
}

/// The most of the line rate at which frames of these lengths arrive, between the end of the first one and that of the last, if none is dropped.
fn possible(period: u64, lengths: &[usize]) -> f64 {
    let [mut came, mut taken] = [0, 0];
    let mut ends = lengths.iter().map(|bytes| {
        came += time(*bytes);
        taken = came.max(taken + card_time(period, *bytes));
        taken
    });
    let first = ends.next().unwrap();
    let all = ends.last().unwrap() - first;
    let busy: u64 = lengths[1..].iter().map(|bytes| time(*bytes)).sum();
    busy as f64 / all as f64
}

/// None of these frames is dropped, and the card takes them as fast as its beats allow.
fn arrive(name: &str, periods: [u64; 2], lengths: &[usize]) {
    let arrival = receive(periods, lengths);
    assert_eq!(arrival.dropped, 0, "{name}");
    agrees(name, arrival.share, possible(periods[0], lengths));
}

/// The card slow and the MAC fast, which leaves the least room. Of the frames that do not fit, the FIFO takes as many.
#[test]
fn frames_of_every_length_arrive_at_line_rate_or_at_the_rate_of_the_cards_beats() {
    let periods = [CARD + CARD / 10_000, V80 - V80 / 10_000];
    for bytes in 60..=420 {
        let lengths = vec![bytes; 80_000 / (bytes + AROUND)];
        arrive(&format!("{bytes} bytes"), periods, &lengths);
    }
}

#[test]
fn frames_of_random_lengths_arrive_at_line_rate() {
    for (seed, periods) in (0..).zip(clocks()) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut lengths = |longest: usize, count: usize| -> Vec<usize> {
            let any = std::iter::repeat_with(|| rng.random_range(60..=longest));
            any.filter(|bytes| fits(*bytes)).take(count).collect()
        };
        arrive("up to 256 bytes", periods, &lengths(256, 2_000));
        arrive("up to 700 bytes", periods, &lengths(700, 1_000));
        arrive("up to 9,216 bytes", periods, &lengths(9_216, 150));
        let any: Vec<usize> = (0..600).map(|_| random_bytes(&mut rng)).collect();
        arrive("any", periods, &any);
    }
}
