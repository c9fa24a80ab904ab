//! 100 Gb/s on the wire.
use crate::bench::{Bench, Pace, CARD_SIDE, WIRE};
use crate::model::TOLERANCES;
use crate::wire::time_of;

/// Lengths without check sequence: a minimum frame, a SACK, an Ethernet MTU, a WRITE of 4,096 bytes, a jumbo frame.
const LENGTHS: [usize; 5] = [60, 86, 1_514, 4_170, 9_014];

/// A bench whose wire is 100 Gb/s.
fn at_line_rate(periods: [u64; 2], side: usize, bytes: usize, frames: usize) -> Bench {
    let mut bench = Bench::new(periods, bytes as u64);
    bench.paced = true;
    for _ in 0..frames {
        bench.send(side, bytes);
    }
    bench
}

fn frames_of(bytes: usize) -> usize {
    400_000 / (bytes + 24)
}

#[test]
fn frames_arrive_at_line_rate_and_none_is_dropped() {
    for periods in TOLERANCES {
        for bytes in LENGTHS {
            let frames = frames_of(bytes);
            let mut bench = at_line_rate(periods, WIRE, bytes, frames);
            let began = bench.now;
            bench.drain(Pace::FULL, 2 * frames as u64 * time_of(bytes));
            assert!(
                bench.now > began + (frames as u64 - 1) * time_of(bytes),
                "the wire is not faster"
            );
            let whole = bench.to_card.whole_of(&bench.sent[WIRE]);
            assert_eq!(
                (whole, bench.dut.get("rx_dropped")),
                ((frames, 0), 0),
                "{bytes} bytes"
            );
        }
    }
}

#[test]
fn frames_leave_at_line_rate() {
    for periods in TOLERANCES {
        for bytes in LENGTHS {
            let frames = frames_of(bytes);
            let mut bench = at_line_rate(periods, CARD_SIDE, bytes, frames);
            while bench.to_wire.frames.is_empty() {
                bench.edge(Pace::FULL);
            }
            let began = bench.now;
            while bench.to_wire.frames.len() < frames {
                bench.edge(Pace::FULL);
            }
            let wire = (frames as u64 - 1) * time_of(bytes);
            let share = wire as f64 / (bench.now - began) as f64;
            assert!(
                (0.985..1.015).contains(&share),
                "{share:.4} of the line rate with {bytes} bytes"
            );
        }
    }
}

/// The card takes 250 M beats per second. Frames of 65 to 75 bytes are two beats, and up to 281 M beats per second: the shim takes a burst of 1,500 of them,
/// and in the long run drops what is too much.
#[test]
fn frames_of_65_bytes_are_more_than_the_card_takes() {
    let mut bench = at_line_rate(TOLERANCES[3], WIRE, 65, 1_500);
    bench.drain(Pace::FULL, 3_000 * time_of(65));
    assert_eq!(bench.dut.get("rx_dropped"), 0, "a burst");
    let mut bench = at_line_rate(TOLERANCES[3], WIRE, 65, 8_000);
    bench.drain(Pace::FULL, 16_000 * time_of(65));
    let dropped = bench.dut.get("rx_dropped") as usize;
    assert_eq!(
        bench.to_card.whole_of(&bench.sent[WIRE]),
        (8_000 - dropped, 0)
    );
    assert!(
        (1..=900).contains(&dropped),
        "{dropped} of 8,000 frames were dropped"
    );
}
