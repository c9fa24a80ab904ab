//! A Verilated `EntryReader` with random neighbours: entries are those of the reads, in order, and the engine never waits.

use std::collections::VecDeque;

use hdl_pcie::read::entry_reader::{EntryReader, FETCHES};
use hdl_testkit::equivalence::{Random, TestRng};
use hdl_testkit::Dut;
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rust_hdl::prelude::*;
use stellar_wire::host::EventKind;
use stellar_wire::hw::core::DmaSegments;
use stellar_wire::hw::messages::{WqeFetch, WqeFetched};
use stellar_wire::hw::pack::to_words;
use stellar_wire::hw::payload::read_user;
use stellar_wire::hw::read::{FailedRead, ReadBeat, ReadCommand};

/// Chances in percent.
#[derive(Clone, Copy, Debug)]
struct Pace {
    fetch: u8,
    command: u8,
    returns: u8,
    fetched: u8,
    fault: u8,
}

const FULL: Pace = Pace {
    fetch: 100,
    command: 100,
    returns: 100,
    fetched: 100,
    fault: 100,
};

fn command_of(fetch: WqeFetch) -> ReadCommand {
    let bytes = 64 * fetch.lines.index() as u64;
    ReadCommand {
        length: bytes.to_bits(),
        segments: DmaSegments {
            first_length: bytes.to_bits(),
            first_address: fetch.address,
            ..DmaSegments::default()
        },
        user: ((fetch.qp.index() as u64) << read_user::QP
            | (fetch.lines.index() as u64) << read_user::LINES
            | u64::from(fetch.epoch) << read_user::EPOCH)
            .to_bits(),
    }
}

fn dut(width: usize) -> Dut {
    match width {
        512 => Dut::new::<EntryReader<512>>(),
        _ => Dut::new::<EntryReader<1024>>(),
    }
}

/// 512 bits.
fn packed(words: &[u32]) -> Bits<512> {
    (0..512).fold(Bits::default(), |packed, bit| {
        packed.replace_bit(bit, words[bit / 32] >> (bit % 32) & 1 == 1)
    })
}

struct Bench {
    dut: Dut,
    width: usize,
    rng: TestRng,
    fetches: VecDeque<WqeFetch>,
    /// A fetch, and a beat of the engine, stay on offer until they are taken.
    offered: [bool; 2],
    commands: VecDeque<WqeFetch>,
    /// What the engine returns.
    beats: VecDeque<(Vec<u32>, ReadBeat)>,
    expected: VecDeque<WqeFetched>,
    /// Reads that failed, each with the number of entries that are expected behind it.
    faults: VecDeque<(FailedRead, usize)>,
    asked: usize,
    /// Entries that were accepted, and entries that were ever expected.
    given: usize,
    due: usize,
    /// The entries of a read come without a gap: its next one has to be there.
    is_mid_read: bool,
    clock: u64,
}

impl Bench {
    fn new(width: usize, seed: u64) -> Self {
        let mut bench = Self {
            dut: dut(width),
            width,
            rng: TestRng::seed_from_u64(seed),
            fetches: VecDeque::new(),
            offered: [false; 2],
            commands: VecDeque::new(),
            beats: VecDeque::new(),
            expected: VecDeque::new(),
            faults: VecDeque::new(),
            asked: 0,
            given: 0,
            due: 0,
            is_mid_read: false,
            clock: 0,
        };
        bench.dut.set("reset", 1);
        bench.dut.clock();
        bench.dut.set("reset", 0);
        // The credit is available one cycle later.
        bench.dut.clock();
        bench
    }

    fn queue(&mut self, count: usize) {
        for _ in 0..count {
            self.fetches.push_back(WqeFetch {
                address: Bits::random(&mut self.rng),
                qp: Bits::random(&mut self.rng),
                lines: self.rng.random_range(1..=8_u64).to_bits(),
                epoch: self.rng.random(),
            });
        }
    }

    fn chance(&mut self, percent: u8) -> bool {
        self.rng.random_range(0..100) < percent
    }

