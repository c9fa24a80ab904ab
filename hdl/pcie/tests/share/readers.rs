//! Random clients in front of a Verilated `ReadArbiter`, and a read engine behind it that returns data in order.

use std::collections::VecDeque;

use hdl_pcie::share::ReadArbiter;
use hdl_testkit::equivalence::{Random, TestRng};
use hdl_testkit::Dut;
use rand::{Rng, SeedableRng};
use rust_hdl::prelude::*;
use stellar_wire::hw::core::DmaSegments;
use stellar_wire::hw::messages::{WqeFetch, WqeFetched};
use stellar_wire::hw::pack::to_words;
use stellar_wire::hw::payload::read_user;
use stellar_wire::hw::read::{ReadBeat, ReadCommand};

/// Chances in percent.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    pub fetch: u8,
    pub reads: [u8; 2],
    pub command: u8,
    pub returns: u8,
    pub fetched: u8,
    pub payload: u8,
}

impl Pace {
    pub const FULL: Self = Self {
        fetch: 100,
        reads: [100; 2],
        command: 100,
        returns: 100,
        fetched: 100,
        payload: 100,
    };
}

pub fn read(rng: &mut TestRng) -> ReadCommand {
    ReadCommand {
        length: rng.random_range(1..=8192u64).to_bits(),
        segments: DmaSegments {
            first_length: Bits::random(rng),
            first_address: Bits::random(rng),
            first_translated: rng.random(),
            second_address: Bits::random(rng),
            second_translated: rng.random(),
            has_third: rng.random(),
            third_address: Bits::random(rng),
            third_translated: rng.random(),
        },
        user: Bits::random(rng),
    }
}

/// The command without the bits of `user` that the block sets.
fn own(mut command: ReadCommand) -> ReadCommand {
    let mask = !(1u64 << read_user::PORT | 1 << read_user::FETCH);
    command.user = (command.user.index() as u64 & mask).to_bits();
    command
}

/// The expected command at the engine.
fn marked(command: ReadCommand, port: usize) -> ReadCommand {
    let mut marked = own(command);
    marked.user = (marked.user.index() as u64 | (port as u64) << read_user::PORT).to_bits();
    marked
}

fn of_fetch(fetch: WqeFetch) -> ReadCommand {
    ReadCommand {
        length: (64 * fetch.entries.index() as u64).to_bits(),
        segments: DmaSegments {
            first_length: (64 * fetch.entries.index() as u64).to_bits(),
            first_address: fetch.address,
            ..DmaSegments::default()
        },
        user: ((fetch.qp.index() as u64) << read_user::QP
            | 1 << read_user::FETCH
            | (fetch.entries.index() as u64) << read_user::ENTRIES)
            .to_bits(),
    }
}

fn dut(width: usize) -> Dut {
    match width {
        512 => Dut::new::<ReadArbiter<512>>(),
        _ => Dut::new::<ReadArbiter<1024>>(),
    }
}

/// 512 bits.
fn packed(words: &[u32]) -> Bits<512> {
    (0..512).fold(Bits::default(), |packed, bit| {
        packed.replace_bit(bit, words[bit / 32] >> (bit % 32) & 1 == 1)
    })
}

/// Beats that the engine returns, and their client: 0 and 1 the ports, 2 the entries.
struct Return {
    to: usize,
    data: Vec<u32>,
    beat: ReadBeat,
}

pub struct Bench {
    dut: Dut,
    width: usize,
    rng: TestRng,
    fetches: VecDeque<WqeFetch>,
    reads: [VecDeque<ReadCommand>; 2],
    /// Fetch, reads, return.
    offered: [bool; 4],
    /// The granted clients in order, 0 and 1 the ports, 2 the fetches, with the expected commands.
    granted: VecDeque<(usize, ReadCommand)>,
    returns: VecDeque<Return>,
    /// Entries to output, and whether each is the last of its read.
    entries: VecDeque<(WqeFetched, bool)>,
    /// Entries of the returning read that have arrived.
    given: usize,
    pub grants: Vec<usize>,
    /// Reads that have returned completely, of the ports and of fetches.
    pub returned: [usize; 3],
    pub clock: u64,
}

impl Bench {
    pub fn new(width: usize, seed: u64) -> Self {
        let mut bench = Self {
            dut: dut(width),
            width,
            rng: TestRng::seed_from_u64(seed),
            fetches: VecDeque::new(),
            reads: [VecDeque::new(), VecDeque::new()],
            offered: [false; 4],
            granted: VecDeque::new(),
            returns: VecDeque::new(),
            entries: VecDeque::new(),
            given: 0,
            grants: vec![],
            returned: [0; 3],
            clock: 0,
        };
        bench.dut.set("reset", 1);
        bench.tick();
        bench.dut.set("reset", 0);
        // The credit is available one cycle later.
        bench.tick();
        bench
    }

    pub fn queue(&mut self, count: usize) {
        for _ in 0..count {
            self.fetches.push_back(WqeFetch {
                address: Bits::random(&mut self.rng),
                qp: Bits::random(&mut self.rng),
                entries: self.rng.random_range(1..=8_u64).to_bits(),
            });
            for port in 0..2 {
                let command = read(&mut self.rng);
                self.reads[port].push_back(command);
            }
        }
    }

    fn tick(&mut self) {
        self.dut.clock();
        self.clock += 1;
    }

    fn chance(&mut self, percent: u8) -> bool {
        self.rng.random_range(0..100) < percent
    }

