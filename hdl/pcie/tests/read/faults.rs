//! Completions that fail, are wrong, come late or not at all: the command fails, and no byte is output.

use hdl_pcie::read::records::ENTRY_TAGS;
use proptest::prelude::*;
use rand::Rng;
use stellar_wire::pcie::CompletionStatus::{CompleterAbort, RequestRetry, UnsupportedRequest};

use crate::read::bench::Bench;
use crate::read::completer::Fault;
use crate::read::functional::{any_load, random_read};
use crate::read::load::Load;
use crate::read::reference::Segment;

const ANSWERED: [Fault; 13] = [
    Fault::Status(UnsupportedRequest),
    Fault::Status(CompleterAbort),
    Fault::Status(RequestRetry),
    Fault::Poisoned,
    Fault::ByteCount,
    Fault::LowerAddress,
    Fault::Lost,
    Fault::Repeated,
    Fault::ExtraDword,
    Fault::NoData,
    Fault::ShortStream,
    Fault::LongStream,
    Fault::Damaged,
];

/// Each of these comes without an error in its own stream, and its tag goes into quarantine.
const MALFORMED: [Fault; 6] = [
    Fault::ByteCount,
    Fault::LowerAddress,
    Fault::Lost,
    Fault::Repeated,
    Fault::ExtraDword,
    Fault::NoData,
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_failed_command_returns_an_error_and_no_bytes(load in any_load(), wide: bool, strays: bool) {
        let load = Load { faults: ANSWERED.to_vec(), one_in: 12, ..load };
        let mut bench = Bench::new(wide, load);
        for _ in 0..60 {
            random_read(&mut bench, 1500);
        }
        for _ in 0..if strays { 1500 } else { 0 } {
            if bench.random().random_ratio(1, 20) {
                bench.send_stray();
            }
            bench.step();
        }
        bench.finish();
    }

    /// The timeout is longer than any answer takes in this test; late answers come between the timeout and the second one.
    #[test]
    fn a_request_without_answer_times_out(seed: u64, wide: bool) {
        let mut load = Load::full_speed();
        load.seed = seed;
        (load.cut.random, load.in_order, load.latency) = (true, false, (1, 100));
        (load.completion, load.out) = (6, 7);
        (load.faults, load.one_in, load.timeout) = (vec![Fault::Late, Fault::Never], 16, 5_000);
        let mut bench = Bench::new(wide, load);
        for _ in 0..80 {
            random_read(&mut bench, 2000);
        }
        bench.finish();
    }

    /// Deadlines fall before, into and behind completions of many beats. A command fails or is correct, and no byte reaches the ring too late. No completion
    /// begins after the second timeout of its request.
    #[test]
    fn deadlines_race_completions(seed: u64, timeout in 20u64..600, completion in 3u32..=8, out in 4u32..=8, mrrs_code in 0u64..=5) {
        let mut load = Load::full_speed();
        (load.seed, load.timeout, load.races, load.mrrs_code) = (seed, timeout, true, mrrs_code);
        (load.cut.largest, load.in_order, load.latency) = (4096, false, (1, 600));
        (load.completion, load.out) = (completion, out);
        let mut bench = Bench::new(false, load);
        for _ in 0..100 {
            random_read(&mut bench, 8192);
        }
        bench.finish();
    }
}

/// `commands` reads of 32 requests each: 128 bytes, which two completions answer. Every request has one of the faults.
fn all_fail(faults: &[Fault], timeout: u64, commands: u64) -> Bench {
    let mut load = Load::full_speed();
    (load.mrrs_code, load.cut.largest) = (0, 64);
    (load.faults, load.timeout) = (faults.to_vec(), timeout);
    let mut bench = Bench::new(true, load);
    for i in 0..commands {
        bench.read(&[Segment {
            address: i * 4096,
            length: 4096,
            translated: true,
        }]);
    }
    bench
}

/// More requests fail than there are tags. The bench refuses a tag that comes back before the second timeout of its request.
#[test]
fn answers_do_not_end_a_quarantine() {
    let mut late = all_fail(&[Fault::Late], 2_000, 20);
    late.finish();
    assert_eq!(late.counted, [2 * 640, 0, 640]);
    let mut malformed = all_fail(&MALFORMED, 2_000, 20);
    malformed.finish();
    assert_eq!(malformed.counted[1..], [640, 0]);
}

/// Without a timeout nothing says that no more completions will come.
#[test]
fn without_a_timeout_only_reset_ends_a_quarantine() {
    let mut bench = all_fail(&MALFORMED, 0, 9);
    for _ in 0..5_000 {
        bench.step();
    }
    assert_eq!(bench.report.requests.len(), ENTRY_TAGS, "no tag is left");
    assert_eq!(bench.counted[1], ENTRY_TAGS as u64);
    reads_again_after_reset(bench);
}

#[test]
fn each_fault_alone() {
    for wide in [true, false] {
        for fault in ANSWERED {
            let mut load = Load::full_speed();
            (load.faults, load.one_in) = (vec![fault], 3);
            let mut bench = Bench::new(wide, load);
            for i in 0..40u64 {
                bench.read(&[Segment {
                    address: i * 4096 + i,
                    length: 900 + 600 * (i as usize % 2),
                    translated: false,
                }]);
            }
            bench.finish();
        }
    }
}

/// A request times out not before its timeout, and at most 256 cycles later if there are no completions.
#[test]
fn a_timeout_is_kept() {
    let mut load = Load::full_speed();
    (load.faults, load.timeout) = (vec![Fault::Never], 1000);
    let mut bench = Bench::new(true, load);
    bench.read(&[Segment {
        address: 64,
        length: 64,
        translated: false,
    }]);
    bench.finish();
    let waited = bench.report.out_beats[0] - bench.report.requests[0];
    println!("{waited} clocks from request to error");
    assert!((1000..1000 + 256 + 20).contains(&waited), "{waited} clocks");
}

/// 288 requests that nobody answers.
fn unanswered(timeout: u64) -> Bench {
    all_fail(&[Fault::Never], timeout, 9)
}

fn reads_again_after_reset(mut bench: Bench) {
    bench.reset();
    bench.load.faults.clear();
    bench.report.requests.clear();
    bench.read(&[Segment {
        address: 0,
        length: 4096,
        translated: false,
    }]);
    bench.finish();
    assert_eq!(bench.report.requests.len(), 32);
}

/// A device that answers nothing any more uses up the tags for two timeouts, and no longer.
#[test]
fn tags_without_an_answer_come_back_after_a_second_timeout() {
    let mut bench = unanswered(2_000);
    let end = bench.clock + 2 * 2_000;
    while bench.clock < end {
        bench.step();
    }
    assert_eq!(bench.report.requests.len(), ENTRY_TAGS, "no tag is left");
    assert_eq!(bench.counted[2], ENTRY_TAGS as u64);
    bench.finish();
    assert_eq!(bench.report.requests.len(), 288);
    assert_eq!(bench.counted[2], 288);
}

#[test]
fn reset_gives_lost_tags_back() {
    let mut bench = unanswered(30_000);
    for _ in 0..3_000 {
        bench.step();
    }
    assert_eq!(bench.report.requests.len(), ENTRY_TAGS, "no tag is left");
    reads_again_after_reset(bench);
}
