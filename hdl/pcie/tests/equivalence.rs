//! Each block's rust-hdl simulation against its Verilated Verilog, cycle by cycle, and the Verilog against the tools.

use hdl_pcie::beat_fetch::BeatFetch;
use hdl_pcie::records::{CommandEnd, PlaceSegment, RequestChunk};
use hdl_pcie::request_splitter::RequestSplitter;
use hdl_pcie::segment_issue::SegmentIssue;
use hdl_pcie::DmaWrite;
use hdl_testkit::equivalence::{check, Random, TestRng};
use rand::Rng;
use rust_hdl::prelude::*;
use stellar_wire::hw::core::{BufferSpan, DmaSegments};
use stellar_wire::hw::dma::{PlaceCommand, WriteTlpHeader};

fn end(rng: &mut TestRng) -> CommandEnd {
    CommandEnd {
        fence: Bit::random(rng),
        free: Bit::random(rng),
        free_beats: Bits::random(rng),
    }
}

fn header(rng: &mut TestRng) -> WriteTlpHeader {
    WriteTlpHeader {
        address_dw: Bits::random(rng),
        at: Bits::random(rng),
        length_dw: rng.random_range(1..=256u64).to_bits(),
        first_be: Bits::random(rng),
        last_be: Bits::random(rng),
        ends: Bit::random(rng),
        flush: Bit::random(rng),
        device: Bits::random(rng),
        of_host_queue: Bit::random(rng),
        message: Bit::random(rng),
        vector: Bits::random(rng),
    }
}

fn command(rng: &mut TestRng) -> PlaceCommand {
    PlaceCommand {
        fence: rng.random_ratio(1, 8),
        place: rng.random_ratio(7, 8),
        span: BufferSpan {
            start: Bits::random(rng),
            beats: Bits::random(rng),
        },
        offset: Bits::random(rng),
        length: rng.random_range(0..=8192u64).to_bits(),
        segments: DmaSegments {
            first_length: rng.random_range(0..=8192u64).to_bits(),
            first_address: Bits::random(rng),
            first_translated: Bit::random(rng),
            second_address: Bits::random(rng),
            second_translated: Bit::random(rng),
            has_third: Bit::random(rng),
            third_address: Bits::random(rng),
            third_translated: Bit::random(rng),
        },
        flush: Bit::random(rng),
        device: Bits::random(rng),
    }
}

#[test]
fn segment_issue() {
    check(
        SegmentIssue::<7>::default,
        Some(|u| &mut u.clock),
        |uut, rng| {
            uut.reset.next = rng.random_ratio(1, 50);
            uut.command.valid.next = Bit::random(rng);
            uut.command.record.next = command(rng);
            uut.segment.ready.next = Bit::random(rng);
        },
        500,
        1,
    )
    .unwrap();
}

#[test]
fn request_splitter() {
    check(
        RequestSplitter::<3>::default,
        Some(|u| &mut u.clock),
        |uut, rng| {
            uut.reset.next = rng.random_ratio(1, 200);
            uut.size_code.next = Bits::random(rng);
            uut.segment.valid.next = Bit::random(rng);
            uut.segment.record.next = PlaceSegment {
                place: Bit::random(rng),
                end: end(rng),
                address: Bits::random(rng),
                translated: Bit::random(rng),
                length: rng.random_range(0..=8192u64).to_bits(),
                position: Bits::random(rng),
                flush: Bit::random(rng),
                device: Bits::random(rng),
            };
            uut.chunk.ready.next = rng.random_ratio(7, 8);
        },
        500,
        2,
    )
    .unwrap();
}

#[test]
fn beat_fetch() {
    // Entries return at random, but never more than were issued.
    let mut out = 0;
    check(
        BeatFetch::<6>::default,
        Some(|u| &mut u.clock),
        move |uut, rng| {
            uut.reset.next = false;
            uut.chunk.valid.next = Bit::random(rng);
            uut.chunk.record.next = RequestChunk {
                place: rng.random_ratio(7, 8),
                end: end(rng),
                header: header(rng),
                position: Bits::random(rng),
            };
            let beat = uut.beat.record.val();
            out += u32::from(uut.beat.valid.val() && (beat.place || beat.end.fence));
            let freed = out > 0 && rng.random_ratio(3, 4);
            out -= u32::from(freed);
            uut.entry_freed.next = freed;
        },
        500,
        3,
    )
    .unwrap();
}

/// The test uses 128 bits, because wide lanes are slow in rust-hdl's simulation, and the width is a parameter of the same text.
#[test]
fn dma_write() {
    check(
        DmaWrite::<128, 4, 16>::default,
        Some(|u| &mut u.clock),
        |uut, rng| {
            uut.reset.next = rng.random_ratio(1, 300);
            uut.mps_code.next = bits(1);
            uut.command.valid.next = Bit::random(rng);
            uut.command.record.next = command(rng);
            uut.read.low.next = Bits::random(rng);
            uut.read.high.next = Bits::random(rng);
            uut.tlp.ready.next = rng.random_ratio(3, 4);
        },
        600,
        6,
    )
    .unwrap();
}
