//! The engine's Verilog compared with the transport reference, with a packet buffer that discards freed beats.

mod bench;

use bench::{Bench, Load};
use hdl_pcie::{DmaWrite1024, DmaWrite512};
use proptest::prelude::*;

fn lane_1024() -> Bench {
    Bench::new::<DmaWrite1024>(128)
}

fn lane_512() -> Bench {
    Bench::new::<DmaWrite512>(64)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_commands_write_exactly_their_payload(
        seed: u64, wide: bool, mps_code in 0u64..4, ready in 1u32..=8, valid in 1u32..=8, short: bool,
    ) {
        let mut bench = if wide { lane_1024() } else { lane_512() };
        bench.run(Load { seed, commands: 40, mps_code, ready, valid, longest: if short { 150 } else { 8192 } });
    }

    /// Nothing of the commands before the reset comes after it.
    #[test]
    fn reset_discards_the_commands_in_progress(
        seed: u64, wide: bool, cycles in 0usize..300, ready in 1u32..=8, short: bool,
    ) {
        let mut bench = if wide { lane_1024() } else { lane_512() };
        let longest = if short { 150 } else { 1024 };
        bench.run_after_reset(Load { seed, commands: 20, mps_code: 0, ready, valid: 8, longest }, cycles);
    }
}

#[test]
fn a_payload_size_code_above_3_counts_as_1024() {
    for mps_code in 4..8 {
        lane_512().run(Load {
            seed: mps_code,
            commands: 10,
            mps_code,
            ready: 8,
            valid: 8,
            longest: 8192,
        });
    }
}

#[test]
fn every_alignment_of_address_and_buffer_at_both_ends() {
    for mut bench in [lane_1024(), lane_512()] {
        for length in [1, 2, 3, 4, 5, 7, 127, 129] {
            for address in 0..4 {
                for offset in 40..44 {
                    bench.place(offset, length, 0x1_0000 - 2 * length as u64 + address, 1);
                }
            }
        }
        bench.finish();
    }
}

/// The contract's rate: 4,096 aligned bytes are 32 beats of 1,024 bits, in 32 cycles, command after command.
#[test]
fn aligned_payloads_leave_at_one_beat_per_clock() {
    for (mut bench, beats) in [(lane_1024(), 32), (lane_512(), 64)] {
        for i in 0..8u64 {
            bench.place(78, 4096, 0x7_0000_0000 + i * 4096, 1);
        }
        let report = bench.finish();
        let clocks = report.last_beat - report.first_beat + 1;
        let latency = report.first_beat - report.first_command.expect("a command was taken");
        println!(
            "{} TLP beats in {clocks} clocks, {latency} clocks from command to first beat",
            report.beats
        );
        assert_eq!(report.beats, 8 * beats);
        assert_eq!(clocks, 8 * beats, "the stream has gaps");
        assert_eq!(latency, DmaWrite1024::LATENCY as u64);
    }
}

/// A payload that fills whole pages but begins and ends inside one: three segments, and a beat per cycle but where a write ends early.
#[test]
fn a_payload_over_three_pages_is_three_runs() {
    for mut bench in [lane_1024(), lane_512()] {
        for first in [1, 3, 4, 100, 2048, 4093, 4095] {
            bench.place_in_pages(78, 8192, first);
            bench.place_in_pages(79, 4096 + first + 1, first);
        }
        bench.finish();
    }
}

/// 64-byte payloads: one command, one TLP, one beat per cycle.
#[test]
fn small_payloads_leave_at_one_command_per_clock() {
    let mut bench = lane_1024();
    for i in 0..200u64 {
        bench.place(78, 64, 0x9_0000_0000 + i * 64, 1);
    }
    let report = bench.finish();
    assert_eq!(report.beats, 200);
    assert_eq!(report.last_beat - report.first_beat + 1, 200);
}
