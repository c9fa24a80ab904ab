//! Posted writes of payload. They have no completion: the card learns of a failure only by the flush read behind them.

use sim_nic::{AcsSettings, PcieSettings};
use sim_pcie::iommu::FaultReason;
use sim_pcie::{FaultKind, Refusal, RequestKind};
use stellar_driver::*;

use super::rig::*;

/// A queue pair on lane 1 receives into `target`, which the card's data function cannot write after `inject`, and can again after `restore`. The flush read fails as the writes do.
fn check(
    mut rig: Rig,
    target: &MemoryRegion,
    base: u64,
    inject: impl FnOnce(&Rig),
    restore: impl FnOnce(&Rig),
    refusal: Refusal,
) {
    let victim = rig.rc(1, true);
    let numbers = [0, 1].map(|host: usize| victim[host].number());
    let source = rig.hosts[0].region(1 << 16, false);
    rig.changed_counters(1);
    inject(&rig);
    for port in [0, 1, 1] {
        rig.post_bystander(port);
    }
    post(&victim[0], 1, source.slice(0, 1 << 16).unwrap(), target);
    for port in [0, 1, 1] {
        rig.post_bystander(port);
    }
    rig.flush_reads_fail(numbers[1], base..base + BAD_BYTES, true);
    assert_eq!(rig.ends_of(0, numbers[0], 1), [(1, WcStatus::RetryExcErr)]);
    for port in 0..2 {
        rig.finish_bystander(port);
    }
    assert!(rig.refusals(1).contains(&refusal));
    for port in 0..2 {
        rig.bystander_goes_on(port);
    }
    restore(&rig);
}

#[test]
fn iommu_fault() {
    let rig = Rig::new(&settings());
    let target = rig.hosts[1].region(1 << 16, true);
    let base = target.address();
    check(
        rig,
        &target,
        base,
        |rig| rig.pair.unmap_for(1, Function::Data, base, BAD_BYTES),
        |rig| rig.pair.map_for(1, Function::Data, base, BAD_BYTES),
        Refusal::Iommu(FaultReason::NotPresent),
    );
}

/// The switch blocks translated addresses, so the GPU cannot be written.
#[test]
fn acs_violation() {
    let acs = AcsSettings {
        translation_blocking: true,
        ..AcsSettings::default()
    };
    let rig = Rig::new(&PcieSettings { acs, ..settings() });
    let target = rig.gpu_region(1);
    let refusal = Refusal::AcsTranslationBlocking;
    check(rig, &target, GPU, |_| {}, |_| {}, refusal);
}

/// The PCIe link of endpoint 1 goes down while its lane receives. Lane 0 goes on. What waits for the link does not hold up the fence that removes the memory,
/// and nothing of it is written when the link is there again.
#[test]
fn link_down() {
    let mut rig = Rig::new(&settings());
    let victim = rig.rc(1, true);
    let numbers = [0, 1].map(|host: usize| victim[host].number());
    let source = rig.hosts[0].region(1 << 18, false);
    let target = rig.hosts[1].region(1 << 18, true);
    let base = target.address();
    rig.changed_counters(1);
    rig.post_bystander(0);
    post(&victim[0], 1, source.slice(0, 1 << 18).unwrap(), &target);
    rig.pair.run(1_500);
    rig.pair.set_pcie_link(1, Function::Data, false);
    rig.post_bystander(0);
    rig.flush_reads_fail(numbers[1], base..base + (1 << 18), true);
    assert_eq!(rig.ends_of(0, numbers[0], 1), [(1, WcStatus::RetryExcErr)]);
    rig.finish_bystander(0);
    let changed = rig.changed_counters(1);
    assert!(changed.contains(&(1, PortCounter::FlushReadTimeouts)));
    for _ in 0..3 {
        rig.bystander_goes_on(0);
    }
    assert!(changed.contains(&(1, PortCounter::WritesDropped)));
    let [_, receiver] = victim;
    rig.memory_goes(1, receiver, target);
}

/// What PCIe cannot tell: a write that is lost while the flush read behind it succeeds. The fabric knows, and neither card.
#[test]
fn a_poisoned_write_is_seen_by_the_fabric_alone() {
    let mut rig = Rig::new(&settings());
    let victim = rig.rc(1, true);
    let source = rig.hosts[0].region(1 << 16, false);
    let sent = vec![0xa5; 1 << 16];
    source.memory().unwrap().write(0, &sent).unwrap();
    let target = rig.hosts[1].region(1 << 16, true);
    let base = target.address();
    rig.changed_counters(1);
    rig.add_fault(1, rule(FaultKind::Poison, RequestKind::Write, base, 256));
    post(&victim[0], 1, source.slice(0, 1 << 16).unwrap(), &target);
    let qp = victim[0].number();
    assert_eq!(rig.ends_of(0, qp, 1), [(1, WcStatus::Success)]);
    assert_eq!(rig.changed_counters(1), []);
    assert_eq!(rig.hosts[1].context.poll_event().unwrap(), None);
    assert!(rig.refusals(1).contains(&Refusal::Poisoned));
    let arrived = crate::verbs::hosts::bytes(&target);
    assert!(arrived[..256].iter().all(|byte| *byte == 0));
    assert!(arrived[256..] == sent[256..]);
}
