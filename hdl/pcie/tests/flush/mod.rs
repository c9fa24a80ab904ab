//! Flush reads: reports come after the bytes that they are about, however writes and completions are delayed.

mod bench;
mod equivalence;
mod paths;

use bench::{Bench, Command, Load, PATIENCE};
use paths::{Fault, Flaw};
use proptest::prelude::*;

fn loads() -> impl Strategy<Value = Load> {
    let delays = (1..8_u32, 1..8_u32);
    let rates = (1..8_u32, 0..24_u32);
    (any::<u64>(), 1..80_usize, 1..4_u64, delays, rates).prop_map(
        |(seed, commands, devices, (arrives, answers), (ready, queues))| Load {
            seed,
            commands,
            devices,
            arrives,
            answers,
            ready,
            fault: None,
            drains: seed % 2 == 0,
            queues,
        },
    )
}

fn flaws() -> impl Strategy<Value = Flaw> {
    let status = (1..5_u64).prop_map(Flaw::Status);
    prop_oneof![2 => status, 1 => Just(Flaw::Poisoned), 1 => Just(Flaw::Damaged)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// The bench asserts it at each report.
    #[test]
    fn no_report_comes_before_its_bytes(load in loads()) {
        let report = Bench::new(&load).run();
        prop_assert_eq!((report.failed, report.timed_out, report.faults), (0, 0, 0));
    }

    /// A failed flush read fails commands of its own batch, and none is lost or reported twice.
    #[test]
    fn failed_flush_reads_fail_their_batch(load in loads(), flaw in flaws()) {
        let load = Load { fault: Some(Fault::Flawed { one_in: 3, flaw }), ..load };
        let report = Bench::new(&load).run();
        prop_assert!(report.failed_commands == 0 || report.failed > 0);
        prop_assert_eq!(report.timed_out, 0);
        // Repeated reads may fail faster than their reports are taken, of which 16 wait.
        prop_assert_eq!(report.faults + report.dropped, report.failed);
    }

    /// A failed flush read is repeated for each command of its batch, and only those fail that wrote where reads are refused.
    #[test]
    fn a_refused_read_fails_its_own_commands_alone(load in loads()) {
        let (one_in, lost) = (6, false);
        let load = Load { fault: Some(Fault::Command { one_in, lost }), ..load };
        let report = Bench::new(&load).run();
        prop_assert_eq!((report.innocent, report.timed_out), (0, 0));
        prop_assert!(report.failed_commands > 0 || report.failed == 0);
        prop_assert_eq!(report.faults + report.dropped, report.failed);
    }

    /// Completions that never come, and some that come when the read is given up, stop nothing.
    #[test]
    fn flush_reads_without_an_answer_fail_in_time(load in loads(), late in any::<bool>()) {
        let load = Load { fault: Some(Fault::Lost { one_in: 5, late }), ..load };
        let report = Bench::new(&load).run();
        prop_assert!(report.failed_commands == 0 || report.timed_out > 0);
        prop_assert_eq!((report.faults, report.dropped), (report.timed_out, 0));
    }
}

/// Writes and reads leave faster than their paths move, so without a bound they would be on their way for more than three deadlines.
#[test]
fn late_completions_over_slow_paths_are_not_taken_for_others() {
    let (one_in, late) = (5, true);
    let report = Bench::new(&Load {
        seed: 3_370_316_468_237_580_953,
        commands: 49,
        arrives: 1,
        answers: 5,
        ready: 2,
        fault: Some(Fault::Lost { one_in, late }),
        queues: 16,
        ..Load::default()
    })
    .run();
    assert!(report.timed_out > 0);
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

/// Batches of several commands, in which some wrote where reads fail: those fail, and the others do not.
#[test]
fn commands_of_a_failed_batch_are_told_apart() {
    for lost in [false, true] {
        let mut bench = Bench::new(&Load {
            seed: 5,
            arrives: 2,
            answers: 2,
            ready: 8,
            fault: Some(Fault::Command { one_in: 4, lost }),
            ..Load::default()
        });
        for n in 0..600_u64 {
            let targets = vec![n % 2; 1];
            let flush = true;
            bench.queue(Command::Place { targets, flush });
        }
        let report = bench.run();
        assert!(report.flush_reads < report.commands, "batches: {report:?}");
        assert!(report.failed_commands > 3, "{report:?}");
        assert_eq!(report.innocent, 0, "{report:?}");
    }
}

/// A target that answers nothing is not asked for each command: all of them fail in the time of the reads that were on their way.
#[test]
fn a_silent_target_costs_one_timeout() {
    let (one_in, late) = (1, false);
    let mut bench = Bench::new(&Load {
        ready: 8,
        fault: Some(Fault::Lost { one_in, late }),
        ..Load::default()
    });
    for _ in 0..200 {
        bench.queue(Command::to_host(1, true));
    }
    let report = bench.run();
    assert_eq!(report.failed_commands, 200);
    assert!(report.timed_out <= 2 * 8, "{report:?}");
}

/// No command counts as arrived when no flush read succeeds.
#[test]
fn every_failure_is_reported() {
    let flaws = [Flaw::Status(1), Flaw::Poisoned, Flaw::Damaged];
    let flawed = flaws.map(|flaw| Fault::Flawed { one_in: 1, flaw });
    let (one_in, late) = (1, false);
    for fault in flawed.into_iter().chain([Fault::Lost { one_in, late }]) {
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

/// The time counts from the cycle before the read is offered.
#[test]
fn a_flush_read_is_given_up_when_its_time_is_over_and_not_before() {
    let (one_in, late) = (1, false);
    let mut bench = Bench::new(&Load {
        ready: 8,
        fault: Some(Fault::Lost { one_in, late }),
        ..Load::default()
    });
    bench.queue(Command::to_host(1, true));
    let report = bench.run();
    assert_eq!(report.given_up_at, [report.sent_at[0] + PATIENCE - 1]);
}

/// Batch numbers are used again while completions of reads that were given up are still to come.
#[test]
fn late_completions_are_not_taken_for_those_of_a_later_batch() {
    for seed in 0..8 {
        let (one_in, late) = (3, true);
        let mut bench = Bench::new(&Load {
            seed,
            arrives: 2,
            ready: 8,
            fault: Some(Fault::Lost { one_in, late }),
            ..Load::default()
        });
        for _ in 0..6_000 {
            bench.queue(Command::to_host(1, true));
        }
        assert!(bench.run().timed_out > 10);
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

/// A drain flushes what has left, and does not wait for what follows.
#[test]
fn drains_end_while_writes_go_on() {
    let mut bench = Bench::new(&Load {
        arrives: 8,
        answers: 8,
        drains: true,
        ..Load::default()
    });
    for _ in 0..2_000 {
        bench.queue(Command::to_host(1, false));
    }
    let report = bench.run();
    assert!(
        report.drains > 10 && report.flush_reads >= report.drains / 2,
        "{report:?}"
    );
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

#[test]
fn the_tools_take_it() {
    hdl_testkit::tools::assert_clean::<hdl_pcie::flush::WriteFlush1024>();
}
