//! Payload that the sender cannot read.

use sim_nic::{AcsSettings, PcieSettings};
use sim_pcie::iommu::FaultReason;
use sim_pcie::{FaultKind, Refusal, RequestKind};
use stellar_driver::*;

use super::rig::*;
use crate::verbs::hosts::connect;

/// What is expected of a cause.
struct Cause {
    /// Counters of the card. The first one counts in any case.
    counters: &'static [PortCounter],
    /// What the fabric says.
    refusal: Refusal,
    /// What the functions log, if anything.
    logged: Option<Uncorrectable>,
}

/// A queue pair sends from `bad`, of which `base` is the bus address, while both lanes are busy. `inject` makes the memory unreadable, and `heal` readable.
/// Without `heal` it stays unreadable.
fn check(
    mut rig: Rig,
    bad: &MemoryRegion,
    base: u64,
    inject: impl FnOnce(&Rig),
    heal: Option<impl FnOnce(&Rig)>,
    cause: &Cause,
) {
    let victim = rig.mrc();
    let qp = victim[0].number();
    let source = rig.hosts[0].region(4096, false);
    let target = rig.hosts[1].region(1 << 16, true);
    rig.changed_counters(0);
    inject(&rig);
    for port in 0..2 {
        rig.post_bystander(port);
    }
    post(&victim[0], 1, source.slice(0, 4096).unwrap(), &target);
    post(&victim[0], 2, bad.slice(0, 1 << 16).unwrap(), &target);
    post(&victim[0], 3, source.slice(0, 4096).unwrap(), &target);
    victim[0].post_send(&WorkRequest::nop(4)).unwrap();
    for port in 0..2 {
        rig.post_bystander(port);
    }

    let ends = rig.ends_of(0, qp, 4);
    let flushed = WcStatus::WrFlushErr;
    assert_eq!(
        ends,
        [
            (1, WcStatus::Success),
            (2, WcStatus::LocProtErr),
            (3, flushed),
            (4, flushed)
        ]
    );
    assert_eq!(victim[0].state(), QpState::Error);

    // The events name the queue pair and the packets' addresses; then its end.
    let (before, status) = rig.events_until_fatal(0, qp);
    assert_eq!(status, WcStatus::LocProtErr);
    assert!(!before.is_empty(), "no event has an address");
    for event in &before {
        let AsyncEvent::PayloadReadFailed { qp: of, address } = *event else {
            panic!("{event:?}");
        };
        assert_eq!(of, qp);
        let packet = 4096;
        assert!((base..base + BAD_BYTES).contains(&address), "{address:#x}");
        assert!((address - base).is_multiple_of(packet), "{address:#x}");
    }
    for port in 0..2 {
        rig.finish_bystander(port);
    }

    // Nothing else is counted. Frames are left out where payload was not read.
    let changed = rig.changed_counters(0);
    let of = |counter| changed.iter().any(|(_, changed)| *changed == counter);
    assert!(of(cause.counters[0]), "{changed:?}");
    assert!(of(PortCounter::FramesLeftOut), "{changed:?}");
    let follow = [PortCounter::FramesLeftOut, PortCounter::FaultReportsDropped];
    let expected = |counter| cause.counters.contains(counter) || follow.contains(counter);
    assert!(
        changed.iter().all(|(_, counter)| expected(counter)),
        "{changed:?}"
    );
    assert!(rig.refusals(0).contains(&cause.refusal));
    let logged = rig.logged(0);
    for errors in &logged {
        assert!(errors.iter().all(|error| Some(*error) == cause.logged));
    }
    assert_eq!(logged.concat().is_empty(), cause.logged.is_none());

    // The receiver hears nothing. Then all of them go on, from the same memory too.
    assert_eq!(rig.hosts[1].context.poll_event().unwrap(), None);
    let heals = heal.is_some();
    if let Some(heal) = heal {
        heal(&rig);
    }
    for port in 0..2 {
        rig.bystander_goes_on(port);
    }
    if !heals {
        return;
    }
    while rig.hosts[0].context.poll_event().unwrap().is_some() {}
    for qp in &victim {
        qp.modify(Modify::Reset).unwrap();
    }
    connect([&victim[0], &victim[1]], 7);
    post(&victim[0], 5, bad.slice(0, 1 << 16).unwrap(), &target);
    assert_eq!(rig.ends_of(0, qp, 1), [(5, WcStatus::Success)]);
    assert_eq!(rig.hosts[0].context.poll_event().unwrap(), None);
}

/// With a rule of the fabric, for memory of the host.
fn check_rule(fault: FaultKind, cause: &Cause) {
    let rig = Rig::new(&settings());
    let bad = rig.hosts[0].region(1 << 16, false);
    let base = bad.address();
    let rule = rule(fault, RequestKind::Read, base, BAD_BYTES);
    check(
        rig,
        &bad,
        base,
        |rig| rig.add_fault(0, rule),
        Some(|rig: &Rig| rig.pair.clear_pcie_faults(0)),
        cause,
    );
}

