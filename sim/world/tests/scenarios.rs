//! Every scenario, by name.

use sim_world::scenario::{Scenario, Setup};
use sim_world::{ReferenceNic, WorldError};

sim_world::test_each_scenario!(ends_as_it_must);

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
fn an_unknown_scenario_is_refused_with_the_closest_names() {
    let found = Scenario::<ReferenceNic>::find("permutatoin");
    let error = found.err().expect("there is none");
    let WorldError::UnknownScenario { closest, .. } = &error else {
        panic!("{error}");
    };
    assert!(closest.starts_with("permutation, "), "{closest}");
    assert!(error.to_string().contains("--list"));
}
