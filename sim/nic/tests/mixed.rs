//! Every scenario between a Verilated card and the software reference, in both directions.

use sim_nic::{chosen_shape, host_ports, CardReceives, CardSends, MixedNic};
use sim_world::scenario::{Scenario, Setup};
use sim_world::NicKind;

/// Messages are shorter by this factor than between reference NICs.
const SHRINK: u32 = 16;

/// Scenarios contain their own checks; every one also ends with `sim_world::verify`.
fn every_scenario_ends_as_it_must<N: NicKind>() {
    let setup = Setup {
        ports: host_ports(chosen_shape()),
        ..Setup::shrunk(1, SHRINK)
    };
    let possible = |s: &Scenario<N>| !s.needs_two_ports() || setup.ports.count == 2;
    for scenario in Scenario::<N>::ALL.into_iter().filter(possible) {
        let name = scenario.name;
        let outcome = scenario
            .run(&setup)
            .unwrap_or_else(|error| panic!("{name}, {}: {error}", N::KIND));
        assert!(outcome.verified.bytes > 0, "{name}: nothing arrived");
    }
}

#[test]
fn a_card_sends_to_the_reference() {
    every_scenario_ends_as_it_must::<MixedNic<CardSends>>();
}

#[test]
fn the_reference_sends_to_a_card() {
    every_scenario_ends_as_it_must::<MixedNic<CardReceives>>();
}