    fn step(&mut self, pace: Pace) {
        self.offered[0] |= self.chance(pace.fetch) && !self.fetches.is_empty();
        self.offered[1] |= self.chance(pace.returns) && !self.beats.is_empty();
        self.dut.set("fetch_valid", self.offered[0].into());
        if self.offered[0] {
            self.dut.set_words("fetch", &to_words(self.fetches[0]));
        }
        self.dut.set("in_valid", self.offered[1].into());
        if self.offered[1] {
            let (data, beat) = &self.beats[0];
            self.dut.set_words("in_data", data);
            self.dut.set_words("in_beat", &to_words(*beat));
        }
        let command_ready = self.chance(pace.command);
        let fetched_ready = self.chance(pace.fetched);
        self.dut.set("command_ready", command_ready.into());
        let fault_ready = self.chance(pace.fault);
        self.dut.set("fetched_ready", fetched_ready.into());
        self.dut.set("fault_ready", fault_ready.into());
        self.dut.eval();

        if command_ready && self.dut.is("command_valid") {
            let fetch = self.commands.pop_front().expect("a command out of nothing");
            assert_eq!(self.dut.words("command"), to_words(command_of(fetch)));
            self.return_entries(fetch);
        }
        let offers = self.dut.is("fetched_valid");
        assert!(
            offers || !self.is_mid_read,
            "a gap between the entries of a read"
        );
        if fetched_ready && offers {
            let expected = self.expected.pop_front().expect("an entry out of nothing");
            assert_eq!(self.dut.words("fetched"), to_words(expected));
            let due = self.faults.front().map(|(_, before)| *before);
            assert_ne!(due, Some(self.given), "an entry before its report");
            self.is_mid_read = expected.behind.index() > 0;
            self.given += 1;
        }
        if fault_ready && self.dut.is("fault_valid") {
            let (fault, before) = self.faults.pop_front().expect("a report out of nothing");
            assert_eq!(self.dut.words("fault"), to_words(fault));
            assert_eq!(before, self.given, "a report behind its entries");
        }
        if self.offered[0] && self.dut.is("fetch_ready") {
            let fetch = self.fetches.pop_front().expect("a fetch");
            self.commands.push_back(fetch);
            self.asked += 1;
            self.offered[0] = false;
        }
        if self.offered[1] {
            assert!(self.dut.is("in_ready"), "the engine waits");
            self.beats.pop_front();
            self.offered[1] = false;
        }
        self.dut.clock();
        self.clock += 1;
    }

    /// The engine returns the entries of a read, or one beat if it fails.
    fn return_entries(&mut self, fetch: WqeFetch) {
        let error = self.rng.random_bool(0.2);
        let lines = fetch.lines.index();
        if error {
            let fault = FailedRead {
                kind: u64::from(EventKind::EntryReadFailed.code()).to_bits(),
                source: (fetch.qp.index() as u64).to_bits(),
                address: fetch.address,
            };
            self.faults.push_back((fault, self.due));
        }
        self.due += lines;
        let per_beat = self.width / 512;
        let beats = if error { 1 } else { lines.div_ceil(per_beat) };
        for i in 0..beats {
            let data: Vec<u32> = (0..self.width / 32).map(|_| self.rng.random()).collect();
            let halves: Vec<&[u32]> = data.chunks(16).collect();
            let here = if error {
                lines
            } else {
                per_beat.min(lines - i * per_beat)
            };
            for j in 0..here {
                let behind = lines - 1 - (i * per_beat + j);
                self.expected.push_back(WqeFetched {
                    qp: fetch.qp,
                    error,
                    behind: (behind as u64).to_bits(),
                    line: packed(halves[if error { 0 } else { j }]),
                });
            }
            let beat = ReadBeat {
                bytes: 64u64.to_bits(),
                last: i + 1 == beats,
                error,
                user: command_of(fetch).user,
            };
            self.beats.push_back((data, beat));
        }
    }

    fn run(&mut self, pace: Pace) {
        let end = self.clock + 100_000;
        while !(self.fetches.is_empty() && self.commands.is_empty() && self.expected.is_empty()) {
            assert!(self.clock < end, "{} fetches are left", self.fetches.len());
            self.step(pace);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn entries_are_those_of_the_reads(
        seed in any::<u64>(), wide in any::<bool>(), p in prop::array::uniform5(4..=100u8),
    ) {
        let mut bench = Bench::new(if wide { 1024 } else { 512 }, seed);
        bench.queue(40);
        bench.run(Pace { fetch: p[0], command: p[1], returns: p[2], fetched: p[3], fault: p[4] });
        prop_assert!(bench.faults.is_empty());
    }
}

/// The entries are not accepted: no more are requested than there is space for, and all of them arrive.
#[test]
fn no_more_entries_are_requested_than_there_is_space_for() {
    for width in [512, 1024] {
        let mut bench = Bench::new(width, 2);
        bench.queue(2 * FETCHES);
        let deaf = Pace { fetched: 0, ..FULL };
        for _ in 0..500 {
            bench.step(deaf);
        }
        assert_eq!(bench.asked, FETCHES);
        assert!(bench.beats.is_empty(), "the engine keeps entries");
        bench.run(FULL);
        assert_eq!(bench.asked, 2 * FETCHES);
    }
}

#[test]
#[should_panic(expected = "a beat has one or two lines of send queue entries, use 512 or 1024")]
fn a_lane_narrower_than_an_entry() {
    let _ = EntryReader::<256>::default();
}
