//! Frames in segments of a DCMAC, and its receive side against the frames.
use hdl_shims::{DcmacReceive, DcmacSend};
use hdl_testkit::{tools, Dut};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::wire::{random_bytes, Frame};

/// Bytes of a segment.
pub const SEGMENT: usize = 16;
/// Bytes of a beat.
pub const WIDE: usize = 128;

/// A frame's bytes, and whether it has an error.
pub type Bytes = (Vec<u8>, bool);

pub fn frame(number: u32, bytes: usize, error: bool) -> Bytes {
    let frame = Frame {
        number,
        bytes,
        error,
    };
    let words = (0..frame.beats()).flat_map(|beat| frame.words(beat));
    let mut all: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    all.truncate(bytes);
    (all, error)
}

/// The beats of a card that sends these frames, and whether each is the last one of its frame.
pub fn beats(frames: &[Bytes]) -> Vec<(Vec<u8>, bool)> {
    let all = frames.iter().flat_map(|(bytes, _)| {
        let count = bytes.len().div_ceil(WIDE);
        let beats = bytes.chunks(WIDE).enumerate();
        beats.map(move |(index, beat)| (beat.to_vec(), index + 1 == count))
    });
    all.collect()
}

/// A segment in use as it stands on the wires.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segment {
    pub data: [u8; SEGMENT],
    pub sop: bool,
    pub eop: bool,
    pub err: bool,
    pub mty: usize,
}

pub fn segments(frame: &Bytes, rng: &mut ChaCha8Rng) -> Vec<Segment> {
    let count = frame.0.len().div_ceil(SEGMENT);
    let parts = frame.0.chunks(SEGMENT).enumerate();
    let parts = parts.map(|(index, part)| {
        // Bytes that are not valid may be anything.
        let mut data: [u8; SEGMENT] = rng.random();
        data[..part.len()].copy_from_slice(part);
        Segment {
            data,
            sop: index == 0,
            eop: index + 1 == count,
            err: frame.1 && index + 1 == count,
            mty: SEGMENT - part.len(),
        }
    });
    parts.collect()
}

/// Sets the pins of the MAC's receive side. A segment that is not there has random contents.
pub fn drive(dut: &mut Dut, cycle: &[Option<Segment>], rng: &mut ChaCha8Rng) {
    dut.set("rx_axis_tvalid", cycle.iter().any(Option::is_some).into());
    for place in 0..4 {
        let segment = cycle.get(place).copied().flatten();
        let port = |name: &str| format!("rx_axis{place}_{name}");
        dut.set(&port("ena"), segment.is_some().into());
        let segment = segment.unwrap_or_else(|| Segment {
            data: rng.random(),
            sop: rng.random(),
            eop: rng.random(),
            err: rng.random(),
            mty: rng.random_range(0..16),
        });
        dut.set_bytes(&port("tdata"), &segment.data);
        dut.set(&port("sop"), segment.sop.into());
        dut.set(&port("eop"), segment.eop.into());
        dut.set(&port("err"), segment.err.into());
        let mty = if segment.eop {
            segment.mty
        } else {
            rng.random_range(0..16)
        };
        dut.set(&port("mty"), mty as u64);
    }
}

/// Beats to frames.
#[derive(Default)]
pub struct Card {
    part: Vec<u8>,
    pub frames: Vec<Bytes>,
}

impl Card {
    pub fn take(&mut self, dut: &Dut) {
        if !dut.is("rx_valid") {
            return;
        }
        let (bytes, last) = (dut.get("rx_bytes") as usize, dut.is("rx_last"));
        assert!(
            (1..=WIDE).contains(&bytes) && (last || bytes == WIDE),
            "{bytes} bytes, last {last}"
        );
        let data = dut.bytes("rx_data");
        assert!(
            data[bytes..].iter().all(|byte| *byte == 0),
            "a lane without a valid byte is not zero"
        );
        self.part.extend(&data[..bytes]);
        if last {
            self.frames
                .push((std::mem::take(&mut self.part), dut.is("rx_error")));
        }
    }
}

