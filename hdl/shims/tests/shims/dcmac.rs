//! The shim of a DCMAC at its pins, on two clocks with metastability.
use std::sync::LazyLock;

use hdl_shims::DcmacShim;
use hdl_testkit::{tools, Dut};
use hdl_verilog::emit;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use sim_models::DesignModels;
use sim_verilated::Library;

use crate::model::CARD;
use crate::segments::{drive, frame, segments, Bytes, Card, Segment, Wire, WIDE};
use crate::wire::random_bytes;

/// 390.625 MHz.
const MAC: u64 = 2_560_000;

static LIBRARY: LazyLock<Library> = LazyLock::new(|| {
    let mut block = Box::<DcmacShim>::default();
    block.connect_all();
    let design = emit(block.as_ref()).unwrap();
    tools::check(&design).unwrap_or_else(|error| panic!("{error}"));
    let mut spec = design.model().for_short_run();
    spec.verilog = design.metastable_text();
    spec.build().unwrap()
});

struct Bench {
    dut: Dut,
    rng: ChaCha8Rng,
    periods: [u64; 2],
    next: [u64; 2],
    /// Segments that are still to come from the wire.
    coming: Vec<Segment>,
    /// Beats that the card is to send, the next one last, and whether it is on offer.
    beats: Vec<(Vec<u8>, bool)>,
    offered: bool,
    card: Card,
    wire: Wire,
}

/// In how many of 8 cycles each side moves: the wire, the card, the MAC's ready.
type Pace = [u32; 3];

impl Bench {
    fn new(periods: [u64; 2], seed: u64) -> Self {
        let mut dut = Dut::of(&LIBRARY);
        dut.model()
            .plus_argument(&format!("metastability={}", seed + 1));
        dut.eval();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut bench = Self {
            dut,
            next: [0, rng.random_range(0..periods[1])],
            rng,
            periods,
            coming: vec![],
            beats: vec![],
            offered: false,
            card: Card::default(),
            wire: Wire::default(),
        };
        bench.dut.set("mac_reset", 1);
        bench.run(60, [0; 3]);
        bench.dut.set("mac_reset", 0);
        bench.run(60, [0; 3]);
        bench.dut.set("link_up", 1);
        bench.run(20, [0; 3]);
        assert!(bench.dut.is("port_up"));
        bench
    }

    fn wire_sends(&mut self, frames: &[Bytes]) {
        let all = frames
            .iter()
            .flat_map(|frame| segments(frame, &mut self.rng));
        self.coming = all.collect();
        self.coming.reverse();
    }

    fn card_sends(&mut self, frames: &[Bytes]) {
        let all = frames.iter().flat_map(|(bytes, _)| {
            let count = bytes.len().div_ceil(WIDE);
            let beats = bytes.chunks(WIDE).enumerate();
            beats.map(move |(index, beat)| (beat.to_vec(), index + 1 == count))
        });
        self.beats = all.collect();
        self.beats.reverse();
    }

    fn edge(&mut self, pace: Pace) {
        let now = self.next[0].min(self.next[1]);
        let rises = self.next.map(|at| at == now);
        if rises[0] {
            self.card.take(&self.dut);
            if self.offered && self.dut.is("tx_ready") {
                self.beats.pop();
                self.offered = false;
            }
        }
        if rises[1] {
            self.wire.take(&self.dut);
        }
        for level in [1, 0] {
            for (name, _) in ["clock", "mac_clock"]
                .iter()
                .zip(rises)
                .filter(|(_, rises)| *rises)
            {
                self.dut.set(name, level);
            }
            self.dut.eval();
        }
        for (next, (period, rises)) in self
            .next
            .iter_mut()
            .zip(self.periods.into_iter().zip(rises))
        {
            *next += period * u64::from(rises);
        }
        if rises[0] {
            if !self.offered && self.rng.random_ratio(pace[1], 8) {
                if let Some((bytes, last)) = self.beats.last() {
                    self.offered = true;
                    self.dut.set_bytes("tx_data", bytes);
                    self.dut.set("tx_bytes", bytes.len() as u64);
                    self.dut.set("tx_last", (*last).into());
                }
            }
            self.dut.set("tx_valid", self.offered.into());
        }
        if rises[1] {
            let mut cycle = vec![];
            if self.rng.random_ratio(pace[0], 8) {
                while cycle.len() < 4 {
                    let Some(segment) = self.coming.pop() else {
                        break;
                    };
                    cycle.push(Some(segment));
                }
            }
            drive(&mut self.dut, &cycle, &mut self.rng);
            self.dut
                .set("tx_axis_tready", self.rng.random_ratio(pace[2], 8).into());
        }
        self.dut.eval();
    }

    fn run(&mut self, edges: usize, pace: Pace) {
        for _ in 0..edges {
            self.edge(pace);
        }
    }

    fn drain(&mut self, pace: Pace) {
        for _ in 0..200_000 {
            if self.coming.is_empty() && self.beats.is_empty() {
                break;
            }
            self.edge(pace);
        }
        self.run(6_000, [8; 3]);
        assert!(
            self.coming.is_empty() && self.beats.is_empty(),
            "frames wait"
        );
    }
}

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
