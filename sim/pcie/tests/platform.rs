//! The platform of simulated hosts: each setting reaches its part of the fabric, and the defaults are those that results were measured with.

use sim_pcie::platform::{config, AcsSettings, Credits, IommuSettings, PcieSettings};
use sim_pcie::{CreditConfig, DelayConfig, Fabric, FabricConfig, PeerWrites};

fn changed(change: impl FnOnce(&mut PcieSettings)) -> FabricConfig {
    let mut settings = PcieSettings::default();
    change(&mut settings);
    settings.check().unwrap();
    config(&settings)
}

#[test]
fn the_defaults_are_those_of_the_measured_results() {
    let fabric = changed(|_| {});
    assert_eq!(
        (fabric.switches.len(), fabric.nics.len(), fabric.gpus.len()),
        (1, 2, 1)
    );
    assert_eq!(fabric.switches[0].latency_ps, 75_000);
    assert_eq!(
        fabric.switches[0].uplink.credits,
        CreditConfig::for_tlps(512, 256)
    );
    assert_eq!(fabric.root_complex.completer.latency_ps, 150_000);
    assert_eq!(fabric.iommu, sim_pcie::IommuConfig::default());
    for nic in &fabric.nics {
        let acs = &nic.acs;
        let on = [
            acs.source_validation,
            acs.request_redirect,
            acs.direct_translated,
        ];
        assert_eq!((on, acs.translation_blocking), ([true; 3], false));
        assert_eq!((nic.link.lanes, nic.link.latency_ps), (8, 75_000));
        assert_eq!((nic.link.dllp_permille, nic.link.max_payload), (37, 4_096));
        assert_eq!(nic.link.credits, CreditConfig::default());
        assert_eq!(nic.completion_timeout_ps, 50_000_000_000);
        assert!(nic.ats && nic.posted_delay.is_none());
    }
    Fabric::new(fabric).unwrap();
}

#[test]
fn each_setting_reaches_its_part() {
    let default = config(&PcieSettings::default());
    let acs = |change: fn(&mut AcsSettings)| changed(|s| change(&mut s.acs)).nics[1].acs.clone();
    assert!(acs(|acs| acs.translation_blocking = true).translation_blocking);
    assert!(!acs(|acs| acs.direct_translated = false).direct_translated);
    assert!(!acs(|acs| acs.source_validation = false).source_validation);

    let fabric = changed(|s| {
        s.iommu = IommuSettings {
            passthrough: true,
            large_pages: true,
            walk_latency: 1,
            walkers: 2,
            iotlb_sets: 4,
            iotlb_ways: 5,
        };
    });
    let iommu = &fabric.iommu;
    let sizes = (iommu.walkers, iommu.iotlb_sets, iommu.iotlb_ways);
    assert_eq!((iommu.walk_latency_ps, sizes), (1, (2, 4, 5)));

    let fabric = changed(|s| {
        s.credits = Credits {
            endpoint: 16,
            shared: 32,
        };
    });
    assert_eq!(fabric.nics[0].link.credits, CreditConfig::for_tlps(16, 256));
    assert_eq!(fabric.gpus[0].link.credits, CreditConfig::for_tlps(32, 256));

    let late = DelayConfig::constant(7);
    let fabric = changed(|s| s.endpoint_delays[1] = late);
    assert_eq!(
        (fabric.nics[0].posted_delay, fabric.nics[1].posted_delay),
        (DelayConfig::default(), late)
    );
    assert_eq!(
        changed(|s| s.host_delay = late)
            .root_complex
            .completer
            .posted_delay,
        late
    );
    assert_eq!(
        changed(|s| s.gpu_delay = late).gpus[0]
            .completer
            .posted_delay,
        late
    );

    let fabric = changed(|s| {
        s.completions.boundary = 128;
        s.completions.largest = 512;
        s.completions.interleave = true;
        s.completions.delay = late;
    });
    for completer in [&fabric.root_complex.completer, &fabric.gpus[0].completer] {
        assert_eq!((completer.rcb, completer.max_completion), (128, 512));
        assert_eq!((completer.interleave, completer.read_delay), (true, late));
    }

    let limit = PeerWrites {
        in_flight: 3.try_into().unwrap(),
        latency_ps: 9,
    };
    assert_eq!(
        changed(|s| s.peer_writes = Some(limit))
            .root_complex
            .peer_writes,
        Some(limit)
    );
    assert_eq!(
        changed(|s| s.completion_timeout = Some(8)).nics[0].completion_timeout_ps,
        8
    );
    assert_eq!(changed(|s| s.seed = 6).seed, 6);
    let slow = changed(|s| s.reads.latency = 1_600_000);
    assert_eq!(slow.nics[0].link.latency_ps, 200_000);
    assert_ne!(
        changed(|s| s.reads.rate_mbps = 100_000).nics[0].link,
        default.nics[0].link
    );
}

/// Every platform that passes the check can be built, also at the bounds.
#[test]
fn what_passes_the_check_can_be_built() {
    for latency in [100_000, 100_000_000] {
        for rate_mbps in [1_000, 233_000, 460_000] {
            for tlps in [16, 1 << 20] {
                let fabric = changed(|s| {
                    s.reads.latency = latency;
                    s.reads.rate_mbps = rate_mbps;
                    s.credits.endpoint = tlps;
                    s.credits.shared = tlps;
                });
                Fabric::new(fabric).unwrap();
            }
        }
    }
}

#[test]
fn what_no_platform_has_is_named() {
    let refused = |change: fn(&mut PcieSettings)| {
        let mut settings = PcieSettings::default();
        change(&mut settings);
        settings.check().unwrap_err().to_string()
    };
    for (error, parts) in [
        (
            refused(|s| s.sizes.payload = 4),
            ["`max_payload` is 2048", "1024"],
        ),
        (
            refused(|s| s.sizes.read = 6),
            ["`max_read` is 8192", "4096"],
        ),
        (
            refused(|s| s.acs.request_redirect = false),
            ["`acs_request_redirect`", "GPU's BAR"],
        ),
        (
            refused(|s| s.completions.boundary = 32),
            ["`rcb` is 32", "64 or 128"],
        ),
        (
            refused(|s| s.completions.largest = 192),
            ["`max_completion` is 192", "power of two"],
        ),
        (
            refused(|s| s.reads.latency = 99_999),
            ["`read_ns` is 99", "use 100 to 100000"],
        ),
        (
            refused(|s| s.completion_timeout = Some(0)),
            ["`completion_timeout_us`", "1 or more"],
        ),
    ] {
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    }
}
