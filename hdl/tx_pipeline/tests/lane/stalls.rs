//! Rate, latency, and neighbours that stall.

use hdl_testkit::equivalence::TestRng;
use hdl_tx_pipeline::{tx_lane, tx_packet_builder};
use rand::SeedableRng;
use stellar_wire::mtu::MAX_PAYLOAD;
use stellar_wire::Opcode;

use crate::lane::bench::{Bench, Pace, WIDTHS};
use crate::lane::items::{Item, Packet};
use crate::lane::routes::Tables;

/// Beats of the payload buffer of the lane under test.
const BUFFER_BEATS: usize = 512;
/// Number of reports of failed reads that are stored.
const FAULTS_KEPT: usize = 32;

fn setup(width: usize, seed: u64) -> (Tables, Bench, TestRng) {
    let mut rng = TestRng::seed_from_u64(seed);
    let tables = Tables::random(&mut rng);
    let bench = Bench::new(width, &tables, seed);
    (tables, bench, rng)
}

/// Requests with this much payload from memory.
fn requests(tables: &Tables, rng: &mut TestRng, count: usize, length: usize) -> Vec<Item> {
    (0..count)
        .map(|_| tables.request_of(rng, Opcode::MrcWriteMiddle, false, length))
        .collect()
}

#[test]
fn a_packet_every_three_clocks_and_the_documented_latency() {
    for width in WIDTHS {
        let (tables, mut bench, mut rng) = setup(width, 1);
        bench.queue((0..50).map(|_| tables.answer(&mut rng)));
        bench.run(Pace::FULL, 1000);
        let distance = tx_packet_builder::CLOCKS_PER_PACKET as u64;
        for pair in bench.taken.windows(2) {
            assert_eq!(pair[1] - pair[0], distance);
        }
        assert_eq!(
            bench.sent[0].first - bench.taken[0],
            tx_lane::LATENCY as u64
        );
        // An acknowledgement of two or three beats does not take longer than the packet builder.
        let mean = (bench.sent[49].last - bench.sent[0].last) as f64 / 49.0;
        assert!(mean <= distance as f64 + 0.1, "{mean} clocks per answer");
    }
}

/// A packet departs when its frame begins, behind its payload and what the port sends before it.
#[test]
fn a_packet_departs_when_its_frame_begins() {
    for (width, memory) in [(512, 1), (1024, 1), (1024, 400)] {
        let (tables, mut bench, mut rng) = setup(width, 9);
        bench.queue(requests(&tables, &mut rng, 60, 1024));
        bench.run(
            Pace {
                memory,
                ..Pace::FULL
            },
            20_000,
        );
        assert_eq!(bench.departed.len(), 60);
        for (departed, sent) in bench.departed.iter().zip(&bench.sent) {
            let latency = sent.first - departed;
            assert_eq!(latency, tx_lane::DEPARTURE_LATENCY as u64, "{width} bits");
        }
        let waited = bench.departed[59] - bench.taken[59];
        assert!(
            waited > 60,
            "{waited} cycles: nothing was in front of the last packet"
        );
    }
}

/// After the first frames have left, the MAC gets a beat in every cycle.
#[test]
fn payload_fills_the_line() {
    for (width, length) in [
        (512, 1024),
        (1024, 1024),
        (1024, 2048),
        (1024, 4096),
        (1024, 8192),
        (512, 8192),
    ] {
        let (tables, mut bench, mut rng) = setup(width, 2);
        bench.queue(requests(&tables, &mut rng, 100, length));
        bench.run(Pace::FULL, 20_000);
        let span = bench.sent[99].last - bench.sent[10].last;
        let beats: u64 = bench.sent[11..=99]
            .iter()
            .map(|sent| sent.last - sent.first + 1)
            .sum();
        assert_eq!(span, beats, "bubbles at {width} bits, {length} bytes");
    }
}

/// A port of 200 Gb/s (100 bytes per cycle) always has small packets, while reads take 600 ns, and 1.5 us, and the cycles of the read engine.
#[test]
fn small_packets_fill_the_wire_while_reads_are_under_way() {
    for memory in [175, 400] {
        let (tables, mut bench, mut rng) = setup(1024, 5);
        bench.queue(requests(&tables, &mut rng, 600, 256));
        let pace = Pace {
            memory,
            ..Pace::FULL
        };
        bench.run(pace, 20_000);
        let mean = (bench.sent[599].last - bench.sent[200].last) as f64 / 399.0;
        let wire = (256.0 + 102.0) / 100.0;
        assert!(mean <= wire, "{mean} clocks per packet, reads of {memory}");
    }
}