    pub fn step(&mut self, pace: Pace) {
        self.offered[0] |= self.chance(pace.fetch) && !self.fetches.is_empty();
        for port in 0..2 {
            self.offered[1 + port] |= self.chance(pace.reads[port]) && !self.reads[port].is_empty();
        }
        self.offered[3] |= self.chance(pace.returns) && !self.returns.is_empty();
        let offered = self.offered;
        self.dut.set("fetch_valid", offered[0].into());
        if offered[0] {
            let words = to_words(self.fetches[0]);
            self.dut.set_words("fetch", &words);
        }
        for port in 0..2 {
            self.dut
                .set(&format!("read{port}_valid"), offered[1 + port].into());
            if offered[1 + port] {
                let words = to_words(self.reads[port][0]);
                self.dut.set_words(&format!("read{port}"), &words);
            }
        }
        self.dut.set("in_valid", offered[3].into());
        if offered[3] {
            let (data, beat) = (self.returns[0].data.clone(), self.returns[0].beat);
            self.dut.set_words("in_data", &data);
            self.dut.set_words("in_beat", &to_words(beat));
        }
        let command_ready = self.chance(pace.command);
        let fetched_ready = self.chance(pace.fetched);
        let payload_ready = [self.chance(pace.payload), self.chance(pace.payload)];
        self.dut.set("command_ready", command_ready.into());
        self.dut.set("fetched_ready", fetched_ready.into());
        self.dut.set("payload0_ready", payload_ready[0].into());
        self.dut.set("payload1_ready", payload_ready[1].into());
        self.dut.eval();

        if command_ready && self.dut.is("command_valid") {
            self.command_taken();
        }
        if fetched_ready && self.dut.is("fetched_valid") {
            let (expected, last) = self.entries.pop_front().expect("an entry");
            assert_eq!(self.dut.words("fetched"), to_words(expected));
            self.returned[2] += usize::from(last);
        }
        let fetch_moves = offered[0] && self.dut.is("fetch_ready");
        let read_moves: [bool; 2] = std::array::from_fn(|port| {
            offered[1 + port] && self.dut.is(&format!("read{port}_ready"))
        });
        let return_moves = self.return_beat(payload_ready);
        self.tick();

        assert!(
            u32::from(fetch_moves) + u32::from(read_moves[0]) + u32::from(read_moves[1]) <= 1,
            "two at a time"
        );
        if fetch_moves {
            let fetch = self.fetches.pop_front().expect("a fetch");
            self.granted.push_back((2, of_fetch(fetch)));
            self.grants.push(2);
        }
        for (port, moved) in read_moves.into_iter().enumerate() {
            if moved {
                let command = self.reads[port].pop_front().expect("a read");
                self.granted.push_back((port, marked(command, port)));
                self.grants.push(port);
            }
        }
        let moves = [fetch_moves, read_moves[0], read_moves[1], return_moves];
        self.offered = std::array::from_fn(|i| offered[i] && !moves[i]);
    }

    /// The engine will return the requested data: entries in as many beats as they take, payload in one or two.
    fn command_taken(&mut self) {
        let (to, command) = self.granted.pop_front().expect("a command out of nothing");
        assert_eq!(self.dut.words("command"), to_words(command));
        let error = self.rng.random_bool(0.2);
        let entries = command.length.index() / 64;
        let beats = match to {
            _ if error => 1,
            2 => entries.div_ceil(self.width / 512),
            _ => self.rng.random_range(1..=2),
        };
        for i in 0..beats {
            let words = self.width / 32;
            let data: Vec<u32> = (0..words).map(|_| self.rng.random()).collect();
            let beat = ReadBeat {
                bytes: 64u64.to_bits(),
                last: i + 1 == beats,
                error,
                user: command.user,
            };
            self.returns.push_back(Return { to, data, beat });
        }
    }

    fn return_beat(&mut self, payload_ready: [bool; 2]) -> bool {
        if !self.offered[3] {
            return false;
        }
        let Return { to, data, beat } = &self.returns[0];
        let valids = [self.dut.is("payload0_valid"), self.dut.is("payload1_valid")];
        assert_eq!(valids, [*to == 0, *to == 1]);
        let moves = self.dut.is("in_ready");
        if *to == 2 {
            assert!(moves, "an entry waits for something");
            let user = beat.user.index();
            let entries = user >> read_user::ENTRIES & 15;
            let error = beat.error;
            let halves: Vec<&[u32]> = data.chunks(16).collect();
            let here = match error {
                true => entries,
                false => halves.len().min(entries - self.given),
            };
            for i in 0..here {
                let fetched = WqeFetched {
                    qp: ((user as u64 >> read_user::QP) & 0x3ff).to_bits(),
                    error,
                    entry: packed(if error { halves[0] } else { halves[i] }),
                };
                let last = self.given + i + 1 == entries;
                self.entries.push_back((fetched, last));
            }
            self.given = if beat.last { 0 } else { self.given + here };
        } else {
            assert_eq!(moves, payload_ready[*to]);
            assert_eq!(&self.dut.words(&format!("payload{to}_data")), data);
            assert_eq!(
                self.dut.words(&format!("payload{to}_beat")),
                to_words(*beat)
            );
            if moves && beat.last {
                self.returned[*to] += 1;
            }
        }
        if moves {
            self.returns.pop_front();
        }
        moves
    }

    pub fn run(&mut self, pace: Pace, count: usize) {
        let end = self.clock + 100_000;
        while self.returned != [count; 3] {
            assert!(self.clock < end, "stuck at {:?}", self.returned);
            self.step(pace);
        }
    }
}
