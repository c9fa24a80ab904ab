//! Each block of the request side, and the whole: the rust-hdl simulation against its Verilated Verilog, clock by clock, and the Verilog
//! against the tools.

use std::collections::VecDeque;

use hdl_pcie::read::read_issue::ReadIssue;
use hdl_pcie::read::read_scoreboard::ReadScoreboard;
use hdl_pcie::read::records::*;
use hdl_pcie::read::tag_pool::TagPool;
use hdl_pcie::read::{DmaRead, DmaRead1024, DmaRead512, EntryReader};
use hdl_pcie::records::{CommandEnd, RequestChunk};
use hdl_pcie::request_splitter::RequestSplitter;
use hdl_testkit::equivalence::{check, Random, TestRng};
use rand::Rng;
use rust_hdl::prelude::*;
use stellar_wire::hw::core::DmaSegments;
use stellar_wire::hw::dma::WriteTlpHeader;
use stellar_wire::hw::messages::WqeFetch;
use stellar_wire::hw::read::{CompletionHeader, ReadBeat, ReadCommand};

fn command(rng: &mut TestRng, longest: u64) -> ReadCommand {
    ReadCommand {
        length: rng.random_range(0..=longest).to_bits(),
        segments: DmaSegments {
            first_length: rng.random_range(0..=longest).to_bits(),
            first_address: Bits::random(rng),
            first_translated: Bit::random(rng),
            second_address: Bits::random(rng),
            second_translated: Bit::random(rng),
            has_third: Bit::random(rng),
            third_address: Bits::random(rng),
            third_translated: Bit::random(rng),
        },
        user: Bits::random(rng),
    }
}

#[test]
fn request_splitter_of_reads() {
    check(
        RequestSplitter::<5>::default,
        Some(|u| &mut u.clock),
        |uut, rng| {
            uut.reset.next = rng.random_ratio(1, 200);
            uut.size_code.next = Bits::random(rng);
            uut.segment.valid.next = Bit::random(rng);
            uut.segment.record.next.place = true;
            uut.segment.record.next.address = Bits::random(rng);
            uut.segment.record.next.length = rng.random_range(0..=8192u64).to_bits();
            uut.segment.record.next.position = Bits::random(rng);
            uut.chunk.ready.next = rng.random_ratio(7, 8);
        },
        400,
        1,
    )
    .unwrap();
}

#[test]
fn tag_pool() {
    // Only tags that were taken return.
    let mut taken: Vec<TagUse> = vec![];
    check(
        || TagPool::new(16, 250),
        Some(|u: &mut TagPool| &mut u.clock),
        move |uut: &mut TagPool, rng| {
            uut.reset.next = false;
            uut.free.ready.next = !uut.sweeping.val() && Bit::random(rng);
            let back = !uut.sweeping.val() && !taken.is_empty() && rng.random_ratio(1, 3);
            uut.return_valid.next = back;
            if back {
                let which = rng.random_range(0..taken.len());
                uut.returned.next = taken.swap_remove(which);
            }
            if uut.free.ready.next && uut.free.valid.val() {
                taken.push(uut.free.record.val());
            }
        },
        900,
        2,
    )
    .unwrap();
}

/// Legal requests and reports for four commands.
#[derive(Default)]
struct Commands {
    /// Cycles since power-up. The first ones clear the tables, and no command is accepted.
    clock: usize,
    next: usize,
    /// Commands in progress that have not been closed.
    open: [bool; 4],
    pending: [u32; 4],
    /// Granules of the commands that have returned, oldest first.
    returned: VecDeque<u64>,
}

#[test]
fn read_scoreboard() {
    let mut commands = Commands::default();
    check(
        ReadScoreboard::<2, 8>::default,
        Some(|u| &mut u.clock),
        move |uut, rng| {
            uut.reset.next = false;
            uut.sweeping.next = commands.clock < 4;
            uut.sweep_tag.next = (commands.clock as u64 % 256).to_bits();
            let number = rng.random_range(0..4usize);
            let done = rng.random_range(0..4usize);
            let asks =
                commands.open[number] && commands.pending[number] < 70 && rng.random_ratio(1, 3);
            let closes = commands.open[number] && rng.random_ratio(1, 3);
            let finished = commands.pending[done] > 0 && rng.random_ratio(1, 2);
            uut.request.next = CommandRequest {
                command: (number as u64).to_bits(),
                asks,
                closes,
            };
            uut.report.next = CommandReport {
                command: (done as u64).to_bits(),
                finished,
                failed: rng.random_ratio(1, 8),
            };
            commands.open[number] &= !closes;
            commands.pending[number] += u32::from(asks);
            commands.pending[done] -= u32::from(finished);
            // A command is offered where `ready` shows whether there is room.
            let shown = uut.place.ready.val() && commands.clock > 4;
            uut.command.valid.next = shown && Bit::random(rng);
            uut.command.record.next = command(rng, 9000);
            uut.place.ready.next = rng.random_ratio(3, 4);
            if uut.command.valid.next && uut.command.ready.val() && uut.place.ready.next {
                commands.open[commands.next] = true;
                commands.next = (commands.next + 1) % 4;
            }
            commands.clock += 1;
            uut.head.ready.next = Bit::random(rng);
            let freed = Bit::random(rng).then(|| commands.returned.pop_front());
            uut.freed.next = freed.flatten().unwrap_or(0).to_bits();
            if uut.head.valid.val() && uut.head.ready.next {
                let length = uut.head.record.val().length.to_u64();
                commands.returned.push_back(length.div_ceil(128));
            }
        },
        600,
        3,
    )
    .unwrap();
}

