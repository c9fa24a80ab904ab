//! Injected faults: what the requester sees, what is reported, and that nothing else changes.

use sim_pcie::iommu::FaultReason;
use sim_pcie::*;

use crate::common::{submit_when_ready, write, PORT};

const NICS: [Bdf; 2] = [Bdf::from_id(0x1700), Bdf::from_id(0x1800)];
const AT: AddressType = AddressType::Untranslated;
const ADDRESS: u64 = 0x3004;

fn fabric(rules: Vec<FaultRule>, seed: u64) -> Fabric {
    let nic = |bdf| NicConfig {
        completion_timeout_ps: 10_000_000,
        ..NicConfig::new(bdf)
    };
    let mut fabric = Fabric::new(FabricConfig {
        switches: vec![SwitchConfig::new(Bdf::from_id(0x1600))],
        nics: NICS.into_iter().map(nic).collect(),
        host_memory: vec![Window {
            base: 0,
            size: 1 << 20,
        }],
        faults: rules,
        seed,
        ..FabricConfig::default()
    })
    .unwrap();
    for nic in NICS {
        fabric.iommu_mut().attach_bypass(nic);
    }
    fabric
}

fn read(port: usize, tag: u16, address: u64, len: usize) -> Tlp {
    Tlp::Read(MemRead::of_bytes(NICS[port], tag, address, AT, len).unwrap())
}

fn completions(fabric: &mut Fabric, port: PortId) -> Vec<Completion> {
    let received = std::iter::from_fn(|| fabric.take_received(port).unwrap());
    let completions = received.map(|received| match received.tlp {
        Tlp::Completion(completion) => completion,
        other => panic!("a NIC got {other:?}"),
    });
    completions.collect()
}

/// The only report, which must be about [`ADDRESS`] and NIC 0.
fn only_report(fabric: &mut Fabric) -> Report {
    let reports = fabric.take_reports();
    assert_eq!(reports.len(), 1, "{reports:?}");
    let report = reports[0];
    assert_eq!(
        (report.requester, report.address, report.at),
        (NICS[0], Some(ADDRESS), Some(AT))
    );
    let counted = fabric.counters().refused(report.refusal);
    assert_eq!((counted.tlps, counted.bytes), (1, report.bytes));
    report
}

#[test]
fn a_failing_read_gets_a_completion_with_its_status() {
    for (fault, refusal, status) in [
        (
            FaultKind::UnsupportedRequest,
            Refusal::UnsupportedRequest,
            CompletionStatus::UnsupportedRequest,
        ),
        (
            FaultKind::CompleterAbort,
            Refusal::CompleterAbort,
            CompletionStatus::CompleterAbort,
        ),
        (
            FaultKind::IommuFault,
            Refusal::Iommu(FaultReason::NotPresent),
            CompletionStatus::UnsupportedRequest,
        ),
    ] {
        let mut fabric = fabric(vec![FaultRule::new(fault)], 0);
        fabric.submit(0, PORT, read(0, 9, ADDRESS, 40)).unwrap();
        fabric.run_until_idle();
        let completions = completions(&mut fabric, PORT);
        assert_eq!(completions.len(), 1);
        let completion = &completions[0];
        assert_eq!((completion.status, completion.tag), (status, 9));
        assert!(completion.data.is_empty());
        let report = only_report(&mut fabric);
        assert_eq!((report.refusal, report.bytes), (refusal, 40));
        assert_eq!(report.kind, Some(RequestKind::Read));
        assert_eq!(report.location, Location::RootComplex);
        let iommu_faults = fabric.iommu_mut().take_faults();
        let expected = fault == FaultKind::IommuFault;
        assert_eq!(iommu_faults.len(), usize::from(expected));
        for raised in iommu_faults {
            assert_eq!((raised.function, raised.address), (NICS[0], ADDRESS));
        }
    }
}

