//! The payload stream has no idle cycles where the line rate permits none.

use crate::read::bench::Bench;
use crate::read::load::Load;
use crate::read::reference::Segment;
use hdl_pcie::read::records::ENTRY_TAGS;

fn stream(wide: bool, load: Load, length: usize, count: u64, offset: u64) -> Bench {
    let mut bench = Bench::new(wide, load);
    for i in 0..count {
        let address = (i * length as u64 + offset) | 0x40_0000_0000;
        bench.read(&[Segment {
            address,
            length,
            translated: true,
        }]);
    }
    bench.finish();
    bench
}

fn span(clocks: &[u64]) -> u64 {
    clocks.last().unwrap() - clocks.first().unwrap() + 1
}

/// Completions of 256 bytes without a pause: a beat enters and a beat leaves per cycle, 256 Gb/s at 1,024 bits and 250 MHz.
#[test]
fn full_beats_pass_at_one_per_clock() {
    for (wide, beats) in [(true, 32), (false, 64)] {
        let mut load = Load::full_speed();
        load.latency = (100, 100);
        let bench = stream(wide, load, 4096, 100, 0);
        let report = &bench.report;
        assert_eq!(report.completion_beats.len(), 100 * beats);
        assert_eq!(
            span(&report.completion_beats),
            100 * beats as u64,
            "completions paused: requests came late"
        );
        assert_eq!(report.out_beats.len(), 100 * beats);
        assert_eq!(
            span(&report.out_beats),
            100 * beats as u64,
            "the payload has gaps"
        );
    }
}

/// Packets of 1,024 bytes at any alignment, a microsecond from request to completion: more than 200 Gb/s of payload.
#[test]
fn unaligned_packets_pass_at_200_gigabits_per_second() {
    let mut load = Load::full_speed();
    load.latency = (250, 250);
    let (length, count) = (1024, 400);
    let bench = stream(true, load, length, count, 37);
    let clocks = span(&bench.report.out_beats);
    let gigabits = (length as u64 * count * 8) as f64 / (clocks as f64 * 4.0);
    println!("{gigabits:.0} Gb/s");
    assert!(gigabits >= 200.0, "{gigabits:.1} Gb/s");
}

/// Packets of 256 bytes at any double word, and 1.5 us from request to completion: more than a port of 200 Gb/s sends of them, 70 million per second.
#[test]
fn small_packets_pass_at_line_rate_when_reads_take_long() {
    let mut load = Load::full_speed();
    load.latency = (375, 375);
    for offset in [0, 36] {
        let bench = stream(true, load.clone(), 256, 1000, offset);
        let clocks = &bench.report.out_beats;
        // The first ones wait for the first read.
        let rate = 250.0 * (1000.0 - 1.0) / span(clocks) as f64;
        println!("{rate:.0} M/s");
        assert!(rate >= 70.0, "{rate:.1} M/s");
    }
}

/// Packets of 64 bytes: one command, one request and one beat per cycle.
#[test]
fn small_commands_pass_at_one_per_clock() {
    let bench = stream(true, Load::full_speed(), 64, 200, 0);
    let report = &bench.report;
    assert_eq!(span(&report.requests), 200);
    let clocks = span(&report.out_beats);
    println!("200 beats in {clocks} clocks");
    assert!(clocks <= 202, "200 beats in {clocks} clocks");
}

/// A large command leaves as one request per cycle.
#[test]
fn requests_leave_at_one_per_clock() {
    let mut load = Load::full_speed();
    (load.mrrs_code, load.latency) = (0, (400, 400));
    let bench = stream(true, load, 4096, 8, 0);
    let requests = &bench.report.requests[..ENTRY_TAGS];
    assert_eq!(span(requests), ENTRY_TAGS as u64);
    let latency = bench.report.requests[0] - bench.report.commands[0];
    println!("{latency} clocks from command to request");
    assert_eq!(latency, 7);
}

/// Measures the cycles from the last completion beat of a command to its first beat of payload.
#[test]
fn a_complete_command_returns_at_once() {
    let bench = stream(true, Load::full_speed(), 1024, 1, 0);
    let report = &bench.report;
    let latency = report.out_beats[0] - report.completion_beats.last().unwrap();
    assert_eq!(latency, 13, "{latency} clocks");
}
