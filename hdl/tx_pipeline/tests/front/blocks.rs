//! Every block: its rust-hdl simulation and its Verilog agree, and the Verilog is clean.

use std::collections::VecDeque;

use hdl_testkit::equivalence::{check, Random, TestRng};
use hdl_tx_pipeline::records::{FrameHeader, FrameLayout, Nesting, TxBeat};
use hdl_tx_pipeline::tx_frame_builder::{ANSWER_ADDRESS, REQUEST_ADDRESS};
use hdl_tx_pipeline::{
    ExtensionHeaders, FrameAssembler, FrameLayouts, HeaderBuild, IcrcInsert, IpChecksum,
    PayloadBuffer, TxFrameBuilder,
};
use rand::Rng;
use rust_hdl::prelude::*;
use stellar_wire::Opcode;

use crate::front::packets::{fill, opcodes, Shape, TestPacket};

/// The sequence is short, so that the slow simulation runs many of them.
fn packet(rng: &mut TestRng) -> TestPacket {
    let opcodes = opcodes();
    let shape = Shape {
        opcode: opcodes[rng.random_range(0..opcodes.len())],
        nesting: rng.random_range(0..8),
        timestamped: rng.random(),
        payload_length: rng.random_range(0..200),
    };
    fill(shape, rng)
}

fn nesting(rng: &mut TestRng) -> Nesting {
    Nesting {
        tagged: rng.random(),
        encapsulated: rng.random(),
        version6: rng.random(),
    }
}

#[test]
fn extension_headers_are_their_verilog() {
    check(
        ExtensionHeaders::default,
        Some(|u| &mut u.clock),
        |u, rng| {
            u.in_extensions.next = packet(rng).record.extensions;
            // Opcodes that the lane does not send are included.
            u.in_opcode.next = if rng.random_bool(0.2) {
                Bits::random(rng)
            } else {
                let opcodes = Opcode::ALL;
                u64::from(opcodes[rng.random_range(0..opcodes.len())].code()).to_bits()
            };
        },
        400,
        21,
    )
    .unwrap();
}

fn frame_layouts<const B: usize>() {
    check(
        FrameLayouts::<B>::default,
        Some(|u| &mut u.clock),
        |u, rng| {
            u.in_nesting.next = nesting(rng);
            u.in_payload_length.next = Bits::random(rng);
            u.in_words.next = Bits::random(rng);
        },
        600,
        22,
    )
    .unwrap();
}

#[test]
fn frame_layouts_are_their_verilog() {
    frame_layouts::<6>();
    frame_layouts::<7>();
}

#[test]
fn ip_checksum_is_its_verilog() {
    check(
        IpChecksum::default,
        Some(|u| &mut u.clock),
        |u, rng| {
            u.in_ip.next = packet(rng).record.ip;
            u.in_total_length.next = Bits::random(rng);
        },
        600,
        23,
    )
    .unwrap();
}

#[test]
fn header_build_is_its_verilog() {
    check(
        HeaderBuild::<7>::default,
        Some(|u| &mut u.clock),
        |u, rng| {
            u.reset.next = rng.random_bool(0.02);
            u.in_valid.next = rng.random_bool(0.8);
            u.in_packet.next = packet(rng).record;
        },
        120,
        24,
    )
    .unwrap();
}

#[test]
fn payload_buffer_is_its_verilog() {
    // Complete packets that have not begun: the condition for `start`.
    let mut complete = 0u64;
    check(
        PayloadBuffer::<512, 8, 9>::default,
        Some(|u| &mut u.clock),
        move |u, rng| {
            // Inputs of the previous cycle, and their effect.
            if u.in_valid.val() && u.in_ready.val() && u.in_last.val() {
                complete += 1;
            }
            complete -= u64::from(u.start.val());
            u.reset.next = false;
            u.in_valid.next = rng.random_bool(0.8);
            u.in_data.next = Bits::random(rng);
            u.in_last.next = rng.random_bool(0.3);
            u.in_error.next = rng.random_bool(0.1);
            u.start.next = complete > 0 && rng.random_bool(0.2);
            u.take.next = rng.random_bool(0.5);
        },
        300,
        25,
    )
    .unwrap();
}

fn layout(rng: &mut TestRng, beat: u64) -> FrameLayout {
    let payload_beat = rng.random_range(0..3u64);
    let payload_beats = rng.random_range(0..4u64);
    let end_beat = payload_beat + payload_beats;
    let last_beat = end_beat + rng.random_range(0..2);
    FrameLayout {
        nesting: nesting(rng),
        payload_beat: payload_beat.to_bits(),
        payload_at: rng.random_range(1..beat).to_bits(),
        payload_beats: payload_beats.to_bits(),
        has_payload: payload_beats > 0,
        end_beat: end_beat.to_bits(),
        end_at: rng.random_range(0..beat).to_bits(),
        icrc_beat: end_beat.to_bits(),
        icrc_at: rng.random_range(1..beat).to_bits(),
        last_beat: last_beat.to_bits(),
        last_bytes: rng.random_range(1..=beat).to_bits(),
    }
}

