//! Bandwidth, latency and back-pressure.

use sim_pcie::iommu::Permission;
use sim_pcie::*;

use crate::common::{submit_when_ready, write, PORT};

const NIC: Bdf = Bdf::from_id(0x1700);
const GPU: Bdf = Bdf::from_id(0x1800);
const BAR: Window = Window {
    base: 0x20_0000_0000,
    size: 1 << 30,
};
const HOST: u64 = 0x1_0000_0000;

fn no_dllps(lanes: u32) -> LinkConfig {
    LinkConfig {
        lanes,
        dllp_permille: 0,
        ..LinkConfig::default()
    }
}

fn builder(nic_link: LinkConfig, gpu_link: LinkConfig) -> FabricBuilder {
    FabricBuilder::new()
        .switch(SwitchConfig {
            uplink: no_dllps(16),
            ..SwitchConfig::new(Bdf::from_id(0x1600))
        })
        .nic(NicConfig {
            link: nic_link,
            ..NicConfig::new(NIC)
        })
        .gpu(GpuConfig {
            link: gpu_link,
            ..GpuConfig::new(GPU, BAR)
        })
        .host_memory(HOST, 1 << 30)
        .log_writes()
}

fn bypassing(builder: FabricBuilder) -> Fabric {
    let mut fabric = builder.build().unwrap();
    fabric.iommu_mut().attach_bypass(NIC);
    fabric
}

/// Time of `bytes` on a Gen5 link with 128b/130b encoding, in picoseconds.
fn gen5_ps(bytes: f64, lanes: f64) -> f64 {
    bytes * 8.0 * 130.0 / 128.0 / (lanes * 32e9) * 1e12
}

fn assert_near(seen: Picoseconds, expected: f64, tolerance: f64) {
    let off = (seen as f64 - expected).abs();
    assert!(
        off <= tolerance,
        "{seen} ps, expected {expected} +- {tolerance}"
    );
}

/// `count` writes of 256 bytes as fast as the port accepts them; returns the times at which they took effect.
fn stream(fabric: &mut Fabric, base: u64, at: AddressType, count: u64) -> Vec<Picoseconds> {
    let mut now = fabric.now();
    for n in 0..count {
        let tlp = write(NIC, base + n * 256, at, &[n as u8; 256]);
        now = submit_when_ready(fabric, now, PORT, tlp);
    }
    fabric.run_until_idle();
    fabric.writes_log().iter().map(|w| w.time).collect()
}

#[test]
fn the_latency_of_one_write_is_the_sum_of_its_hops() {
    let mut fabric = bypassing(builder(no_dllps(8), no_dllps(16)));
    let times = stream(&mut fabric, HOST, AddressType::Untranslated, 1);
    let sending = gen5_ps(280.0, 8.0) + gen5_ps(280.0, 16.0);
    // Two links of 100 ns, the switch 100 ns, memory 150 ns.
    assert_near(times[0], sending + 2.0 * 100e3 + 100e3 + 150e3, 2.0);
}

#[test]
fn an_iotlb_miss_adds_a_page_walk_and_holds_later_writes_back() {
    let mut fabric = builder(no_dllps(8), no_dllps(16)).build().unwrap();
    let iommu = fabric.iommu_mut();
    let domain = iommu.create_domain();
    iommu.attach(NIC, domain).unwrap();
    iommu
        .map_range(domain, 0, HOST, 1 << 21, Permission::READ_WRITE)
        .unwrap();
    let missed = stream(&mut fabric, 0, AddressType::Untranslated, 2);
    let mut bypassing = bypassing(builder(no_dllps(8), no_dllps(16)));
    let plain = stream(&mut bypassing, HOST, AddressType::Untranslated, 2);
    // Addresses below 4 GiB have a header that is 4 bytes shorter.
    let shorter = gen5_ps(4.0, 8.0) + gen5_ps(4.0, 16.0);
    assert_near(missed[0], plain[0] as f64 - shorter + 400e3, 2.0);
    assert_eq!(missed[1], missed[0], "the second write waits for the first");
}

