//! Tests that the entries in flight never exceed the FIFO, and that a full pipeline runs at full rate.
use std::collections::VecDeque;
use std::sync::OnceLock;

use hdl_primitives::Credit;
use hdl_testkit::equivalence::{check, Random, TestRng};
use hdl_testkit::{library_of, Dut};
use proptest::prelude::*;
use rust_hdl::prelude::*;
use sim_verilated::Library;

const LIMIT: usize = 12;

fn credit() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| library_of(Credit::<4>::new(LIMIT)))
}

#[test]
fn agrees_with_its_simulation() {
    let mut out = 0usize;
    let drive = move |uut: &mut Credit<4>, rng: &mut TestRng| {
        // Inputs still show the clock before.
        if uut.reset.val() {
            out = 0;
        } else {
            out = out + usize::from(uut.take.val()) - usize::from(uut.give.val());
        }
        uut.reset.next = Bits::<6>::random(rng) == 7;
        // Inputs keep the count from 0 to the limit, whatever `room` is.
        uut.take.next = out < LIMIT && bool::random(rng);
        uut.give.next = out > 0 && bool::random(rng);
    };
    check(
        || Credit::<4>::new(LIMIT),
        Some(|u: &mut Credit<4>| &mut u.clock),
        drive,
        600,
        1,
    )
    .unwrap();
}

/// Runs a sender that sends whenever there is room, a path of `latency` cycles, and a receiver that accepts as `takes` says. Returns how many entries
/// were received.
fn run(latency: usize, takes: &[bool]) -> usize {
    let mut dut = Dut::of(credit());
    dut.set("reset", 1);
    dut.clock();
    dut.set("reset", 0);
    let mut way = VecDeque::from(vec![false; latency]);
    let (mut held, mut taken) = (0, 0);
    for &take in takes {
        dut.set("take", 0);
        dut.set("give", 0);
        dut.settle();
        let sent = dut.get("room") == 1;
        let given = take && held > 0;
        dut.set("take", sent.into());
        dut.set("give", given.into());
        dut.settle();
        dut.clock();
        way.push_back(sent);
        let arrived = way.pop_front().expect("latency");
        held = held + usize::from(arrived) - usize::from(given);
        taken += usize::from(given);
        let under_way = way.iter().filter(|&&there| there).count();
        assert!(
            held + under_way <= LIMIT,
            "{held} held, {under_way} under way"
        );
    }
    taken
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn the_fifo_is_never_full_when_something_comes(latency in 1..20usize, takes in prop::collection::vec(any::<bool>(), 1..300)) {
        run(latency, &takes);
    }
}

#[test]
fn one_every_clock_if_the_way_is_short_enough() {
    // After two cycles of start and the latency there is no bubble: one place less than the limit is used, and a credit is back after two cycles.
    for latency in 1..=LIMIT - 3 {
        let taken = run(latency, &[true; 200]);
        assert!(
            taken >= 200 - latency - 3,
            "way of {latency}: {taken} in 200 clocks"
        );
    }
}

#[test]
fn a_receiver_that_takes_nothing_gets_the_limit_at_most() {
    let mut takes = vec![false; 100];
    takes.extend([true; LIMIT]);
    let taken = run(3, &takes);
    assert!((LIMIT - 1..=LIMIT).contains(&taken), "{taken} of {LIMIT}");
}