#[test]
fn read_issue() {
    check(
        ReadIssue::default,
        Some(|u| &mut u.clock),
        |uut, rng| {
            uut.reset.next = rng.random_ratio(1, 100);
            uut.now.next = Bits::random(rng);
            uut.timeout.next = Bits::random(rng);
            uut.chunk.valid.next = Bit::random(rng);
            uut.chunk.record.next = RequestChunk {
                place: rng.random_ratio(7, 8),
                end: CommandEnd {
                    free: Bit::random(rng),
                    free_beats: Bits::random(rng),
                    ..Default::default()
                },
                header: WriteTlpHeader {
                    address_dw: Bits::random(rng),
                    at: Bits::random(rng),
                    length_dw: rng.random_range(1..=1024u64).to_bits(),
                    first_be: Bits::random(rng),
                    last_be: Bits::random(rng),
                    ..WriteTlpHeader::default()
                },
                position: Bits::random(rng),
            };
            uut.tag.valid.next = rng.random_ratio(3, 4);
            uut.tag.record.next = TagUse {
                tag: Bits::random(rng),
                phase: Bit::random(rng),
            };
            uut.request.ready.next = Bit::random(rng);
        },
        500,
        4,
    )
    .unwrap();
}

/// The test uses 128 bits and 4 commands, because wide lanes are slow in rust-hdl's simulation, and the width is a parameter of the same text.
/// Completions answer the requests, some of them with errors.
#[test]
fn dma_read() {
    let mut asked: Vec<CompletionHeader> = vec![];
    let mut beats = 0;
    check(
        DmaRead::<128, 4, 16, 2, 7, 9>::default,
        Some(|u| &mut u.clock),
        move |uut, rng| {
            uut.reset.next = false;
            uut.mrrs_code.next = bits(0);
            uut.timeout.next = bits(250);
            uut.command.valid.next = rng.random_ratio(1, 4);
            uut.command.record.next = command(rng, 300);
            uut.request.ready.next = rng.random_ratio(3, 4);
            uut.out.ready.next = rng.random_ratio(3, 4);
            let request = uut.request.record.val();
            if uut.request.valid.val() && uut.request.ready.next {
                let (first, last) = (request.first_be.to_u64(), request.last_be.to_u64());
                let lead = u64::from(first.trailing_zeros());
                let end = if last == 0 { first } else { last };
                let dwords = request.length_dw.to_u64();
                let bytes = 4 * dwords - lead - (u64::from(end.leading_zeros()) - 60);
                asked.push(CompletionHeader {
                    tag: request.tag,
                    byte_count: (bytes + u64::from(rng.random_ratio(1, 20))).to_bits(),
                    lower_address: ((request.address_dw.to_u64() << 2 & 127) | lead).to_bits(),
                    length_dw: dwords.to_bits(),
                    status: (u64::from(rng.random_ratio(1, 20))).to_bits(),
                    poisoned: rng.random_ratio(1, 20),
                });
            }
            let valid = !asked.is_empty() && rng.random_ratio(3, 4);
            uut.completion.valid.next = valid;
            uut.completion.data.next = Bits::random(rng);
            uut.completion.last.next = false;
            uut.completion.error.next = rng.random_ratio(1, 40);
            if valid {
                let header = asked[0];
                uut.completion.record.next = header;
                beats += 1;
                if beats * 4 >= header.length_dw.to_u64() {
                    uut.completion.last.next = true;
                    beats = 0;
                    asked.remove(0);
                }
            }
        },
        1400,
        10,
    )
    .unwrap();
}

#[test]
fn the_tools_take_both_widths() {
    fn take<B: Block>(mut engine: B) {
        engine.connect_all();
        let design = hdl_verilog::emit(&engine).unwrap();
        hdl_testkit::tools::check(&design).unwrap();
    }
    take(DmaRead1024::default());
    take(DmaRead512::default());
}

fn entry_reader<const W: usize>() {
    // The test runs in rounds. In each one, entries are requested up to the available space, which is at least 7, and then returned.
    const ASKING: u32 = 30;
    const ROUND: u32 = 80;
    let mut clock = 0u32;
    let mut owed = 0;
    check(
        EntryReader::<W>::default,
        Some(|u| &mut u.clock),
        move |u, rng| {
            let phase = clock % ROUND;
            let asking = phase < ASKING;
            clock += 1;
            if phase == ASKING {
                owed = 7;
            }
            u.reset.next = false;
            u.fetch.valid.next = asking;
            u.fetch.record.next = WqeFetch {
                address: Bits::random(rng),
                qp: Bits::random(rng),
                lines: rng.random_range(1..=8_u64).to_bits(),
                epoch: rng.random(),
            };
            u.fetched.ready.next = rng.random_bool(0.3) || phase > ROUND - 12;
            u.fault.ready.next = rng.random_bool(0.5);
            u.command.ready.next = asking || rng.random_bool(0.8);
            let returns = owed > 0 && phase < ROUND - 12 && rng.random();
            owed -= u32::from(returns);
            u.in_.valid.next = returns;
            u.in_.data.next = Bits::random(rng);
            u.in_.beat.next = ReadBeat {
                bytes: Bits::random(rng),
                last: rng.random(),
                error: rng.random(),
                user: Bits::random(rng),
            };
        },
        400,
        52,
    )
    .unwrap();
}

#[test]
fn entry_reader_is_its_verilog() {
    entry_reader::<512>();
    entry_reader::<1024>();
}
