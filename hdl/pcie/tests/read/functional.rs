//! Good completions in every legal cut and order.

use hdl_pcie::read::records::ENTRY_TAGS;
use proptest::prelude::*;
use rand::Rng;
use rust_hdl::prelude::*;
use stellar_wire::hw::core::WHOLE_PAGE;
use stellar_wire::hw::read::ReadCommand;
use stellar_wire::mtu::MAX_PAYLOAD;
use stellar_wire::pcie::CompletionStatus::CompleterAbort;

use crate::read::bench::{numbers, space, Bench};
use crate::read::completer::{Cut, Fault};
use crate::read::load::Load;
use crate::read::reference::Segment;

/// Any address; addresses close to or at a 4 KiB boundary are frequent.
pub fn random_segment(bench: &mut Bench, length: usize) -> Segment {
    let rng = bench.random();
    let mut address = rng.random::<u64>() >> 1;
    match rng.random_range(0..4) {
        0 => address &= !0xfff,
        1 => address = (address | 0xfff) - rng.random_range(0..300),
        _ => {}
    }
    Segment {
        address,
        length,
        translated: rng.random(),
    }
}

/// A command of one to three segments, of up to `longest` bytes.
pub fn random_read(bench: &mut Bench, longest: usize) {
    let length = match bench.random().random_range(0..8) {
        0 => longest,
        1 => 1,
        _ => bench.random().random_range(1..=longest),
    };
    let first = match bench.random().random_range(0..3) {
        0 => bench.random().random_range(0..=length),
        _ => length,
    };
    let mut segments = vec![random_segment(bench, first)];
    let rest = length - first;
    if rest > WHOLE_PAGE && bench.random().random() {
        segments.push(random_segment(bench, WHOLE_PAGE));
        segments.push(random_segment(bench, rest - WHOLE_PAGE));
    } else if rest > 0 {
        segments.push(random_segment(bench, rest));
    }
    bench.read(&segments);
}

