//! Every scenario between two Verilated cards.

use std::time::Instant;

use sim_nic::RtlNic;
use sim_world::scenario::{Scenario, Setup};

/// Messages are shorter by this factor than between reference NICs, because each cycle of two cards has to be simulated.
const SHRINK: u32 = 8;

macro_rules! scenarios {
    ($($test:ident: $name:literal),+ $(,)?) => {
        const NAMES: &[&str] = &[$($name),+];
        $(
            #[test]
            fn $test() {
                ends_as_it_must($name);
            }
        )+
    };
}

scenarios! {
    permutation: "permutation",
    duplicates: "duplicates",
    lost_sacks: "lost-sacks",
    lost_last_packet: "lost-last-packet",
    every_packet_lost_once: "every-packet-lost-once",
    go_back_n: "go-back-n",
    psn_wrap: "psn-wrap",
    window_full: "window-full",
    ecn_on_every_packet: "ecn-on-every-packet",
    plane_dead_and_back: "plane-dead-and-back",
    retry_budget_exhausted: "retry-budget-exhausted",
    deregistration: "deregistration",
    foreign_doorbell: "foreign-doorbell",
    all_queue_pairs: "all-queue-pairs",
    tiny_messages: "tiny-messages",
    gibibyte: "gibibyte",
    unaligned: "unaligned",
}

/// The scenario contains its own checks; every scenario also ends with `sim_world::verify`.
fn ends_as_it_must(name: &str) {
    let scenario = Scenario::<RtlNic>::find(name).expect("it is in the list");
    let start = Instant::now();
    let outcome = scenario
        .run(&Setup::shrunk(1, SHRINK))
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(outcome.verified.bytes > 0, "nothing arrived");
    println!(
        "{name}: {} bytes in {} ns, {} clocks of each card since power-up, {:.1} s",
        outcome.verified.bytes,
        outcome.world.now() / 1000,
        outcome.world.host(0).nic().clocks(),
        start.elapsed().as_secs_f64()
    );
}

#[test]
fn every_scenario_has_a_test() {
    let all = Scenario::<RtlNic>::ALL;
    let listed: Vec<&str> = all.iter().map(|scenario| scenario.name).collect();
    assert_eq!(listed, NAMES);
}
