//! Random TLPs of three streams through the Verilated block: they stay whole and in order, shares are fair, and there is no bubble.

use std::collections::VecDeque;

use hdl_pcie::share::WriteArbiter;
use hdl_testkit::equivalence::{Random, TestRng};
use hdl_testkit::Dut;
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rust_hdl::prelude::*;
use stellar_wire::hw::dma::WriteTlpHeader;
use stellar_wire::hw::pack::to_words;

const STREAMS: usize = 3;

#[derive(Clone, Debug, PartialEq)]
pub struct Beat {
    data: Vec<u32>,
    header: Vec<u32>,
    first: bool,
    last: bool,
}

pub fn header(rng: &mut TestRng) -> WriteTlpHeader {
    WriteTlpHeader {
        address_dw: Bits::random(rng),
        at: Bits::random(rng),
        length_dw: Bits::random(rng),
        first_be: Bits::random(rng),
        last_be: Bits::random(rng),
        ends: Bit::random(rng),
        flush: Bit::random(rng),
        device: Bits::random(rng),
        of_host_queue: Bit::random(rng),
        message: Bit::random(rng),
        vector: Bits::random(rng),
    }
}

fn tlp(width: usize, beats: usize, rng: &mut TestRng) -> Vec<Beat> {
    let header = to_words(header(rng));
    (0..beats)
        .map(|i| Beat {
            data: (0..width / 32).map(|_| rng.random()).collect(),
            header: header.clone(),
            first: i == 0,
            last: i + 1 == beats,
        })
        .collect()
}

fn dut(width: usize) -> Dut {
    match width {
        512 => Dut::new::<WriteArbiter<512, 3, 2>>(),
        _ => Dut::new::<WriteArbiter<1024, 3, 2>>(),
    }
}

/// Sends the streams' beats, with each side active at its probability in percent; returns (cycle, stream) of every beat that left.
fn run(
    width: usize,
    mut streams: [VecDeque<Beat>; STREAMS],
    offer: [u8; STREAMS],
    ready: u8,
    rng: &mut TestRng,
) -> Vec<(u64, usize)> {
    let mut dut = dut(width);
    dut.reset(1);
    let total: usize = streams.iter().map(VecDeque::len).sum();
    // Accepted beats, in the order in which they must leave.
    let mut inside: VecDeque<(usize, Beat)> = VecDeque::new();
    let mut offered = [false; STREAMS];
    let mut left = vec![];
    let mut owner = None;
    for now in 0.. {
        assert!(now < 100_000, "stuck");
        if left.len() == total {
            break;
        }
        for i in 0..STREAMS {
            offered[i] |= !streams[i].is_empty() && rng.random_range(0..100) < offer[i];
            dut.set(&format!("in{i}_valid"), offered[i].into());
            if offered[i] {
                let beat = &streams[i][0];
                dut.set_words(&format!("in{i}_data"), &beat.data);
                dut.set_words(&format!("in{i}_header"), &beat.header);
                dut.set(&format!("in{i}_first"), beat.first.into());
                dut.set(&format!("in{i}_last"), beat.last.into());
            }
        }
        let takes = rng.random_range(0..100) < ready;
        dut.set("tlp_ready", takes.into());
        dut.eval();
        if takes && dut.is("tlp_valid") {
            let (from, expected) = inside.pop_front().expect("a beat out of nothing");
            let beat = Beat {
                data: dut.words("tlp_data"),
                header: dut.words("tlp_header"),
                first: dut.is("tlp_first"),
                last: dut.is("tlp_last"),
            };
            assert_eq!(beat, expected);
            assert!(
                owner.is_none_or(|o| o == from),
                "a beat of {from} inside a TLP"
            );
            owner = (!beat.last).then_some(from);
            left.push((now, from));
        }
        let moved: Vec<_> = (0..STREAMS)
            .filter(|&i| offered[i] && dut.is(&format!("in{i}_ready")))
            .collect();
        assert!(moved.len() <= 1);
        for i in moved {
            inside.push_back((i, streams[i].pop_front().expect("a beat")));
            offered[i] = false;
        }
        dut.clock();
    }
    left
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn tlps_stay_whole_and_in_order(
        seed in any::<u64>(), wide in any::<bool>(), offer in prop::array::uniform3(5..=100u8), ready in 5..=100u8,
    ) {
        let mut rng = TestRng::seed_from_u64(seed);
        let width = if wide { 1024 } else { 512 };
        let streams = std::array::from_fn(|_| {
            (0..12).flat_map(|_| { let beats = rng.random_range(1..=8); tlp(width, beats, &mut rng) }).collect()
        });
        run(width, streams, offer, ready, &mut rng);
    }
}

#[test]
fn a_beat_leaves_in_every_clock_and_streams_take_turns() {
    for width in [512, 1024] {
        let mut rng = TestRng::seed_from_u64(7);
        for beats in [1, 3] {
            let streams = std::array::from_fn(|_| {
                (0..20).flat_map(|_| tlp(width, beats, &mut rng)).collect()
            });
            let left = run(width, streams, [100; STREAMS], 100, &mut rng);
            for (i, &(clock, stream)) in left.iter().enumerate() {
                assert_eq!(clock, left[0].0 + i as u64, "a bubble");
                assert_eq!(stream, i / beats % STREAMS, "out of turn");
            }
        }
    }
}