/// The MAC stops. Requested payload still arrives, no more is requested than there is space for, and afterwards everything continues.
#[test]
fn a_stopped_mac_does_not_stop_the_dma() {
    for width in WIDTHS {
        for length in [40, 700, 4096, 8192] {
            let (tables, mut bench, mut rng) = setup(width, length as u64);
            let count = 3 * BUFFER_BEATS * width / 8 / length.max(width / 8) + 60;
            bench.queue(requests(&tables, &mut rng, count, length));
            let stopped = Pace {
                mac: 0,
                memory: 30,
                ..Pace::FULL
            };
            // The bench asserts that payload never waits.
            for _ in 0..4000 {
                bench.step(stopped);
            }
            assert!(!bench.requests.is_empty());
            assert!(bench.beats_asked <= BUFFER_BEATS, "{}", bench.beats_asked);
            // The number of long payloads that leaves no space for one more of the longest.
            let longest = 8 * MAX_PAYLOAD / width;
            assert!(length < 4096 || bench.beats_asked > BUFFER_BEATS - longest);
            assert!(length < MAX_PAYLOAD || bench.beats_asked == BUFFER_BEATS);
            bench.run(Pace::FULL, 100_000);
            assert_eq!(bench.sent.len(), count);
        }
    }
}

/// The reports are not accepted: payload and frames continue, the first reports are stored, and the rest is dropped.
#[test]
fn reports_of_failed_reads_never_hold_up_frames() {
    for width in WIDTHS {
        let (tables, mut bench, mut rng) = setup(width, 4);
        let mut items = requests(&tables, &mut rng, 200, 256);
        let mut spoiled = 0;
        for (i, item) in items.iter_mut().enumerate() {
            if let Packet::Request { readable, .. } = &mut item.packet {
                *readable = i % 4 == 0;
                spoiled += usize::from(!*readable);
            }
        }
        bench.queue(items);
        let deaf = Pace {
            fault: 0,
            ..Pace::FULL
        };
        while bench.sent.len() < 200 - spoiled {
            assert!(bench.clock < 20_000, "frames wait for reports");
            bench.step(deaf);
        }
        for _ in 0..200 {
            bench.step(deaf);
        }
        assert_eq!(bench.left_out, spoiled as u64);
        assert_eq!(bench.faults_lost, (spoiled - FAULTS_KEPT) as u64);
        bench.forget_faults_after(FAULTS_KEPT);
        bench.run(Pace::FULL, 200);
        assert_eq!(bench.faults_taken, FAULTS_KEPT);
        // The next failure is reported again.
        let mut again = requests(&tables, &mut rng, 1, 256);
        if let Packet::Request { readable, .. } = &mut again[0].packet {
            *readable = false;
        }
        bench.queue(again);
        bench.run(Pace::FULL, 200);
        assert_eq!(bench.faults_taken, FAULTS_KEPT + 1);
    }
}

/// An acknowledgement that comes while requests wait for space is accepted next.
#[test]
fn answers_come_first() {
    for width in WIDTHS {
        let (tables, mut bench, mut rng) = setup(width, 5);
        bench.queue(requests(&tables, &mut rng, 300, 8192));
        let stopped = Pace {
            mac: 0,
            ..Pace::FULL
        };
        for _ in 0..3000 {
            bench.step(stopped);
        }
        let waiting = bench.requests.len();
        bench.queue([tables.answer(&mut rng)]);
        for _ in 0..6 {
            bench.step(stopped);
        }
        assert!(bench.answers.is_empty(), "the answer was taken");
        assert_eq!(bench.requests.len(), waiting);
        bench.run(Pace::FULL, 100_000);
    }
}

/// Reads are not answered, or not even accepted: acknowledgements leave all the same.
#[test]
fn acknowledgements_do_not_wait_for_reads() {
    for width in WIDTHS {
        for (read, payload) in [(100, 0), (0, 100)] {
            let (tables, mut bench, mut rng) = setup(width, 7);
            bench.queue(requests(&tables, &mut rng, 300, 256));
            let stuck = Pace {
                read,
                payload,
                ..Pace::FULL
            };
            for _ in 0..1_000 {
                bench.step(stuck);
            }
            assert!(bench.sent.is_empty() && !bench.requests.is_empty());
            bench.queue((0..100).map(|_| tables.answer(&mut rng)));
            for _ in 0..500 {
                bench.step(stuck);
            }
            assert_eq!(bench.sent.len(), 100, "acknowledgements wait");
            bench.run(Pace::FULL, 20_000);
        }
    }
}

#[test]
fn a_reset_leaves_nothing_behind_but_the_addresses() {
    for width in WIDTHS {
        let (tables, mut bench, mut rng) = setup(width, 6);
        for cut in (1..160).step_by(3) {
            let items: Vec<_> = (0..20).map(|_| tables.request(&mut rng, 600)).collect();
            bench.queue(items);
            bench.queue([tables.answer(&mut rng)]);
            for _ in 0..cut {
                bench.step(Pace::FULL);
            }
            bench.reset();
            let items: Vec<_> = (0..4).map(|_| tables.request(&mut rng, 600)).collect();
            bench.queue(items);
            bench.run(Pace::FULL, 1000);
        }
    }
}
