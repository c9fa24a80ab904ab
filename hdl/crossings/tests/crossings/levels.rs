//! Levels, pulses and resets on two clocks.
use hdl_crossings::{
    CrossingSource, LevelSynchroniser, PulseHandshake, ResetSynchroniser, TwoClockRam,
};
use hdl_macros::hdl;
use hdl_primitives::ram::Distributed;
use hdl_testkit::Dut;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use sim_verilated::Library;

use crate::clocks::{instance, metastable, Clocks, RATIOS};

const STAGES: usize = 2;

/// A source and a synchroniser, as levels cross.
#[derive(LogicBlock, Default)]
struct Levels {
    from_clock: Signal<In, Clock>,
    to_clock: Signal<In, Clock>,
    level: Signal<In, Bits<6>>,
    out: Signal<Out, Bits<6>>,
    source: CrossingSource<6>,
    synchroniser: LevelSynchroniser<6, STAGES>,
}

impl Logic for Levels {
    #[hdl]
    fn update(&mut self) {
        self.source.clock.next = self.from_clock.val();
        self.synchroniser.clock.next = self.to_clock.val();
        self.source.d.next = self.level.val();
        self.synchroniser.level.next = self.source.q.val();
        self.out.next = self.synchroniser.synchronised.val();
    }
}

const CLOCKS: [&str; 2] = ["from_clock", "to_clock"];

/// Raises the clocks that `rise`, then lowers them.
fn edge(dut: &mut Dut, rise: [bool; 2]) {
    for level in [1, 0] {
        for (name, _) in CLOCKS.iter().zip(rise).filter(|(_, rises)| *rises) {
            dut.set(name, level);
        }
        dut.eval();
    }
}

/// The output is what the source had at a recent edge, except that bits of its last change are old or new each by itself. Returns how often the
/// output was neither the old nor the new word.
fn levels_arrive(dut: &mut Dut, periods: [u64; 2], rng: &mut ChaCha8Rng) -> usize {
    let mut clocks = Clocks::new(periods, rng);
    let (mut source, mut before, mut changed) = (0, 0, false);
    // What the output may be after the next edges of its clock, latest last: bits that are certain, and those that are not.
    let mut due: Vec<(u64, u64)> = vec![(0, 0); STAGES];
    let mut torn = 0;
    for _ in 0..400 {
        let level = rng.random_range(0..64);
        dut.set("level", level);
        dut.eval();
        let rise = clocks.rise();
        if rise[1] {
            let uncertain = if changed { source ^ before } else { 0 };
            due.push((source, uncertain));
            changed = false;
        }
        if rise[0] && level != source {
            (before, source, changed) = (source, level, true);
        }
        edge(dut, rise);
        if rise[1] {
            let (word, uncertain) = due[due.len() - STAGES];
            let out = dut.get("out");
            assert_eq!(out & !uncertain, word & !uncertain, "{periods:?}");
            torn += usize::from(out != word && out != word ^ uncertain);
        }
    }
    torn
}

#[test]
fn levels_arrive_after_the_stages_and_bits_of_one_change_apart_in_simulation() {
    let metastable = metastable::<Levels>();
    let mut torn = 0;
    for seed in 0..30 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        for periods in RATIOS {
            torn += levels_arrive(&mut instance(&metastable, 1 + seed), periods, &mut rng);
        }
    }
    assert!(torn > 10_000, "words that were never at the source: {torn}");
    // The hardware's own text has none.
    let plain = hdl_testkit::library::<Levels>();
    for periods in RATIOS {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        assert_eq!(levels_arrive(&mut Dut::of(plain), periods, &mut rng), 0);
    }
}

/// Sends pulses at random; each that was not refused arrives once, in order of time.
fn pulses_arrive(library: &Library, periods: [u64; 2], seed: u64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut dut = instance(library, 1 + seed);
    let mut clocks = Clocks::new(periods, &mut rng);
    let (mut sent, mut ignored, mut arrived) = (0_u32, 0_u32, 0_u32);
    for step in 0..3000 {
        let rise = clocks.rise();
        let pulse = step < 2900 && dut.is("pulse");
        let busy = dut.is("busy");
        assert!(arrived <= sent, "a pulse out of nothing");
        assert!(sent - arrived <= 1, "two pulses are under way");
        if rise[1] && dut.is("out") {
            arrived += 1;
        }
        if rise[0] && pulse {
            *(if busy { &mut ignored } else { &mut sent }) += 1;
        }
        edge(&mut dut, rise);
        if rise[0] {
            dut.set("pulse", (step < 2890 && rng.random_ratio(1, 3)).into());
            dut.eval();
        }
    }
    assert_eq!(arrived, sent, "{periods:?}");
    assert!(!dut.is("busy"), "it is free again");
    assert!(sent > 20 && ignored > 20, "{sent} sent, {ignored} ignored");
}

#[test]
fn every_pulse_that_is_taken_arrives_once() {
    let library = metastable::<PulseHandshake<2>>();
    for seed in 0..20 {
        for periods in RATIOS {
            pulses_arrive(&library, periods, seed);
        }
    }
}

#[test]
fn a_reset_is_seen_while_the_clock_stands_and_ends_at_an_edge() {
    let mut dut = Dut::new::<ResetSynchroniser<3>>();
    let cycles_high = |dut: &mut Dut| {
        let mut cycles = 0;
        while dut.is("reset") {
            cycles += 1;
            assert!(cycles < 20, "the reset does not end");
            dut.clock();
        }
        cycles
    };
    assert_eq!(cycles_high(&mut dut), 4, "1 after configuration");
    for _ in 0..3 {
        // A pulse without an edge.
        for level in [1, 0] {
            dut.set("asynchronous", level);
            dut.settle();
            assert!(!dut.is("reset"), "it changes at edges only");
        }
        dut.clock();
        assert!(dut.is("reset"));
        assert_eq!(cycles_high(&mut dut), 3);
    }
    dut.set("asynchronous", 1);
    for cycle in 0..20 {
        dut.clock();
        assert!(dut.is("reset"), "cycle {cycle}");
    }
}

#[test]
fn a_word_that_is_read_while_it_is_written_stops_the_model() {
    type Ram = TwoClockRam<Bits<8>, 4, Distributed>;
    let edge = |dut: &mut Dut, clock: &str| {
        for level in [1, 0] {
            dut.set(clock, level);
            dut.eval();
        }
    };
    let library = metastable::<Ram>();
    let reads_after = |edges: usize, address: u64| {
        let mut dut = instance(&library, 1);
        dut.set("write_enable", 1);
        dut.set("write_address", 5);
        dut.set("write_data", 77);
        edge(&mut dut, "write_clock");
        for _ in 0..edges {
            edge(&mut dut, "read_clock");
        }
        dut.set("read_enable", 1);
        dut.set("read_address", address);
        edge(&mut dut, "read_clock");
        dut.get("read_data")
    };
    assert_eq!(reads_after(1, 5), 77);
    assert_eq!(reads_after(0, 6), 0, "another word");
    let too_early = std::panic::AssertUnwindSafe(|| reads_after(0, 5));
    assert!(std::panic::catch_unwind(too_early).is_err());
}
