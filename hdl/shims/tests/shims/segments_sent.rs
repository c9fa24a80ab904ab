//! The sender of segments to a DCMAC, against the frames and their places.
use hdl_shims::DcmacSend;
use hdl_testkit::equivalence::{check, Random};
use hdl_testkit::Dut;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;

use crate::segment_rules::Wire;
use crate::segments::{after_reset, frame, Bytes, SEGMENT, WIDE};
use crate::wire::random_bytes;

/// Cycles from a beat to its segments.
const LATENCY: usize = 3;

struct Bench {
    dut: Dut,
    rng: ChaCha8Rng,
    wire: Wire,
    /// In how many of 8 cycles the MAC is ready.
    ready: u32,
    cycle: usize,
    /// Cycles in which the MAC took something.
    taken: usize,
    /// For each frame whether it was on offer in the cycle after the last beat of the one before.
    follows: Vec<bool>,
    /// The cycle in which the last beat was taken.
    last_beat: usize,
}

impl Bench {
    fn new(seed: u64, ready: u32) -> Self {
        Self {
            dut: after_reset::<DcmacSend>(),
            rng: ChaCha8Rng::seed_from_u64(seed),
            wire: Wire::default(),
            ready,
            cycle: 0,
            taken: 0,
            follows: vec![],
            last_beat: 0,
        }
    }

    /// A cycle. Returns whether the beat was taken.
    fn step(&mut self) -> bool {
        let ready = self.rng.random_ratio(self.ready, 8);
        self.dut.set("tx_axis_tready", ready.into());
        self.dut.settle();
        self.taken += usize::from(self.wire.take(&self.dut));
        let moves = self.dut.moves("tx_valid", "tx_ready");
        self.dut.clock();
        self.cycle += 1;
        moves
    }

    fn idle(&mut self, cycles: usize) {
        self.dut.set("tx_valid", 0);
        for _ in 0..cycles {
            self.step();
        }
    }

    fn send(&mut self, (bytes, error): &Bytes) {
        self.follows.push(self.cycle == self.last_beat + 1);
        let count = bytes.len().div_ceil(WIDE);
        for (index, beat) in bytes.chunks(WIDE).enumerate() {
            let last = index + 1 == count;
            // What is beyond the beat may be anything.
            let mut data: [u8; WIDE] = self.rng.random();
            data[..beat.len()].copy_from_slice(beat);
            self.dut.set("tx_valid", 1);
            self.dut.set_bytes("tx_data", &data);
            self.dut.set("tx_bytes", beat.len() as u64);
            self.dut.set("tx_last", last.into());
            self.dut.set("tx_error", (last && *error).into());
            while !self.step() {}
        }
        self.last_beat = self.cycle - 1;
    }

    /// Waits until everything has left.
    fn finish(&mut self, sent: &[Bytes]) {
        self.dut.set("tx_valid", 0);
        for _ in 0..200 {
            self.step();
        }
        assert_eq!(self.wire.frames.len(), sent.len(), "frames stay");
        assert!(self.wire.frames == sent, "frames have changed");
    }
}

fn segments_of((bytes, _): &Bytes) -> usize {
    bytes.len().div_ceil(SEGMENT)
}

/// Frames of these lengths.
fn frames(lengths: &[usize], rng: &mut ChaCha8Rng) -> Vec<Bytes> {
    let numbered = (1..).zip(lengths);
    numbered
        .map(|(number, bytes)| frame(number, *bytes, rng.random_ratio(1, 8)))
        .collect()
}

/// Frames that follow each other have no empty segment between them, however the MAC stalls.
#[test]
fn frames_of_every_length_leave_at_every_offset_without_an_empty_segment() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut lengths = vec![];
    let mut places = vec![];
    let mut at = 0;
    let mut add = |bytes: usize| {
        lengths.push(bytes);
        places.push(at);
        at = (at + bytes.div_ceil(SEGMENT)) % 4;
        at
    };
    let mut next = add(60);
    let longer: Vec<usize> = (0..60).map(|_| random_bytes(&mut rng)).collect();
    for bytes in (60..=420).chain(longer) {
        for place in 0..4 {
            // A frame of 4 to 7 segments before it moves it to its place.
            let count = 4 + (place + 4 - next) % 4;
            add((SEGMENT * count - rng.random_range(0..SEGMENT)).max(60));
            next = add(bytes);
        }
    }
    for ready in [8, 5, 2] {
        let all = frames(&lengths, &mut rng);
        let mut bench = Bench::new(2, ready);
        for frame in &all {
            bench.send(frame);
        }
        bench.finish(&all);
        assert!(bench.wire.places == places, "empty segments, {ready}");
        let segments: usize = all.iter().map(segments_of).sum();
        assert_eq!(bench.taken, segments.div_ceil(4));
    }
}

