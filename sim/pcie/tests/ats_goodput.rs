//! The experiment of figure 8 with small caches: where goodput falls follows from their sizes.

use sim_pcie::ats::*;
use sim_pcie::IommuConfig;

const PAGE: u64 = 4096;

/// Goodput with small caches: an ATC of 1,024 pages and an IOTLB of 4,096.
fn small(translation: Translation, pages: u64) -> Goodput {
    let iommu = IommuConfig {
        iotlb_sets: 512,
        iotlb_ways: 8,
        walk_latency_ps: 100_000,
        ..IommuConfig::default()
    };
    let experiment = Experiment {
        translation,
        iommu,
        connections: 16,
        message: pages / 16 * PAGE,
        seed: 3,
    };
    measure(&experiment, &mut |_, _| {})
}

#[test]
fn goodput_falls_where_the_caches_end() {
    let atc = Translation::Ats(AtcConfig {
        sets: 256,
        ways: 4,
        outstanding: 4,
    });
    let [fits, out_of_atc, still_in_iotlb, out_of_both] =
        [1024, 2048, 4096, 8192].map(|pages| small(atc, pages));
    assert!(fits.gbps > 187.0 && fits.atc_misses < 0.01, "{fits:?}");
    assert!(out_of_atc.gbps < fits.gbps - 10.0, "{out_of_atc:?}");
    assert!(out_of_atc.atc_misses > 0.99 && out_of_atc.iotlb_misses < 0.01);
    assert!((still_in_iotlb.gbps - out_of_atc.gbps).abs() < 1.0);
    assert!(out_of_both.gbps < out_of_atc.gbps - 10.0, "{out_of_both:?}");
    assert!(out_of_both.iotlb_misses > 0.99);
    for pages in [1024, 8192] {
        let flat = small(Translation::Emtt, pages);
        assert!((flat.gbps - 190.5).abs() < 0.5, "{flat:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    assert_eq!(small(Translation::Emtt, 64), small(Translation::Emtt, 64));
}