#[test]
fn a_failing_write_is_dropped_and_reported() {
    for fault in [
        FaultKind::UnsupportedRequest,
        FaultKind::CompleterAbort,
        FaultKind::Poison,
        FaultKind::IommuFault,
    ] {
        let mut fabric = fabric(vec![FaultRule::new(fault)], 0);
        let tlp = write(NICS[0], ADDRESS, AT, &[7; 12]);
        fabric.submit(0, PORT, tlp).unwrap();
        fabric.run_until_idle();
        assert_eq!(fabric.host().touched_bytes(), 0, "{fault:?}");
        let report = only_report(&mut fabric);
        assert_eq!((report.bytes, report.kind), (12, Some(RequestKind::Write)));
        assert_eq!(fabric.counters().writes(Route::Host), Traffic::default());
    }
}

/// Nothing in the TLPs says that they are damaged.
#[test]
fn a_damaged_read_is_marked_in_every_completion_and_not_in_its_bytes() {
    let mut fabric = fabric(vec![FaultRule::new(FaultKind::Corruption)], 0);
    fabric.submit(0, PORT, read(0, 0, ADDRESS, 600)).unwrap();
    fabric.run_until_idle();
    let completions = completions(&mut fabric, PORT);
    assert_eq!(completions.len(), 3);
    assert!(completions.iter().all(|completion| completion.damaged));
    let intact = Completion {
        damaged: false,
        ..completions[0].clone()
    };
    let bytes = Tlp::Completion(completions[0].clone()).to_bytes().unwrap();
    assert_eq!(Tlp::from_bytes(&bytes).unwrap(), Tlp::Completion(intact));
    assert_eq!(only_report(&mut fabric).refusal, Refusal::Corrupted);
}

#[test]
fn a_poisoned_read_has_the_ep_bit_in_every_completion() {
    let mut fabric = fabric(vec![FaultRule::new(FaultKind::Poison)], 0);
    fabric.submit(0, PORT, read(0, 0, ADDRESS, 600)).unwrap();
    fabric.run_until_idle();
    let completions = completions(&mut fabric, PORT);
    assert_eq!(completions.len(), 3);
    assert!(completions.iter().all(|completion| completion.poisoned));
    let completion = Tlp::Completion(completions[0].clone());
    let bytes = completion.to_bytes().unwrap();
    assert_eq!(Tlp::from_bytes(&bytes).unwrap(), completion);
    assert_eq!(only_report(&mut fabric).refusal, Refusal::Poisoned);
}

#[test]
fn a_late_completion_holds_up_no_other_read() {
    let late = FaultRule {
        count: Some(1),
        ..FaultRule::new(FaultKind::LateCompletion(5_000_000))
    };
    let mut fabric = fabric(vec![late], 0);
    fabric.submit(0, PORT, read(0, 3, ADDRESS, 600)).unwrap();
    submit_when_ready(&mut fabric, 0, PORT, read(0, 4, ADDRESS, 4));
    fabric.advance(4_900_000).unwrap();
    let in_time = completions(&mut fabric, PORT);
    assert_eq!(in_time.iter().map(|c| c.tag).collect::<Vec<_>>(), [4]);
    fabric.run_until_idle();
    let late = completions(&mut fabric, PORT);
    let data: usize = late.iter().map(|completion| completion.data.len()).sum();
    assert!(data >= 600 && late.iter().all(|completion| completion.tag == 3));
    assert!((5_000_000..7_000_000).contains(&fabric.now()));
    assert_eq!(fabric.take_reports(), []);
}

#[test]
fn a_lost_completion_becomes_a_timeout_at_the_requester() {
    let mut lost_first = 0;
    for seed in 0..20 {
        let mut fabric = fabric(vec![FaultRule::new(FaultKind::LostCompletion)], seed);
        fabric.submit(0, PORT, read(0, 3, ADDRESS, 600)).unwrap();
        fabric.advance(9_999_999).unwrap();
        let completions = completions(&mut fabric, PORT);
        assert_eq!(completions.len(), 2, "one of three is missing");
        lost_first += u32::from(completions[0].byte_count < 600);
        assert_eq!(only_report(&mut fabric).refusal, Refusal::LostCompletion);
        let busy = FabricError::Tag { port: 0, tag: 3 };
        let again = fabric.submit(9_999_999, PORT, read(0, 3, ADDRESS, 4));
        assert_eq!(again, Err(busy), "the read is outstanding");
        fabric.run_until_idle();
        let report = only_report(&mut fabric);
        assert_eq!(report.refusal, Refusal::CompletionTimeout);
        assert_eq!((report.time, report.bytes), (10_000_000, 600));
        assert_eq!(report.location, Location::Device(NICS[0]));
        let now = fabric.now();
        fabric.clear_faults();
        fabric.submit(now, PORT, read(0, 3, ADDRESS, 4)).unwrap();
        fabric.run_until_idle();
        assert_eq!(fabric.take_reports(), []);
    }
    assert!((1..20).contains(&lost_first), "the seed chooses");
}