pub fn after_reset<B: rust_hdl::prelude::Block + Default + 'static>() -> Dut {
    let mut dut = Dut::new::<B>();
    dut.reset(2);
    dut
}

fn step(dut: &mut Dut, card: &mut Card, cycle: &[Option<Segment>], rng: &mut ChaCha8Rng) {
    drive(dut, cycle, rng);
    dut.settle();
    card.take(dut);
    dut.clock();
}

/// Runs frames through the receiver. A frame begins right behind the one before in `packed` of 8 cases, and a cycle is valid in `valid` of 8.
fn received(frames: &[Bytes], packed: u32, valid: u32, rng: &mut ChaCha8Rng) -> Vec<Bytes> {
    let mut dut = after_reset::<DcmacReceive>();
    let mut card = Card::default();
    let mut all = frames
        .iter()
        .flat_map(|frame| segments(frame, rng))
        .collect::<Vec<_>>()
        .into_iter()
        .peekable();
    while all.peek().is_some() {
        let mut cycle = vec![];
        if rng.random_ratio(valid, 8) {
            while cycle.len() < 4 {
                let ended = matches!(cycle.last(), Some(Some(Segment { eop: true, .. })));
                if all.peek().is_none() || (ended && !rng.random_ratio(packed, 8)) {
                    break;
                }
                cycle.push(all.next());
            }
        }
        step(&mut dut, &mut card, &cycle, rng);
    }
    for _ in 0..10 {
        step(&mut dut, &mut card, &[], rng);
    }
    assert!(card.part.is_empty(), "a frame without an end");
    card.frames
}

#[test]
fn frames_arrive_at_every_offset_with_every_length() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for (packed, valid) in [(8, 8), (0, 8), (4, 8), (8, 4), (5, 3)] {
        let mut lengths: Vec<usize> = (60..=420).collect();
        lengths.extend((0..100).map(|_| random_bytes(&mut rng)));
        let frames: Vec<Bytes> = (1..)
            .zip(lengths)
            .map(|(number, bytes)| frame(number, bytes, rng.random_ratio(1, 8)))
            .collect();
        assert_eq!(
            received(&frames, packed, valid, &mut rng),
            frames,
            "{packed} {valid}"
        );
    }
}

/// The shortest frames, and those whose last cycle completes two beats, without a gap: more than 200 Gb/s. Nothing is lost.
#[test]
fn the_densest_frames_arrive() {
    for seed in 0..12 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let longest = [64, 145, 160, 300][seed as usize % 4];
        let frames: Vec<Bytes> = (0..600)
            .map(|number| frame(number, rng.random_range(60..=longest), false))
            .collect();
        assert_eq!(
            received(&frames, 8, 8, &mut rng),
            frames,
            "up to {longest} bytes"
        );
    }
}

/// Behind a reset, what is left of a frame is skipped, whether it ends alone or in front of the next one.
#[test]
fn the_rest_of_a_frame_behind_a_reset_is_skipped() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for seed in 0..60 {
        let mut dut = after_reset::<DcmacReceive>();
        let mut card = Card::default();
        let cut = frame(seed, 400, false);
        let next = [frame(100 + seed, 150, false), frame(200 + seed, 90, true)];
        let mut all = segments(&cut, &mut rng);
        let skipped = rng.random_range(1..all.len());
        for cycle in all[..skipped].chunks(4) {
            let cycle: Vec<_> = cycle.iter().copied().map(Some).collect();
            step(&mut dut, &mut card, &cycle, &mut rng);
        }
        dut.reset(6);
        card = Card::default();
        let mut all = all.split_off(skipped);
        all.extend(next.iter().flat_map(|frame| segments(frame, &mut rng)));
        for cycle in all.chunks(4) {
            let cycle: Vec<_> = cycle.iter().copied().map(Some).collect();
            step(&mut dut, &mut card, &cycle, &mut rng);
        }
        for _ in 0..10 {
            step(&mut dut, &mut card, &[], &mut rng);
        }
        assert_eq!(card.frames, next, "seed {seed}");
    }
}

#[test]
fn the_tools_accept_the_converters() {
    tools::assert_clean::<DcmacReceive>();
    tools::assert_clean::<DcmacSend>();
}
