//! Flush reads: reports come after the bytes that they are about, however writes and completions are delayed.

mod bench;
mod equivalence;
mod paths;

use bench::{Bench, Command, Load};
use paths::Fault;
use proptest::prelude::*;

fn loads() -> impl Strategy<Value = Load> {
    let delays = (1..8_u32, 1..8_u32);
    (any::<u64>(), 1..80_usize, 1..4_u64, delays, 1..8_u32).prop_map(
        |(seed, commands, devices, (arrives, answers), ready)| Load {
            seed,
            commands,
            devices,
            arrives,
            answers,
            ready,
            fault: None,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// The bench asserts it at each report.
    #[test]
    fn no_report_comes_before_its_bytes(load in loads()) {
        let report = Bench::new(&load).run();
        prop_assert_eq!((report.failed, report.timed_out), (0, 0));
    }

    /// A failed flush read fails commands of its own batch, and none is lost or reported twice.
    #[test]
    fn failed_flush_reads_fail_their_batch(load in loads(), status in 1..5_u64) {
        let load = Load { fault: Some(Fault::Status { one_in: 3, status }), ..load };
        let report = Bench::new(&load).run();
        prop_assert!(report.failed_commands == 0 || report.failed > 0);
        prop_assert_eq!(report.timed_out, 0);
    }

    /// Completions that never come, and some that come when the read is given up, stop nothing.
    #[test]
    fn flush_reads_without_an_answer_fail_in_time(load in loads(), late in any::<bool>()) {
        let load = Load { fault: Some(Fault::Lost { one_in: 5, late }), ..load };
        let report = Bench::new(&load).run();
        prop_assert!(report.failed_commands == 0 || report.timed_out > 0);
    }
}

/// One flush covers all packets before it: their number grows with the time that passes, not with the number of packets.
#[test]
fn flush_reads_are_few() {
    let mut bench = Bench::new(&Load {
        arrives: 1,
        answers: 1,
        ready: 8,
        ..Load::default()
    });
    for _ in 0..2_000 {
        bench.queue(Command::to_host(1, true));
    }
    let report = bench.run();
    assert!(
        report.flush_reads * 4 < report.commands,
        "{report:?}: at most eight batches are on their way at a time"
    );
}

/// No command counts as arrived when no flush read succeeds.
#[test]
fn every_failure_is_reported() {
    let (status, late) = (1, false);
    let lost = Fault::Lost { one_in: 1, late };
    for fault in [Fault::Status { one_in: 1, status }, lost] {
        let mut bench = Bench::new(&Load {
            fault: Some(fault),
            ..Load::default()
        });
        for _ in 0..40 {
            bench.queue(Command::to_host(1, true));
        }
        assert_eq!(bench.run().failed_commands, 40, "{fault:?}");
    }
}

/// What leaves by endpoint 0 to host memory needs no flush, and none is sent.
#[test]
fn commands_that_need_no_flush_cause_no_read() {
    let mut bench = Bench::new(&Load::default());
    for _ in 0..50 {
        bench.queue(Command::to_host(3, false));
    }
    let report = bench.run();
    assert_eq!((report.flush_reads, report.sent), (0, 50));
}

/// A fence is done when the writes before it have arrived, whether they need a flush for themselves or not.
#[test]
fn a_fence_flushes_what_needs_no_flush() {
    let mut bench = Bench::new(&Load::default());
    bench.queue(Command::to_host(2, false));
    bench.queue(Command::Fence);
    bench.queue(Command::Fence);
    let report = bench.run();
    assert_eq!((report.fences, report.flush_reads), (2, 1));
}
