//! Every scenario between two Verilated cards.

use std::time::Instant;

use sim_nic::{chosen_shape, host_ports, RtlNic};
use sim_world::scenario::{Scenario, Setup};

/// Messages are shorter by this factor than between reference NICs, because each cycle of two cards has to be simulated.
const SHRINK: u32 = 8;

sim_world::test_each_scenario!(ends_as_it_must);

/// The scenario contains its own checks; every scenario also ends with `sim_world::verify`.
fn ends_as_it_must(name: &str) {
    let scenario = Scenario::<RtlNic>::find(name).expect("it is in the list");
    let ports = host_ports(chosen_shape());
    if scenario.needs_two_ports() && ports.count < 2 {
        return;
    }
    let start = Instant::now();
    let setup = Setup {
        ports,
        ..Setup::shrunk(1, SHRINK)
    };
    let outcome = scenario
        .run(&setup)
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
