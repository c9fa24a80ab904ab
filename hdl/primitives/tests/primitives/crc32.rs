//! The wide CRC against the `crc32fast` crate.
use std::collections::VecDeque;

use hdl_primitives::Crc32Wide;
use hdl_testkit::equivalence::{check, check_gated, Random};
use hdl_testkit::{library, Dut};
use proptest::prelude::*;
use rust_hdl::prelude::*;
use sim_verilated::Library;

fn drive<const W: usize>(uut: &mut Crc32Wide<W>, rng: &mut hdl_testkit::equivalence::TestRng) {
    uut.reset.next = Bits::<7>::random(rng) == 7;
    uut.in_valid.next = Bits::<2>::random(rng) != 1;
    uut.in_data.next = Bits::random(rng);
    uut.in_last.next = bool::random(rng);
    let bytes: Bits<8> = Bits::random(rng);
    uut.in_bytes.next = bits((bytes.index() % (W / 8) + 1) as u64);
}

#[test]
fn agrees_with_its_simulation() {
    check(
        || Crc32Wide::<64>::new(0x1234_5678),
        Some(|u: &mut Crc32Wide<64>| &mut u.clock),
        drive,
        300,
        1,
    )
    .unwrap();
    check(
        Crc32Wide::<1024>::default,
        Some(|u| &mut u.clock),
        drive,
        60,
        1,
    )
    .unwrap();
}

#[test]
fn its_gated_model_agrees_too() {
    let make = || Crc32Wide::<64>::new(0x1234_5678);
    check_gated(make, |u| &mut u.clock, drive, 1500, 2).unwrap();
    check_gated(Crc32Wide::<512>::default, |u| &mut u.clock, drive, 200, 3).unwrap();
    check_gated(Crc32Wide::<1024>::default, |u| &mut u.clock, drive, 200, 4).unwrap();
}

fn wide() -> &'static Library {
    library::<Crc32Wide<1024>>()
}

fn half() -> &'static Library {
    library::<Crc32Wide<512>>()
}

/// Sends frames with a gap of some cycles before each of their beats; every CRC must come exactly `latency` cycles after its last beat.
fn crcs_match(
    library: &Library,
    beat: usize,
    latency: usize,
    frames: &[Vec<u8>],
    mut gap: impl FnMut() -> usize,
) {
    let mut dut = Dut::of(library);
    let mut due: VecDeque<Option<u32>> = std::iter::repeat_n(None, latency).collect();
    let mut clock = |dut: &mut Dut, result: Option<u32>| {
        dut.settle();
        let expected = due.pop_front().flatten();
        assert_eq!(dut.get("out_valid") == 1, expected.is_some());
        if let Some(crc) = expected {
            // The register is the usual CRC without its final inversion.
            assert_eq!(!dut.get("crc") as u32, crc);
        }
        due.push_back(result);
        dut.clock();
    };
    for frame in frames {
        for (n, chunk) in frame.chunks(beat).enumerate() {
            dut.set("in_valid", 0);
            for _ in 0..gap() {
                clock(&mut dut, None);
            }
            let last = (n + 1) * beat >= frame.len();
            let mut data = chunk.to_vec();
            data.resize(beat, 0xA5); // garbage beyond the end
            dut.set("in_valid", 1);
            dut.set_bytes("in_data", &data);
            dut.set("in_last", last.into());
            dut.set("in_bytes", chunk.len() as u64);
            clock(&mut dut, last.then(|| crc32fast::hash(frame)));
        }
    }
    dut.set("in_valid", 0);
    for _ in 0..latency {
        clock(&mut dut, None);
    }
}

#[test]
fn every_length_of_a_last_beat_is_right_at_full_rate() {
    for (library, beat, latency) in [
        (wide(), 128, Crc32Wide::<1024>::LATENCY),
        (half(), 64, Crc32Wide::<512>::LATENCY),
    ] {
        // Single-beat frames of 1 to `beat` bytes, one per cycle, then all lengths with two full beats before.
        let frame = |length: usize| {
            (0..length)
                .map(|i| (i * 37 + length) as u8)
                .collect::<Vec<u8>>()
        };
        let frames: Vec<_> = (1..=beat)
            .chain(2 * beat + 1..=3 * beat)
            .map(frame)
            .collect();
        crcs_match(library, beat, latency, &frames, || 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn frames_of_any_length_and_gaps_are_right(
        frames in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..600), 1..12),
        gaps in prop::collection::vec(0usize..4, 16),
    ) {
        for (library, beat, latency) in
            [(wide(), 128, Crc32Wide::<1024>::LATENCY), (half(), 64, Crc32Wide::<512>::LATENCY)]
        {
            let mut gaps = gaps.iter().cycle();
            crcs_match(library, beat, latency, &frames, || *gaps.next().unwrap());
        }
    }
}

#[test]
fn a_reset_inside_a_frame_leaves_nothing_behind() {
    let mut dut = Dut::of(wide());
    dut.set("in_valid", 1);
    dut.set_bytes("in_data", &[7; 128]);
    dut.clock();
    dut.set("reset", 1);
    dut.clock();
    dut.set("reset", 0);
    dut.set("in_last", 1);
    dut.set("in_bytes", 100);
    dut.clock();
    dut.set("in_valid", 0);
    for _ in 1..Crc32Wide::<1024>::LATENCY {
        assert_eq!(dut.get("out_valid"), 0);
        dut.clock();
    }
    assert_eq!(dut.get("out_valid"), 1);
    assert_eq!(!dut.get("crc") as u32, crc32fast::hash(&[7; 100]));
}
