//! Completions: those of one tag in order and cut at the boundary, those of different tags in any order.

use std::collections::BTreeMap;

use sim_pcie::*;

use crate::common::{submit_when_ready, PORT};

const NIC: Bdf = Bdf::from_id(0x1700);
const AT: AddressType = AddressType::Untranslated;

fn fabric(completer: CompleterConfig, seed: u64) -> Fabric {
    let mut fabric = Fabric::new(FabricConfig {
        switches: vec![SwitchConfig::new(Bdf::from_id(0x1600))],
        nics: vec![NicConfig::new(NIC)],
        root_complex: RootComplexConfig {
            completer,
            ..RootComplexConfig::default()
        },
        host_memory: vec![Window {
            base: 0,
            size: 1 << 20,
        }],
        seed,
        ..FabricConfig::default()
    })
    .unwrap();
    fabric.iommu_mut().attach_bypass(NIC);
    let pattern: Vec<u8> = (0..1 << 20).map(|i: u32| (i ^ i >> 8) as u8).collect();
    fabric.host_mut().store(0, &pattern).unwrap();
    fabric
}

/// 40 reads of 700 bytes at odd addresses, tag n at 0x1000 n + 0x23; returns their completions in the order of arrival.
fn read_all(fabric: &mut Fabric) -> Vec<Completion> {
    let mut now = 0;
    for tag in 0..40 {
        let address = 0x1000 * u64::from(tag) + 0x23;
        let read = MemRead::of_bytes(NIC, tag, address, AT, 700).unwrap();
        now = submit_when_ready(fabric, now, PORT, Tlp::Read(read));
    }
    fabric.run_until_idle();
    let received = std::iter::from_fn(|| fabric.take_received(PORT).unwrap());
    let completions = received.map(|received| match received.tlp {
        Tlp::Completion(completion) => completion,
        other => panic!("a NIC got {other:?}"),
    });
    completions.collect()
}

/// Puts the completions of each tag together, which must come in address order, and compares with memory.
fn check(fabric: &Fabric, completions: &[Completion], rcb: u64) {
    let mut done: BTreeMap<u16, usize> = BTreeMap::new();
    for completion in completions {
        let got = done.entry(completion.tag).or_default();
        let address = 0x1000 * u64::from(completion.tag) + 0x23 + *got as u64;
        assert_eq!(u64::from(completion.lower_address), address & 0x7f);
        assert_eq!(usize::from(completion.byte_count), 700 - *got);
        assert!(*got == 0 || address.is_multiple_of(rcb), "{address:#x}");
        let lead = (address % 4) as usize;
        let bytes = (completion.data.len() - lead).min(700 - *got);
        let expected = fabric.host().read(address, bytes).unwrap();
        assert_eq!(completion.data[lead..lead + bytes], expected);
        *got += bytes;
    }
    assert_eq!(done.len(), 40);
    assert!(done.values().all(|&bytes| bytes == 700));
}

fn order(completions: &[Completion]) -> Vec<u16> {
    completions
        .iter()
        .map(|completion| completion.tag)
        .collect()
}

#[test]
fn without_delay_tags_stay_in_order() {
    let mut fabric = fabric(CompleterConfig::default(), 1);
    let completions = read_all(&mut fabric);
    check(&fabric, &completions, 64);
    assert!(order(&completions).is_sorted());
}

#[test]
fn tags_overtake_each_other_and_each_stays_in_order() {
    for (interleave, rcb) in [(false, 64), (true, 64), (true, 128)] {
        let mut orders = Vec::new();
        for seed in 0..8 {
            let mut fabric = fabric(
                CompleterConfig {
                    rcb,
                    max_completion: rcb,
                    read_delay: DelayConfig::between(0, 200_000),
                    interleave,
                    ..CompleterConfig::default()
                },
                seed,
            );
            let completions = read_all(&mut fabric);
            check(&fabric, &completions, rcb as u64);
            let mut tags = order(&completions);
            assert!(!tags.is_sorted());
            tags.dedup();
            assert_eq!(
                tags.len() > 40,
                interleave,
                "completions of a tag stay together unless they alternate"
            );
            orders.push(tags);
        }
        orders.dedup();
        assert_eq!(orders.len(), 8, "every seed gives another order");
    }
}

#[test]
fn the_same_seed_gives_the_same_order() {
    let completer = CompleterConfig {
        read_delay: DelayConfig::between(0, 2_000_000),
        interleave: true,
        ..CompleterConfig::default()
    };
    let run = |seed| read_all(&mut fabric(completer.clone(), seed));
    assert_eq!(run(5), run(5));
}

#[test]
fn reads_beyond_the_completers_limit_wait_and_are_answered() {
    let mut fabric = fabric(
        CompleterConfig {
            outstanding_reads: 1,
            read_delay: DelayConfig::constant(1_000_000),
            ..CompleterConfig::default()
        },
        0,
    );
    let completions = read_all(&mut fabric);
    check(&fabric, &completions, 64);
    assert!(fabric.now() > 40 * 1_000_000, "one after the other");
}

#[test]
fn spikes_are_as_frequent_as_configured() {
    let spiky = DelayConfig {
        spike_per_million: 250_000,
        spike_ps: 50_000_000,
        ..DelayConfig::default()
    };
    let mut late = 0;
    for seed in 0..100 {
        let completer = CompleterConfig {
            read_delay: spiky,
            ..CompleterConfig::default()
        };
        let mut fabric = fabric(completer, seed);
        let read = MemRead::of_bytes(NIC, 0, 0, AT, 4).unwrap();
        fabric.submit(0, PORT, Tlp::Read(read)).unwrap();
        while fabric.take_received(PORT).unwrap().is_none() {
            let now = fabric.now() + 1_000_000;
            fabric.advance(now).unwrap();
        }
        late += u32::from(fabric.now() > 50_000_000);
    }
    assert!((12..=40).contains(&late), "{late} of 100");
}