/// A frame that is on offer in time begins behind the one before, another one there or at segment 0. Nothing waits for another frame.
#[test]
fn frames_with_pauses_between_them_leave_at_once() {
    for seed in 0..40 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let longest = [64, 145, 420, 9_216][seed as usize % 4];
        let lengths: Vec<usize> = (0..300)
            .map(|_| random_bytes(&mut rng).min(rng.random_range(60..=longest)))
            .collect();
        let all = frames(&lengths, &mut rng);
        let ready = [8, 8, 6, 3][rng.random_range(0..4)];
        let pauses = rng.random_range(1..8);
        let mut bench = Bench::new(seed, ready);
        for frame in &all {
            if rng.random_ratio(pauses, 8) {
                let most = rng.random_range(1..8);
                bench.idle(rng.random_range(1..=most));
            }
            bench.send(frame);
        }
        bench.finish(&all);
        let mut behind = 0;
        for ((frame, place), follows) in all.iter().zip(&bench.wire.places).zip(&bench.follows) {
            assert!(*place == behind || (!follows && *place == 0), "{place}");
            behind = (place + segments_of(frame)) % 4;
        }
    }
}

/// The end of a frame without a follower does not wait for one.
#[test]
fn a_frame_alone_takes_its_cycles_and_the_latency() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut bench = Bench::new(3, 8);
    let mut all = vec![];
    for bytes in 60..=700 {
        bench.idle(10);
        let frame = frame(bytes as u32, bytes, rng.random());
        let begins = bench.cycle;
        bench.send(&frame);
        bench.dut.set("tx_valid", 0);
        while bench.wire.frames.len() == all.len() {
            bench.step();
        }
        let cycles = segments_of(&frame).div_ceil(4);
        assert_eq!(bench.cycle - begins, LATENCY + cycles, "{bytes} bytes");
        assert_eq!(bench.wire.places.last(), Some(&0));
        all.push(frame);
    }
    bench.finish(&all);
}

/// A reset of the MAC cuts what has begun. The next frame begins at segment 0, whatever was before.
#[test]
fn a_reset_forgets_what_waits() {
    for seed in 0..100 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut bench = Bench::new(seed, [8, 5][rng.random_range(0..2)]);
        for number in 0..rng.random_range(1..6) {
            bench.send(&frame(number, rng.random_range(60..=420), false));
        }
        let cut = frame(9, 2_000, false);
        let (beats, _) = cut.0.split_at(WIDE * rng.random_range(0..8));
        for beat in beats.chunks(WIDE) {
            bench.dut.set("tx_valid", 1);
            bench.dut.set_bytes("tx_data", beat);
            bench.dut.set("tx_bytes", WIDE as u64);
            bench.dut.set("tx_last", 0);
            while !bench.step() {}
        }
        bench.dut.set("tx_valid", 0);
        bench.dut.reset(6);
        bench.wire = Wire::default();
        let all: Vec<Bytes> = (0..20)
            .map(|number| frame(100 + number, rng.random_range(60..=420), false))
            .collect();
        for frame in &all {
            bench.send(frame);
        }
        bench.finish(&all);
        assert_eq!(bench.wire.places[0], 0);
    }
}

#[test]
fn the_sender_is_its_verilog() {
    check(
        DcmacSend::default,
        Some(|u| &mut u.clock),
        |u, rng| {
            let last = rng.random_ratio(1, 3);
            let bytes = if last { rng.random_range(1..=128) } else { 128 };
            u.reset.next = rng.random_ratio(1, 40);
            u.tx.valid.next = rng.random_ratio(3, 4);
            u.tx.data.next = Bits::random(rng);
            u.tx.bytes.next = bits(bytes);
            u.tx.last.next = last;
            u.tx.error.next = bool::random(rng);
            u.tx_axis_tready.next = rng.random_ratio(3, 4);
        },
        1_000,
        1,
    )
    .unwrap();
}
