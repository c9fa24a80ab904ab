//! Each block of the completion side: the rust-hdl simulation against its Verilated Verilog, clock by clock, and the Verilog against the tools.

use hdl_pcie::read::byte_ram::ByteRam;
use hdl_pcie::read::completion_check::CompletionCheck;
use hdl_pcie::read::completion_writer::CompletionWriter;
use hdl_pcie::read::in_order_return::InOrderReturn;
use hdl_pcie::read::records::*;
use hdl_pcie::read::ring_buffer::RingBuffer;
use hdl_testkit::equivalence::{check, check_gated, Random, TestRng};
use rand::Rng;
use rust_hdl::prelude::*;
use stellar_wire::hw::read::CompletionHeader;

/// There are few tags and few values, so that many completions fit an entry.
fn completion(rng: &mut TestRng) -> CompletionHeader {
    let dwords = rng.random_range(0..=8u64);
    let lead = rng.random_range(0..=1u64);
    CompletionHeader {
        tag: rng.random_range(0..4u64).to_bits(),
        byte_count: (4 * rng.random_range(1..=4u64)).to_bits(),
        lower_address: (4 * rng.random_range(0..=1u64) + lead).to_bits(),
        length_dw: dwords.to_bits(),
        status: (rng.random_range(0..=8u64) / 7).to_bits(),
        poisoned: rng.random_ratio(1, 8),
    }
}

fn entry(rng: &mut TestRng) -> TagEntry {
    let bytes = 4 * rng.random_range(1..=4u64);
    TagEntry {
        phase: Bit::random(rng),
        command: Bits::random(rng),
        end: (bytes + 4 * rng.random_range(0..8u64)).to_bits(),
        end_address: (bytes + 4 * rng.random_range(0..=1u64)).to_bits(),
        bytes: bytes.to_bits(),
        deadline: rng.random_range(0..600u64).to_bits(),
    }
}

#[test]
fn completion_check() {
    let mut now = 0u64;
    let mut sweep = 0u64;
    check(
        CompletionCheck::default,
        Some(|u| &mut u.clock),
        move |uut, rng| {
            now += 1;
            uut.now.next = now.to_bits();
            uut.timeout.next = if now > 300 { bits(60) } else { bits(0) };
            uut.some_used.next = rng.random_ratio(9, 10);
            uut.reset.next = rng.random_ratio(1, 300);
            uut.sweeping.next = sweep < 8;
            uut.sweep_tag.next = (sweep % 256).to_bits();
            sweep += 1;
            uut.in_valid.next = rng.random_ratio(2, 3);
            uut.in_header.next = completion(rng);
            uut.in_last.next = rng.random_ratio(3, 4);
            uut.in_error.next = rng.random_ratio(1, 8);
            uut.entry_valid.next = rng.random_ratio(1, 3);
            uut.entry_tag.next = rng.random_range(0..4u64).to_bits();
            uut.entry.next = entry(rng);
        },
        1500,
        5,
    )
    .unwrap();
}

#[test]
fn byte_ram() {
    let drive = |uut: &mut ByteRam<64, 8, 3>, rng: &mut TestRng| {
        // All lanes and no lane are frequent, because gated models treat them separately.
        uut.write_lanes.next = match rng.random_range(0..4) {
            0 => 0xffu64.to_bits(),
            1 => 0u64.to_bits(),
            _ => Bits::random(rng),
        };
        uut.write_address.next = Bits::random(rng);
        uut.write_data.next = Bits::random(rng);
        uut.read_address.next = Bits::random(rng);
    };
    let make = ByteRam::default;
    check(make, Some(|u| &mut u.clock), drive, 400, 6).unwrap();
    check_gated(make, |u| &mut u.clock, drive, 1000, 7).unwrap();
}

#[test]
fn ring_buffer() {
    check(
        RingBuffer::<64, 8, 3>::default,
        Some(|u| &mut u.clock),
        |uut, rng| {
            uut.write_word.next = Bits::random(rng);
            uut.write_data.next = Bits::random(rng);
            uut.write_low.next = Bits::random(rng);
            uut.write_high.next = Bits::random(rng);
            uut.read_word.next = Bits::random(rng);
        },
        400,
        7,
    )
    .unwrap();
}

#[test]
fn completion_writer() {
    check(
        CompletionWriter::<128, 4, 16>::default,
        Some(|u| &mut u.clock),
        |uut, rng| {
            uut.reset.next = rng.random_ratio(1, 100);
            uut.in_valid.next = rng.random_ratio(3, 4);
            uut.in_beat.next = CheckedBeat {
                first: Bit::random(rng),
                last: Bit::random(rng),
                error: rng.random_ratio(1, 8),
                place: rng.random_ratio(3, 4),
                start: Bits::random(rng),
                lead: Bits::random(rng),
                lanes: rng.random_range(0..80u64).to_bits(),
                report: CommandReport {
                    command: Bits::random(rng),
                    finished: Bit::random(rng),
                    failed: Bit::random(rng),
                },
            };
            uut.in_data.next = Bits::random(rng);
        },
        500,
        8,
    )
    .unwrap();
}

#[test]
fn in_order_return() {
    check(
        InOrderReturn::<128, 4, 16>::default,
        Some(|u| &mut u.clock),
        |uut, rng| {
            uut.reset.next = rng.random_ratio(1, 300);
            uut.head.valid.next = rng.random_ratio(3, 4);
            uut.head.record.next = CommandHead {
                place: Bits::random(rng),
                length: rng.random_range(0..=100u64).to_bits(),
                user: Bits::random(rng),
                failed: rng.random_ratio(1, 8),
            };
            uut.read_data.next = Bits::random(rng);
            uut.out.ready.next = Bit::random(rng);
        },
        500,
        9,
    )
    .unwrap();
}
