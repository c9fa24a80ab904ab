//! Settings of PCIe change what cards meet, and never what they transfer.

use sim_nic::{AcsSettings, CardPair, Credits, IommuSettings, PcieSettings};
use sim_pcie::{Refusal, Route};
use stellar_driver::*;

use super::hosts::*;

const PAGE: u64 = 1 << 16;
const GPU: u64 = 0x70_0000_0000;

/// Writes a page from the GPU of one host to that of the other. Returns the cards and how many cycles it took.
fn between_gpus(settings: &PcieSettings) -> (CardPair, u64) {
    let pair = CardPair::with_pcie(settings).unwrap();
    let devices = bring_up(&pair);
    let hosts = open(&devices, false);
    let qps = [hosts[0].qp(), hosts[1].qp()];
    connect([&qps[0], &qps[1]], 3);
    let regions = [0, 1].map(|host: usize| {
        pair.add_gpu_memory(host, GPU, PAGE);
        hosts[host].gpu_page(GPU, true)
    });
    let sent = pattern(PAGE as usize, 0x21);
    pair.store_gpu_memory(0, GPU, &sent);
    let (slice, to) = (
        regions[0].slice(0, PAGE as u32).unwrap(),
        regions[1].remote(),
    );
    let began = pair.clocks();
    let write = WorkRequest::write(1, slice, to.address, to.rkey);
    qps[0].post_send(&write).unwrap();
    assert_eq!(ends(&hosts[0].completions(1)), [(1, WcStatus::Success)]);
    let took = pair.clocks() - began;
    let mut arrived = vec![0; PAGE as usize];
    pair.load_gpu_memory(1, GPU, &mut arrived);
    assert!(arrived == sent, "{settings:?}: other bytes arrived");
    assert_eq!([pair.bad_accesses(0), pair.bad_accesses(1)], [0, 0]);
    (pair, took)
}

#[test]
fn without_direct_translated_the_gpu_is_reached_through_the_root_complex() {
    let (pair, direct) = between_gpus(&PcieSettings::default());
    let bytes = |pair: &CardPair, route| {
        let [sender, receiver] = [0, 1].map(|host| pair.pcie_counters(host));
        (sender.reads(route).bytes, receiver.writes(route).bytes)
    };
    assert_eq!(bytes(&pair, Route::PeerDirect), (PAGE, PAGE));
    assert_eq!(bytes(&pair, Route::Hairpin), (0, 0));
    let acs = AcsSettings {
        direct_translated: false,
        ..AcsSettings::default()
    };
    let settings = PcieSettings {
        acs,
        ..PcieSettings::default()
    };
    let (pair, around) = between_gpus(&settings);
    assert_eq!(bytes(&pair, Route::PeerDirect), (0, 0));
    assert_eq!(bytes(&pair, Route::Hairpin), (PAGE, PAGE));
    assert!(around > direct, "{around} cycles, and {direct} directly");
}

#[test]
fn latency_sizes_credits_and_order_change_the_time_alone() {
    let (_, usual) = between_gpus(&PcieSettings::default());
    let mut slow = PcieSettings::default();
    slow.reads.latency = 2_000_000;
    let mut small = PcieSettings::default();
    (small.sizes.payload, small.sizes.read) = (0, 0);
    small.credits = Credits {
        endpoint: 16,
        shared: 16,
    };
    let mut disordered = PcieSettings::default();
    disordered.completions.boundary = 128;
    disordered.completions.largest = 128;
    disordered.completions.interleave = true;
    disordered.completions.delay = sim_pcie::DelayConfig::between(0, 800_000);
    for settings in [slow, small, disordered] {
        let (_, took) = between_gpus(&settings);
        assert!(
            took > usual,
            "{took} cycles, and {usual} usually: {settings:?}"
        );
    }
}

/// Memory that is mapped for one function alone can be written by both, and what is not there is refused by the memory.
#[test]
fn an_iommu_that_passes_everything_refuses_nothing() {
    let iommu = IommuSettings {
        passthrough: true,
        ..IommuSettings::default()
    };
    let pair = CardPair::with_pcie(&PcieSettings {
        iommu,
        ..PcieSettings::default()
    })
    .unwrap();
    let devices = bring_up(&pair);
    let [a, b] = open(&devices, false);
    let qps = [a.qp(), b.qp()];
    connect([&qps[0], &qps[1]], 3);
    let (source, target) = (a.region(1 << 16, false), b.region(1 << 16, true));
    let sent = pattern(1 << 16, 0x71);
    source.memory().unwrap().write(0, &sent).unwrap();
    pair.unmap_for(1, Function::Data, target.address(), 1 << 16);
    let to = target.remote();
    let slice = source.slice(0, 1 << 16).unwrap();
    let write = WorkRequest::write(1, slice, to.address, to.rkey);
    qps[0].post_send(&write).unwrap();
    assert_eq!(ends(&a.completions(1)), [(1, WcStatus::Success)]);
    assert!(bytes(&target) == sent, "other bytes arrived");
    let refused = pair.pcie_counters(1);
    assert_eq!(refused.refusals().count(), 0);
    assert_eq!(refused.refused(Refusal::Unmapped).tlps, 0);
    assert_eq!([pair.bad_accesses(0), pair.bad_accesses(1)], [0, 0]);
}
