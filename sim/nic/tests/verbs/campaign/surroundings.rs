//! What is around the two cards in a run: cables, and the PCIe of their hosts.

use rand::seq::IndexedRandom;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use sim_net::Topology;
use sim_nic::{
    chosen_shape, host_ports, FabricPair, PcieSettings, ReadCompletions, RequestSizes, CLOCK_PS,
};
use sim_pcie::DelayConfig;
use sim_world::{HostPorts, PcieReads, Plan};
use stellar_driver::PciFunction;
use stellar_wire::host::config_space::Bar;
use stellar_wire::host::registers::READ_TIMEOUT;

/// Cycles until a read of the card has failed: 100 us.
const READ_CYCLES: u64 = 25_000;

fn delay(rng: &mut ChaCha8Rng) -> DelayConfig {
    let most = [0, 100_000, 2_000_000].choose(rng).unwrap();
    DelayConfig::between(0, *most)
}

/// Two cables that lose, damage and delay frames, or do not.
fn cables(rng: &mut ChaCha8Rng) -> Topology {
    let loss = [0.0, 0.001, 0.01].choose(rng).unwrap();
    let corruption = [0.0, 0.001].choose(rng).unwrap();
    let jitter = [0, 500].choose(rng).unwrap();
    let HostPorts { count, rate_gbps } = host_ports(chosen_shape());
    let text = format!(
        "[defaults]\nrate_gbps = {rate_gbps}\ndelay_ns = 15\nloss = {loss:?}\ncorruption = {corruption:?}\njitter_ns = {jitter}\n[back_to_back]\nplanes = {count}\n"
    );
    println!("{text}");
    Topology::from_toml("campaign", &text).unwrap()
}

fn pcie(rng: &mut ChaCha8Rng) -> PcieSettings {
    let boundary = *[64, 128].choose(rng).unwrap();
    PcieSettings {
        reads: PcieReads {
            latency: rng.random_range(200_000..1_500_000),
            ..PcieReads::default()
        },
        sizes: RequestSizes {
            payload: rng.random_range(0..=3),
            read: rng.random_range(0..=5),
        },
        completions: ReadCompletions {
            boundary,
            largest: boundary << rng.random_range(0..=2),
            interleave: rng.random(),
            delay: delay(rng),
        },
        seed: rng.random(),
        endpoint_delays: [delay(rng), delay(rng)],
        host_delay: delay(rng),
        gpu_delay: delay(rng),
        completion_timeout: Some(READ_CYCLES * CLOCK_PS),
        ..PcieSettings::default()
    }
}

/// Two hosts with a card each.
pub fn pair(rng: &mut ChaCha8Rng) -> FabricPair {
    let plan = Plan::new(cables(rng), rng.random()).unwrap();
    let pcie = pcie(rng);
    println!("{pcie:?}");
    FabricPair::with_pcie(&plan, &pcie).unwrap()
}

/// Sets the timeout of a card's reads.
pub fn set_read_timeout(function: &dyn PciFunction) {
    let timeout = READ_TIMEOUT.offset.into();
    function
        .write64(Bar::Registers, timeout, READ_CYCLES)
        .unwrap();
}
