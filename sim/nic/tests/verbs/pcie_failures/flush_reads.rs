//! Payload that the receiver has written, and of which it cannot learn whether it is in memory.

use sim_nic::PcieSettings;
use sim_pcie::platform::PcieReads;
use sim_pcie::{FaultKind, Refusal, RequestKind};
use stellar_driver::*;

use super::rig::*;

/// Time of a read: long enough that a lane takes more packets than there are batches.
const READ_PS: u64 = 4_000_000;

/// What is expected of a cause: the counter, what the fabric says, and what the data function logs, if anything.
type Cause = (PortCounter, Refusal, Option<Uncorrectable>);

/// The flush reads behind the payload of a queue pair on lane 1 fail. Both lanes are busy meanwhile with other queue pairs, whose bytes arrive. Batches that two
/// queue pairs share are up to the bursts of the sender; `hdl/pcie/tests/flush` makes them.
fn check(fault: FaultKind, (counter, refusal, error): Cause) {
    let reads = PcieReads {
        latency: READ_PS,
        ..PcieReads::default()
    };
    let mut rig = Rig::new(&PcieSettings {
        reads,
        ..settings()
    });
    let victim = rig.rc(1, true);
    let numbers = [0, 1].map(|host: usize| victim[host].number());
    let source = rig.hosts[0].region(1 << 16, false);
    let target = rig.hosts[1].region(1 << 16, true);
    let base = target.address();
    rig.changed_counters(1);
    rig.add_fault(1, rule(fault, RequestKind::Read, base, BAD_BYTES));
    for port in [0, 1, 1] {
        rig.post_bystander(port);
    }
    post(&victim[0], 1, source.slice(0, 1 << 16).unwrap(), &target);
    victim[0].post_send(&WorkRequest::nop(2)).unwrap();
    for port in [0, 1, 1] {
        rig.post_bystander(port);
    }

    // The receiver: address and endpoint, then the queue pair.
    // What the block damages is a beat, in which completions of several flush reads may end.
    let alone = !matches!(fault, FaultKind::Corruption);
    rig.flush_reads_fail(numbers[1], base..base + BAD_BYTES, alone);
    assert_eq!(victim[1].state(), QpState::Error);
    // The sender gets no acknowledgement.
    let lost = [(1, WcStatus::RetryExcErr), (2, WcStatus::WrFlushErr)];
    assert_eq!(rig.ends_of(0, numbers[0], 2), lost);
    let (before, status) = rig.events_until_fatal(0, numbers[0]);
    assert_eq!((before, status), (vec![], WcStatus::RetryExcErr));
    for port in 0..2 {
        rig.finish_bystander(port);
    }

    assert_eq!(rig.changed_counters(1), [(1, counter)]);
    assert!(rig.refusals(1).contains(&refusal));
    let logged = rig.logged(1);
    assert!(logged[0].is_empty());
    assert_eq!(logged[1], error.into_iter().collect::<Vec<_>>());
    rig.pair.clear_pcie_faults(1);
    for port in 0..2 {
        rig.bystander_goes_on(port);
    }
}

#[test]
fn unsupported_request() {
    let refusal = Refusal::UnsupportedRequest;
    check(
        FaultKind::UnsupportedRequest,
        (PortCounter::FlushReadsFailed, refusal, None),
    );
}

#[test]
fn completer_abort() {
    let refusal = Refusal::CompleterAbort;
    check(
        FaultKind::CompleterAbort,
        (PortCounter::FlushReadsFailed, refusal, None),
    );
}

#[test]
fn poisoned_completion() {
    let error = Some(Uncorrectable::PoisonedTlp);
    check(
        FaultKind::Poison,
        (PortCounter::FlushReadsFailed, Refusal::Poisoned, error),
    );
}

#[test]
fn completion_timeout() {
    let error = Some(Uncorrectable::CompletionTimeout);
    check(
        FaultKind::LostCompletion,
        (
            PortCounter::FlushReadTimeouts,
            Refusal::LostCompletion,
            error,
        ),
    );
}

#[test]
fn corruption_that_the_block_marks() {
    check(
        FaultKind::Corruption,
        (PortCounter::FlushReadsFailed, Refusal::Corrupted, None),
    );
}