#[test]
fn throughput_is_the_links_to_within_one_tlp() {
    for (lanes, payload_gbps) in [(8, 230.8), (16, 461.7), (1, 28.85)] {
        let mut fabric = bypassing(builder(no_dllps(lanes), no_dllps(16)));
        let times = stream(&mut fabric, HOST, AddressType::Untranslated, 1000);
        let one = gen5_ps(280.0, lanes.into());
        assert_near(times[999] - times[0], 999.0 * one, one);
        let gbps = 999.0 * 2048.0 / (times[999] - times[0]) as f64 * 1000.0;
        assert!((gbps / payload_gbps - 1.0).abs() < 0.002, "{gbps} Gb/s");
    }
}

#[test]
fn dllps_take_their_share() {
    let link = |dllp_permille| LinkConfig {
        dllp_permille,
        ..LinkConfig::default()
    };
    let (without, with) = (link(0).occupancy(280_000), link(20).occupancy(280_000));
    assert_near(with, without as f64 / 0.98, 2.0);
}

#[test]
fn a_slow_gpu_link_stalls_the_nic_and_loses_nothing() {
    let slow = LinkConfig {
        send_queue: 4,
        credits: CreditConfig::for_tlps(4, 256),
        latency_ps: 10_000,
        ..no_dllps(1)
    };
    // The link is so short that its own credits do not limit it: 4 TLPs per 129 ns, where the GPU link takes 71 ns for one.
    let nic = LinkConfig {
        send_queue: 4,
        credits: CreditConfig::for_tlps(4, 256),
        latency_ps: 10_000,
        ..no_dllps(8)
    };
    let mut fabric = bypassing(builder(nic, slow));
    let mut taken = 0;
    while fabric.ready(0, PORT, FlowClass::Posted).unwrap() {
        let tlp = write(NIC, BAR.base, AddressType::Untranslated, &[0; 256]);
        fabric.submit(0, PORT, tlp).unwrap();
        taken += 1;
    }
    assert_eq!(taken, 5, "a queue of 4 and the one being sent");
    let full = fabric.submit(
        0,
        PORT,
        write(NIC, BAR.base, AddressType::Untranslated, &[0; 4]),
    );
    let class = FlowClass::Posted;
    assert_eq!(full, Err(FabricError::QueueFull { port: 0, class }));

    let times = stream(&mut fabric, BAR.base, AddressType::Untranslated, 200);
    assert_eq!(times.len(), 205);
    let one = gen5_ps(280.0, 1.0);
    assert_near(times[204] - times[4], 200.0 * one, one);
    assert_eq!(fabric.gpu(0).touched_bytes(), 200 * 256);
}

#[test]
fn too_few_credits_for_the_round_trip_cost_throughput() {
    let starved = LinkConfig {
        credits: CreditConfig::for_tlps(8, 256),
        ..no_dllps(8)
    };
    let mut fabric = bypassing(builder(starved, no_dllps(16)));
    let times = stream(&mut fabric, HOST, AddressType::Untranslated, 800);
    // A credit returns after the flight up, the latency of the switch, and the flight down.
    let round_trip = gen5_ps(280.0, 8.0) + 100e3 + 100e3 + 100e3;
    assert_near(times[799] - times[7], 792.0 / 8.0 * round_trip, round_trip);
}

#[test]
fn time_does_not_go_back_and_ports_must_exist() {
    let mut fabric = bypassing(builder(no_dllps(8), no_dllps(16)));
    fabric.advance(1000).unwrap();
    let reversed = FabricError::TimeReversed {
        asked: 999,
        now: 1000,
    };
    assert_eq!(fabric.advance(999), Err(reversed));
    let tlp = write(NIC, HOST, AddressType::Untranslated, &[0; 4]);
    assert_eq!(fabric.submit(999, PORT, tlp.clone()), Err(reversed));
    let unknown = FabricError::UnknownPort(1);
    assert_eq!(fabric.submit(1000, PortId(1), tlp), Err(unknown));
    assert_eq!(fabric.take_received(PortId(1)), Err(unknown));
    assert_eq!(fabric.next_event(), None, "nothing was submitted");
}