prop_compose! {
    /// An environment without faults.
    pub fn any_load()(
        seed: u64, mrrs_code in 0u64..8, wide_rcb: bool, steps in 1usize..=8, random: bool,
        command in 1u32..=8, request in 1u32..=8, completion in 1u32..=8, out in 1u32..=8,
        latency in 1u64..300, in_order: bool,
    ) -> Load {
        let rcb = if wide_rcb { 128 } else { 64 };
        Load {
            seed,
            mrrs_code,
            // Without random cuts the largest completion is a power of two.
            cut: Cut { rcb, largest: if random { rcb * steps } else { rcb * steps.next_power_of_two() }, random },
            command,
            request,
            completion,
            out,
            latency: (1, latency),
            in_order,
            ..Load::full_speed()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_comes_back_in_order(load in any_load(), wide: bool, short: bool) {
        let mut bench = Bench::new(wide, load);
        for _ in 0..if short { 150 } else { 50 } {
            random_read(&mut bench, if short { 200 } else { MAX_PAYLOAD });
        }
        bench.finish();
    }

    /// Reset comes at any time, and commands come in the cycle after it.
    #[test]
    fn nothing_from_before_a_reset_comes_after_it(load in any_load(), wide: bool, short: bool, cycles in 0u64..1000) {
        let mut bench = Bench::new(wide, load);
        for _ in 0..4 {
            for _ in 0..40 {
                random_read(&mut bench, if short { 200 } else { MAX_PAYLOAD });
            }
            for _ in 0..cycles {
                bench.step();
            }
            bench.pulse_reset();
        }
        for _ in 0..40 {
            random_read(&mut bench, 200);
        }
        bench.finish();
    }
}

#[test]
fn every_alignment_at_both_ends() {
    for wide in [true, false] {
        let mut load = Load::full_speed();
        load.cut.random = true;
        let mut bench = Bench::new(wide, load);
        for length in [1, 2, 3, 4, 5, 7, 63, 64, 65, 127, 128, 129, 256] {
            for address in [0, 1, 2, 3, 61, 63, 64, 127] {
                let segments = [Segment {
                    address: 0x5_0000 + address,
                    length,
                    translated: length % 2 == 0,
                }];
                bench.read(&segments);
            }
        }
        bench.finish();
    }
}

#[test]
fn a_command_is_split_at_any_byte() {
    for wide in [true, false] {
        let mut bench = Bench::new(wide, Load::full_speed());
        for first in 0..140 {
            let a = Segment {
                address: 0x7000 - first as u64,
                length: first,
                translated: true,
            };
            let b = Segment {
                address: 0x9_0000_0003,
                length: 140 - first,
                translated: false,
            };
            bench.read(&[a, b]);
        }
        bench.finish();
    }
}

#[test]
fn lengths_out_of_range_ask_for_nothing() {
    let mut bench = Bench::new(true, Load::full_speed());
    for round in 0..3u64 {
        for length in [0, 8193, 16_383] {
            let mut command = ReadCommand {
                length: length.to_bits(),
                user: (round << 16 | length).to_bits(),
                ..Default::default()
            };
            command.segments.first_length = length.to_bits();
            bench.read_nothing(command, length != 0);
            random_read(&mut bench, 500);
        }
    }
    let report = bench.finish();
    assert!(report.out_beats.len() >= 18);
}

/// The receiver stalls, and still every completion is accepted, because all requested data has its place. Then all of the payload arrives.
#[test]
fn a_stalled_receiver_does_not_stall_completions() {
    for wide in [true, false] {
        let mut load = Load::full_speed();
        (load.cut.random, load.in_order, load.mrrs_code) = (true, false, 0);
        let mut bench = Bench::new(wide, load);
        let most = space(wide) / 4096;
        for i in 0..3 * most as u64 {
            bench.read(&[Segment {
                address: i * 8192,
                length: 4096,
                translated: false,
            }]);
        }
        bench.set_out_ready(0);
        for _ in 0..10_000 {
            bench.step();
        }
        // A command is accepted while there is space for the longest, which is two of these. Data has moved to the output FIFO of 32 beats: one command at
        // 1,024 bits, none at 512.
        let asked = most - 1 + usize::from(wide);
        assert_eq!(bench.report.commands.len(), asked);
        assert_eq!(bench.report.requests.len(), asked * 32);
        let answered = bench.report.completion_beats.len();
        assert!(answered >= asked * 4096 / if wide { 128 } else { 64 });
        bench.set_out_ready(8);
        bench.finish();
    }
}

/// Commands of all sizes follow each other in the ring. So they begin at every granule, and requests lie across its end.
#[test]
fn commands_of_all_sizes_go_round_the_ring_at_every_place() {
    for wide in [true, false] {
        let mut load = Load::full_speed();
        (load.cut.random, load.in_order, load.mrrs_code) = (true, false, 2);
        let mut bench = Bench::new(wide, load);
        let lengths = [8192, 4097, 1, 4096, 8191, 5000, 128, 129, 2049];
        for i in 0..200 {
            let length = lengths[i % lengths.len()];
            let address = ((i as u64) << 16) + 8 * i as u64 + 1;
            bench.read(&[Segment {
                address,
                length,
                translated: i % 2 == 0,
            }]);
        }
        bench.set_out_ready(0);
        for _ in 0..10_000 {
            bench.step();
        }
        // The ring is as full as the rule allows: there is no space for the longest command.
        let waiting = bench.report.commands.len();
        let granules = |i: usize| lengths[i % lengths.len()].div_ceil(128);
        let used: usize = (0..waiting).map(granules).sum();
        let most = space(wide) / 128;
        // 32 beats, and a command from which some of them are, have left.
        assert!((most - 63..most + 64).contains(&used), "{used} of {most}");
        bench.set_out_ready(8);
        bench.finish();
    }
}

/// Short commands take one granule each, and there are as many in progress as there are numbers, or tags.
#[test]
fn short_commands_wait_for_tags_and_numbers() {
    for wide in [true, false] {
        let mut load = Load::full_speed();
        load.latency = (2000, 2000);
        let mut bench = Bench::new(wide, load);
        for i in 0..400 {
            bench.read(&[Segment {
                address: i << 8,
                length: 64,
                translated: false,
            }]);
        }
        for _ in 0..1500 {
            bench.step();
        }
        assert_eq!(bench.report.requests.len(), ENTRY_TAGS.min(numbers(wide)));
        bench.set_out_ready(0);
        for _ in 0..4000 {
            bench.step();
        }
        // A command keeps its number until it is given to the receiver: 32 beats are in its FIFO, and three commands in the blocks before it.
        let accepted = bench.report.commands.len();
        assert!(accepted >= numbers(wide) + 32, "{accepted}");
        bench.set_out_ready(8);
        bench.finish();
    }
}

/// A mark of a failure stays behind in the table by numbers. A command without bytes, which has no requests, gets the number twice as many commands later.
#[test]
fn an_old_failure_is_not_that_of_a_command_without_bytes() {
    for wide in [true, false] {
        let mut load = Load::full_speed();
        (load.faults, load.one_in) = (vec![Fault::Status(CompleterAbort)], 1);
        let mut bench = Bench::new(wide, load);
        bench.read(&[Segment {
            address: 0,
            length: 100,
            translated: false,
        }]);
        bench.finish();
        for _ in 1..=2 * numbers(wide) {
            bench.read_nothing(ReadCommand::default(), false);
        }
        bench.finish();
    }
}

/// There are more requests than tags: requests wait for tags, and no tag is used twice.
#[test]
fn requests_wait_for_tags() {
    let mut load = Load::full_speed();
    (load.mrrs_code, load.latency, load.in_order) = (0, (1500, 3000), false);
    let mut bench = Bench::new(true, load);
    for i in 0..20u64 {
        bench.read(&[Segment {
            address: i << 12,
            length: 4096,
            translated: true,
        }]);
    }
    for _ in 0..1400 {
        bench.step();
    }
    assert_eq!(bench.report.requests.len(), ENTRY_TAGS);
    bench.finish();
}