#[test]
fn unsupported_request() {
    check_rule(
        FaultKind::UnsupportedRequest,
        &Cause {
            counters: &[PortCounter::PayloadReadsFailed],
            refusal: Refusal::UnsupportedRequest,
            logged: None,
        },
    );
}

#[test]
fn completer_abort() {
    check_rule(
        FaultKind::CompleterAbort,
        &Cause {
            counters: &[PortCounter::PayloadReadsFailed],
            refusal: Refusal::CompleterAbort,
            logged: None,
        },
    );
}

#[test]
fn poisoned_completion() {
    check_rule(
        FaultKind::Poison,
        &Cause {
            counters: &[PortCounter::PayloadReadsFailed],
            refusal: Refusal::Poisoned,
            logged: Some(Uncorrectable::PoisonedTlp),
        },
    );
}

/// One completion of each read is lost. If another one follows, that one has the wrong byte count, and fails the read before its time.
#[test]
fn completion_timeout() {
    check_rule(
        FaultKind::LostCompletion,
        &Cause {
            counters: &[
                PortCounter::PayloadReadTimeouts,
                PortCounter::PayloadReadsFailed,
            ],
            refusal: Refusal::LostCompletion,
            logged: Some(Uncorrectable::CompletionTimeout),
        },
    );
}

/// No ECRC: the PCIe block itself marks what it has damaged.
#[test]
fn corruption_that_the_block_marks() {
    check_rule(
        FaultKind::Corruption,
        &Cause {
            counters: &[PortCounter::PayloadReadsDamaged],
            refusal: Refusal::Corrupted,
            logged: None,
        },
    );
}

#[test]
fn iommu_fault() {
    let rig = Rig::new(&settings());
    let bad = rig.hosts[0].region(1 << 16, false);
    let base = bad.address();
    check(
        rig,
        &bad,
        base,
        |rig| {
            for function in Function::ALL {
                rig.pair.unmap_for(0, function, base, BAD_BYTES);
            }
        },
        Some(|rig: &Rig| {
            for function in Function::ALL {
                rig.pair.map_for(0, function, base, BAD_BYTES);
            }
        }),
        &Cause {
            counters: &[PortCounter::PayloadReadsFailed],
            refusal: Refusal::Iommu(FaultReason::NotPresent),
            logged: None,
        },
    );
}

/// The switch blocks translated addresses, so the GPU cannot be read. Memory of the host can.
#[test]
fn acs_violation() {
    let acs = AcsSettings {
        translation_blocking: true,
        ..AcsSettings::default()
    };
    let rig = Rig::new(&PcieSettings { acs, ..settings() });
    let bad = rig.gpu_region(0);
    check(
        rig,
        &bad,
        GPU,
        |_| {},
        None::<fn(&Rig)>,
        &Cause {
            counters: &[PortCounter::PayloadReadsFailed],
            refusal: Refusal::AcsTranslationBlocking,
            logged: None,
        },
    );
}

/// The PCIe link of endpoint 1 goes down while its lane sends: the queue pair of this lane fails, and lane 0 goes on. What waits for the link does not hold up
/// the fence that removes the memory, and nothing of it is read when the link is there again.
#[test]
fn link_down() {
    let mut rig = Rig::new(&settings());
    let victim = rig.rc(1, false);
    let qp = victim[0].number();
    let source = rig.hosts[0].region(1 << 18, false);
    let target = rig.hosts[1].region(1 << 18, true);
    let base = source.address();
    rig.changed_counters(0);
    post(&victim[0], 1, source.slice(0, 1 << 18).unwrap(), &target);
    victim[0].post_send(&WorkRequest::nop(2)).unwrap();
    rig.post_bystander(0);
    rig.pair.run(1_500);
    rig.pair.set_pcie_link(0, Function::Data, false);
    rig.post_bystander(0);

    let ends = [(1, WcStatus::LocProtErr), (2, WcStatus::WrFlushErr)];
    assert_eq!(rig.ends_of(0, qp, 2), ends);
    let (before, status) = rig.events_until_fatal(0, qp);
    assert_eq!(status, WcStatus::LocProtErr);
    assert!(!before.is_empty(), "no event has an address");
    for event in before {
        let AsyncEvent::PayloadReadFailed { qp: of, address } = event else {
            panic!("{event:?}");
        };
        assert_eq!(of, qp);
        assert!((base..base + (1 << 18)).contains(&address), "{address:#x}");
    }
    rig.finish_bystander(0);
    let changed = rig.changed_counters(0);
    assert!(changed.contains(&(1, PortCounter::PayloadReadTimeouts)));
    assert!(changed.iter().all(|(port, _)| *port == 1), "{changed:?}");
    assert!(rig.refusals(0).contains(&Refusal::LinkDown));
    assert_eq!(rig.logged(0)[0], []);
    for _ in 0..3 {
        rig.bystander_goes_on(0);
    }
    let [sender, _] = victim;
    rig.memory_goes(0, sender, source);
}
