//! Every scenario, by name.

use sim_world::scenario::{Scenario, Setup};
use sim_world::{ReferenceNic, WorldError};

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
    let scenario = Scenario::<ReferenceNic>::find(name).expect("it is in the list");
    for seed in [1, 2, 3] {
        let outcome = scenario
            .run(&Setup::full(seed))
            .unwrap_or_else(|error| panic!("{name} with seed {seed}: {error}"));
        assert!(outcome.verified.bytes > 0, "seed {seed}: nothing arrived");
    }
}

#[test]
fn every_scenario_has_a_test() {
    const ALL: [Scenario<ReferenceNic>; 17] = Scenario::ALL;
    let listed: Vec<&str> = ALL.iter().map(|scenario| scenario.name).collect();
    assert_eq!(listed, NAMES);
}

#[test]
fn an_unknown_scenario_is_refused_with_the_closest_names() {
    let found = Scenario::<ReferenceNic>::find("permutatoin");
    let error = found.err().expect("there is none");
    let WorldError::UnknownScenario { closest, .. } = &error else {
        panic!("{error}");
    };
    assert!(closest.starts_with("permutation, "), "{closest}");
    assert!(error.to_string().contains("--list"));
}