fn frame_assembler<const W: usize, const N: usize, const B: usize>(clocks: u64) {
    check(
        FrameAssembler::<W, N, B>::default,
        Some(|u| &mut u.clock),
        |u, rng| {
            u.reset.next = rng.random_bool(0.01);
            let mut header = || FrameHeader {
                layout: layout(rng, N as u64),
                bytes: Bits::random(rng),
            };
            u.request.record.next = header();
            u.answer.record.next = header();
            u.request.valid.next = rng.random_bool(0.8);
            u.answer.valid.next = rng.random_bool(0.3);
            u.payload_waiting.next = rng.random_bool(0.9);
            u.payload_data.next = Bits::random(rng);
            u.payload_last.next = rng.random();
            u.payload_error.next = rng.random_bool(0.3);
            u.room.next = rng.random_bool(0.9);
        },
        clocks,
        26,
    )
    .unwrap();
}

#[test]
fn join_is_its_verilog() {
    frame_assembler::<512, 64, 6>(200);
    frame_assembler::<1024, 128, 7>(60);
}

fn icrc_insert<const W: usize, const N: usize>(clocks: u64) {
    let mut left = 0;
    let mut first = true;
    check(
        IcrcInsert::<W, N>::default,
        Some(|u| &mut u.clock),
        |u, rng| {
            u.reset.next = rng.random_bool(0.01);
            u.in_valid.next = rng.random_bool(0.9);
            u.in_data.next = Bits::random(rng);
            let icrc = left == 0;
            u.in_beat.next = TxBeat {
                nesting: nesting(rng),
                first,
                second: rng.random(),
                last: rng.random(),
                bytes: Bits::random(rng),
                icrc,
                icrc_at: rng.random_range(1..N as u64).to_bits(),
                icrc_rest: !icrc && !first && rng.random_bool(0.2),
            };
            first = icrc;
            left = if icrc {
                rng.random_range(0..4)
            } else {
                left - 1
            };
        },
        clocks,
        27,
    )
    .unwrap();
}

#[test]
fn icrc_insert_is_its_verilog() {
    icrc_insert::<512, 64>(100);
    icrc_insert::<1024, 128>(40);
}

fn tx_frame_builder<
    const W: usize,
    const N: usize,
    const B: usize,
    const A: usize,
    const C: usize,
>(
    clocks: u64,
) {
    let mut records = VecDeque::new();
    let mut beats = VecDeque::new();
    // Free places for headers of requests, and of acknowledgements.
    let mut places = [1 << REQUEST_ADDRESS, 1 << ANSWER_ADDRESS];
    check(
        TxFrameBuilder::<W, N, B, A, C>::default,
        Some(|u| &mut u.clock),
        move |u, rng| {
            // The signals still have the values of the previous cycle.
            places[0] += usize::from(u.request_freed.val());
            places[1] += usize::from(u.answer_freed.val());
            if u.packet.valid.val() {
                records.pop_front();
            }
            if u.payload_valid.val() && u.payload_ready.val() {
                beats.pop_front();
            }
            if records.is_empty() {
                let next = packet(rng);
                let chunks: Vec<_> = next.payload.chunks(N).collect();
                for (i, bytes) in chunks.iter().enumerate() {
                    let data =
                        bytes
                            .iter()
                            .enumerate()
                            .fold(Bits::<W>::default(), |data, (at, byte)| {
                                (0..8).fold(data, |data, bit| {
                                    data.replace_bit(8 * at + bit, byte >> bit & 1 == 1)
                                })
                            });
                    beats.push_back((data, i + 1 == chunks.len(), false));
                }
                // Some payloads cannot be read.
                if !chunks.is_empty() && rng.random_bool(0.3) {
                    beats.truncate(beats.len() - chunks.len());
                    beats.push_back((Bits::random(rng), true, true));
                }
                let answers = chunks.is_empty() && rng.random_bool(0.7);
                records.push_back((next.record, answers));
            }
            u.reset.next = false;
            let (record, answers) = records[0];
            let place = &mut places[usize::from(answers)];
            let offers = *place > 0 && rng.random_bool(0.7);
            *place -= usize::from(offers);
            u.packet.valid.next = offers;
            u.packet.record.next = record;
            u.packet_answers.next = answers;
            u.payload_valid.next = !beats.is_empty() && rng.random_bool(0.9);
            let idle = (Bits::random(rng), rng.random(), rng.random());
            (
                u.payload_data.next,
                u.payload_last.next,
                u.payload_error.next,
            ) = *beats.front().unwrap_or(&idle);
            u.mac.ready.next = rng.random_bool(0.8);
        },
        clocks,
        28,
    )
    .unwrap();
}

#[test]
fn tx_frame_builder_is_its_verilog() {
    tx_frame_builder::<512, 64, 6, 8, 9>(100);
    tx_frame_builder::<1024, 128, 7, 7, 8>(60);
}