#[test]
fn a_rule_strikes_what_it_names_and_nothing_else() {
    let rule = FaultRule {
        requester: Some(NICS[1]),
        window: Some(Window {
            base: 0x2000,
            size: 0x1000,
        }),
        only: Some(RequestKind::Write),
        skip: 2,
        count: Some(3),
        ..FaultRule::new(FaultKind::UnsupportedRequest)
    };
    let mut fabric = fabric(vec![rule], 0);
    let mut now = 0;
    let mut tag = 0;
    for _ in 0..7 {
        for (port, requester) in NICS.into_iter().enumerate() {
            for address in [0x1ffc, 0x2000, 0x2ffc, 0x3000] {
                let tlp = write(requester, address, AT, &[1; 4]);
                now = submit_when_ready(&mut fabric, now, PortId(port), tlp);
                let tlp = read(port, tag, address, 4);
                now = submit_when_ready(&mut fabric, now, PortId(port), tlp);
                tag += 1;
            }
        }
    }
    fabric.run_until_idle();
    let struck: Vec<_> = fabric
        .take_reports()
        .iter()
        .map(|report| (report.requester, report.address))
        .collect();
    let at = |address| (NICS[1], Some(address));
    assert_eq!(struck, [at(0x2000), at(0x2ffc), at(0x2000)]);
    assert_eq!(fabric.counters().writes(Route::Host).tlps, 7 * 8 - 3);
    assert_eq!(fabric.counters().reads(Route::Host).tlps, 7 * 8);
}

#[test]
fn a_rate_is_about_what_it_says_and_repeats_with_its_seed() {
    let run = |seed| {
        let rule = FaultRule {
            per_million: 200_000,
            ..FaultRule::new(FaultKind::UnsupportedRequest)
        };
        let mut fabric = fabric(vec![rule], seed);
        let mut now = 0;
        for n in 0..1000 {
            let tlp = write(NICS[0], n * 64, AT, &[1; 4]);
            now = submit_when_ready(&mut fabric, now, PORT, tlp);
        }
        fabric.run_until_idle();
        let reports = fabric.take_reports();
        reports
            .iter()
            .map(|report| report.address)
            .collect::<Vec<_>>()
    };
    let struck = run(1);
    assert!((150..=250).contains(&struck.len()), "{}", struck.len());
    assert_eq!(struck, run(1));
    assert_ne!(struck, run(2));
}

#[test]
fn faults_can_be_added_while_traffic_runs() {
    let mut fabric = fabric(Vec::new(), 0);
    fabric
        .submit(0, PORT, write(NICS[0], ADDRESS, AT, &[1; 4]))
        .unwrap();
    let now = fabric.run_until_idle();
    fabric
        .add_fault(FaultRule::new(FaultKind::CompleterAbort))
        .unwrap();
    fabric
        .submit(now, PORT, write(NICS[0], ADDRESS, AT, &[2; 4]))
        .unwrap();
    fabric.run_until_idle();
    assert_eq!(only_report(&mut fabric).refusal, Refusal::CompleterAbort);
    assert_eq!(fabric.host().read(ADDRESS, 4).unwrap(), [1; 4]);
    let refused = fabric.add_fault(FaultRule {
        per_million: 1_000_001,
        ..FaultRule::new(FaultKind::Poison)
    });
    assert_eq!(refused, Err(ConfigError::FaultRate(1_000_001)));
}
