//! The filter in front of a MAC: frames pass while the link is up, and nothing waits while it is down.

use std::collections::VecDeque;

use hdl_testkit::equivalence::{check, Random, TestRng};
use hdl_testkit::Dut;
use hdl_tx_pipeline::LinkFilter;
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rust_hdl::prelude::*;

const BYTES: usize = 64;

/// A frame of this number: its bytes are those of the number, so no frame begins like another.
fn frame(number: u32, rng: &mut TestRng) -> Vec<u8> {
    let bytes = rng.random_range(2..5 * BYTES);
    let number = number.to_le_bytes().into_iter().cycle();
    // A frame that is cut ends with a byte of zero, so no whole frame does.
    number.take(bytes - 1).chain([0xff]).collect()
}

struct Bench {
    dut: Dut,
    rng: TestRng,
    frames: VecDeque<Vec<u8>>,
    /// Bytes of the front frame that have entered.
    entered: usize,
    part: Vec<u8>,
    sent: Vec<Vec<u8>>,
    dropped: u64,
    /// Cycles for which a beat has waited.
    stalled: u64,
}

impl Bench {
    fn new(seed: u64, frames: u32) -> Self {
        let mut rng = TestRng::seed_from_u64(seed);
        let mut dut = Dut::new::<LinkFilter<512>>();
        dut.set("reset", 1);
        dut.clock();
        dut.set("reset", 0);
        Self {
            dut,
            frames: (0..frames).map(|number| frame(number, &mut rng)).collect(),
            rng,
            entered: 0,
            part: vec![],
            sent: vec![],
            dropped: 0,
            stalled: 0,
        }
    }

    fn step(&mut self, up: bool, ready: bool) {
        self.dut.set("port_up", up.into());
        self.dut.set("mac_ready", ready.into());
        self.dut.set("in_valid", (!self.frames.is_empty()).into());
        if let Some(frame) = self.frames.front() {
            let left = &frame[self.entered..];
            let bytes = left.len().min(BYTES);
            let mut beat = left[..bytes].to_vec();
            beat.resize(BYTES, 0);
            let words = beat.chunks_exact(4);
            let words: Vec<_> = words
                .map(|word| u32::from_le_bytes(word.try_into().expect("four bytes")))
                .collect();
            self.dut.set_words("in_data", &words);
            self.dut.set("in_bytes", bytes as u64);
            self.dut.set("in_last", (bytes == left.len()).into());
        }
        self.dut.eval();
        if ready && self.dut.is("mac_valid") {
            let bytes = self.dut.get("mac_bytes") as usize;
            self.part.extend(&self.dut.bytes("mac_data")[..bytes]);
            if self.dut.is("mac_last") {
                self.sent.push(std::mem::take(&mut self.part));
            }
        }
        self.dropped += self.dut.get("dropped");
        self.stalled += 1;
        if self.frames.is_empty() || self.dut.is("in_ready") {
            self.stalled = 0;
        }
        if !self.frames.is_empty() && self.dut.is("in_ready") {
            self.entered += BYTES;
            if self.entered >= self.frames[0].len() {
                self.frames.pop_front();
                self.entered = 0;
            }
        }
        self.dut.clock();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Every frame leaves whole, is dropped, or is cut and ends with a byte of zero. None leaves twice or late.
    #[test]
    fn frames_leave_whole_or_not_at_all(seed in any::<u64>(), ready in 5..=100u8, change in 1..200u32) {
        let mut bench = Bench::new(seed, 300);
        let all: Vec<_> = bench.frames.iter().cloned().collect();
        let mut up = true;
        while !bench.frames.is_empty() {
            up ^= bench.rng.random_ratio(1, change);
            let takes = bench.rng.random_range(0..100) < ready;
            bench.step(up, takes);
            prop_assert!(up || bench.stalled == 0, "a frame waits for a link that is down");
        }
        for _ in 0..20 {
            bench.step(true, true);
        }
        prop_assert!(bench.part.is_empty(), "a frame without an end");
        let mut left = all.iter();
        let mut cut = 0;
        for sent in &bench.sent {
            let begun = &sent[..sent.len() - 1];
            let from = left.find(|frame| *frame == sent || frame.starts_with(begun) && sent.ends_with(&[0]));
            let from = from.expect("a frame in its order");
            cut += u64::from(from != sent);
            prop_assert!(from == sent || sent.len() <= from.len(), "a cut frame is shorter");
        }
        let whole = bench.sent.len() as u64 - cut;
        prop_assert_eq!(whole + bench.dropped, 300);
    }
}

/// The MAC takes nothing any more, and the link goes down: the frames in front of the filter go on. When the link is up again, only new ones leave.
#[test]
fn a_dead_mac_holds_up_nothing_and_old_frames_do_not_leave() {
    let mut bench = Bench::new(1, 100);
    for _ in 0..20 {
        bench.step(true, false);
    }
    assert_eq!((bench.sent.len(), bench.frames.len()), (0, 100));
    while !bench.frames.is_empty() {
        bench.step(false, false);
        assert_eq!(bench.stalled, 0);
    }
    let new: Vec<_> = (200..210)
        .map(|number| frame(number, &mut bench.rng))
        .collect();
    bench.frames.extend(new.clone());
    for _ in 0..200 {
        bench.step(true, true);
    }
    assert!(bench.sent.ends_with(&new));
    assert_eq!(bench.sent.len(), 11, "one frame was cut");
}

#[test]
fn link_filter_is_its_verilog() {
    check(
        LinkFilter::<512>::default,
        Some(|u| &mut u.clock),
        |u, rng| {
            u.reset.next = rng.random_ratio(1, 100);
            u.port_up.next = rng.random_ratio(3, 4);
            u.in_.valid.next = rng.random();
            u.in_.data.next = Bits::random(rng);
            u.in_.bytes.next = Bits::random(rng);
            u.in_.last.next = rng.random();
            u.mac.ready.next = rng.random();
        },
        300,
        35,
    )
    .unwrap();
}
