//! Send queue entries that the card cannot read.

use sim_pcie::iommu::FaultReason;
use sim_pcie::{FaultKind, FaultRule, Refusal, RequestKind};
use stellar_driver::*;

use super::rig::*;

/// Bus addresses of buffers are multiples of this, given out in order.
const ALIGN: u64 = 1 << 21;
/// Bytes of an entry, and of the send queue.
const ENTRY: u64 = 64;
const RING: u64 = 8 * ENTRY;

/// What is expected of a cause: the counter, what the fabric says, and what the control function logs, if anything.
type Cause = (PortCounter, Refusal, Option<Uncorrectable>);

/// Entry 1 of a send queue that `endpoint` reads cannot be read, while both lanes are busy. The cause is one fault, or an IOMMU that has lost the mapping of the whole ring.
fn check(endpoint: usize, fault: Option<FaultKind>, (counter, refusal, error): Cause) {
    let mut rig = Rig::new(&settings());
    let target = rig.hosts[1].region(1 << 16, true);
    // Its number says at which endpoint. Those of the other one stay, because their numbers would be given again.
    let mut others = vec![];
    let (ring, victim) = loop {
        let before = rig.hosts[0].context.alloc(4096).unwrap();
        let victim = rig.rc(0, false);
        if victim[0].number() as usize % 2 == endpoint {
            break (before.address() + ALIGN, victim);
        }
        others.push(victim);
    };
    let function = Function::ALL[endpoint];
    let qp = victim[0].number();
    rig.changed_counters(0);
    post(&victim[0], 1, Source::Inline(b"good"), &target);
    assert_eq!(rig.ends_of(0, qp, 1), [(1, WcStatus::Success)]);

    match fault {
        Some(fault) => rig.add_fault(
            0,
            FaultRule {
                count: Some(1),
                ..rule(fault, RequestKind::Read, ring, RING)
            },
        ),
        None => rig.pair.unmap_for(0, function, ring, RING),
    }
    for port in 0..2 {
        rig.post_bystander(port);
    }
    for wr_id in 2..5 {
        post(&victim[0], wr_id, Source::Inline(b"lost"), &target);
    }
    for port in 0..2 {
        rig.post_bystander(port);
    }

    // An entry that was not read has no identifier. The others are flushed in their order; without the mapping none of them can be read.
    let unreadable = (0, WcStatus::LocQpOpErr);
    let flushed = |wr_id| (wr_id, WcStatus::WrFlushErr);
    let others = if fault.is_some() { [3, 4] } else { [0, 0] };
    let ends = [unreadable, flushed(others[0]), flushed(others[1])];
    assert_eq!(rig.ends_of(0, qp, 3), ends);
    assert_eq!(victim[0].state(), QpState::Error);
    let (before, status) = rig.events_until_fatal(0, qp);
    assert_eq!(status, WcStatus::LocQpOpErr);
    let address = ring + ENTRY;
    let first = AsyncEvent::EntryReadFailed { qp, address };
    assert_eq!(before.first(), Some(&first));
    for event in &before {
        assert!(
            matches!(event, AsyncEvent::EntryReadFailed { qp: of, .. } if *of == qp),
            "{event:?}"
        );
    }
    for port in 0..2 {
        rig.finish_bystander(port);
    }
    assert_eq!(rig.changed_counters(0), [(endpoint as u8, counter)]);
    assert!(rig.refusals(0).contains(&refusal));
    let mut logged = [vec![], vec![]];
    logged[endpoint].extend(error);
    assert_eq!(rig.logged(0), logged);
    for port in 0..2 {
        rig.bystander_goes_on(port);
    }
    if fault.is_none() {
        rig.pair.map_for(0, function, ring, RING);
    }
}

#[test]
fn unsupported_request() {
    let refusal = Refusal::UnsupportedRequest;
    for endpoint in 0..2 {
        check(
            endpoint,
            Some(FaultKind::UnsupportedRequest),
            (PortCounter::EntryReadsFailed, refusal, None),
        );
    }
}

#[test]
fn completer_abort() {
    let refusal = Refusal::CompleterAbort;
    check(
        1,
        Some(FaultKind::CompleterAbort),
        (PortCounter::EntryReadsFailed, refusal, None),
    );
}

#[test]
fn poisoned_completion() {
    let error = Some(Uncorrectable::PoisonedTlp);
    check(
        0,
        Some(FaultKind::Poison),
        (PortCounter::EntryReadsFailed, Refusal::Poisoned, error),
    );
}

#[test]
fn completion_timeout() {
    let error = Some(Uncorrectable::CompletionTimeout);
    let refusal = Refusal::LostCompletion;
    check(
        1,
        Some(FaultKind::LostCompletion),
        (PortCounter::EntryReadTimeouts, refusal, error),
    );
}

#[test]
fn corruption_that_the_block_marks() {
    check(
        0,
        Some(FaultKind::Corruption),
        (PortCounter::EntryReadsDamaged, Refusal::Corrupted, None),
    );
}

#[test]
fn iommu_fault() {
    let refusal = Refusal::Iommu(FaultReason::NotPresent);
    check(1, None, (PortCounter::EntryReadsFailed, refusal, None));
}
