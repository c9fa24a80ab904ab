//! The admin queue compared with its commands, with reads of random latency and tables that stall.

use std::collections::{BTreeMap, VecDeque};

use hdl_host_if::config_entry::config_select;
use hdl_host_if::table_rows::TABLES;
use hdl_host_if::AdminQueue;
use hdl_testkit::stream::{stall, Source};
use hdl_testkit::Dut;
use proptest::prelude::*;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use stellar_wire::host::admin::{AdminCommand, AdminError, AdminRing, AdminState, PageList};
use stellar_wire::host::registers::TableCommand;
use stellar_wire::hw::config::{ConfigSelect, ConfigWrite};
use stellar_wire::hw::messages::{WqeFetch, WqeFetched};
use stellar_wire::hw::pack::Record;
use stellar_wire::hw::tables::EMTT_INDEX_BITS;

use crate::bench::{generator, reset};
use crate::register_model::FEATURES;

const RING: u64 = 0x7_0000_0000;
const LISTS: u64 = 0x9_0000_0000;
const LINE: u64 = 64;
/// Cycles after which everything is done.
const TIMEOUT_CYCLES: usize = 60_000;

/// log2 of the rows of a table.
fn row_bits(select: u8) -> u8 {
    FEATURES.row_bits(ConfigSelect::ALL[usize::from(select)])
}

/// A row that arrives at the tables.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    select: u64,
    index: u64,
    entry: Vec<u64>,
}

impl Row {
    fn of(words: &[u32]) -> Self {
        let record = Record::<ConfigWrite>::new(words);
        let entry = record.words("entry");
        let word = |pair: &[u32]| u64::from(pair[1]) << 32 | u64::from(pair[0]);
        Self {
            select: record.u64("select"),
            index: record.u64("index"),
            entry: entry.chunks_exact(2).map(word).collect(),
        }
    }
}

/// Host memory, and its data in flight.
struct Memory {
    bytes: BTreeMap<u64, [u8; LINE as usize]>,
    /// Requested lines: earliest cycle, line, and whether the read failed.
    coming: VecDeque<(usize, u64, bool)>,
    /// Number of reads until one fails.
    fails_after: Option<usize>,
    clock: usize,
}

impl Memory {
    fn store(&mut self, address: u64, bytes: &[u8]) {
        for (line, part) in (address / LINE..).zip(bytes.chunks(LINE as usize)) {
            self.bytes.entry(line).or_insert([0; LINE as usize])[..part.len()]
                .copy_from_slice(part);
        }
    }

    fn ask(&mut self, rng: &mut ChaCha8Rng, words: &[u32]) {
        let fetch = Record::<WqeFetch>::new(words);
        let (address, lines) = (fetch.u64("address"), fetch.u64("lines"));
        assert_eq!(address % LINE, 0);
        assert!((1..=8).contains(&lines));
        let fails = self.fails_after == Some(0);
        self.fails_after = self.fails_after.and_then(|left| left.checked_sub(1));
        let due = self.clock + rng.random_range(1..40);
        for line in address / LINE..address / LINE + lines {
            self.coming.push_back((due, line, fails));
        }
    }

    fn next(&mut self) -> Option<WqeFetched> {
        let &(due, line, error) = self.coming.front()?;
        if due > self.clock {
            return None;
        }
        self.coming.pop_front();
        let bytes = self.bytes.get(&line).expect("a line that software wrote");
        let line = (0..512).fold(Bits::default(), |bits, at: usize| {
            bits.replace_bit(at, bytes[at / 8] >> (at % 8) & 1 == 1)
        });
        Some(WqeFetched {
            qp: 0u64.to_bits(),
            error,
            // The queue knows how many lines it has asked for.
            behind: 0u64.to_bits(),
            line: if error { Bits::default() } else { line },
        })
    }
}

struct Host {
    dut: Dut,
    memory: Memory,
    lines: Source<WqeFetched>,
    direct: Source<Row>,
    /// Rows that the registers sent, and rows that the tables accepted from both.
    given: Vec<Row>,
    direct_taken: Vec<Row>,
    own_taken: Vec<Row>,
    /// Cycles until a table has the last row of a list that was accepted.
    pending: u32,
    log2_entries: u8,
}

impl Host {
    fn new(log2_entries: u8) -> Self {
        let mut host = Self {
            dut: reset::<AdminQueue<10, 12, 19>>(),
            memory: Memory {
                bytes: BTreeMap::new(),
                coming: VecDeque::new(),
                fails_after: None,
                clock: 0,
            },
            lines: Source::new("fetched_valid", "fetched_ready"),
            direct: Source::new("direct_valid", "direct_ready"),
            given: Vec::new(),
            direct_taken: Vec::new(),
            own_taken: Vec::new(),
            pending: 0,
            log2_entries,
        };
        host.renew();
        host
    }

    /// Writes a new ring.
    fn renew(&mut self) {
        let base = RING;
        let log2_entries = self.log2_entries;
        self.dut
            .set("admin_ring", AdminRing { base, log2_entries }.to_word());
        self.dut.set("admin_ring_valid", 1);
        self.dut.clock();
        self.dut.set("admin_ring_valid", 0);
    }

    fn produce(&mut self, producer: u16) {
        self.dut.set("admin_producer", producer.into());
        self.dut.set("admin_producer_valid", 1);
        self.dut.clock();
        self.dut.set("admin_producer_valid", 0);
    }

    fn state(&self) -> AdminState {
        let error = self.dut.get("admin_error") << AdminState::ERROR_BIT;
        AdminState::from_word(self.dut.get("admin_done") | error)
    }

    fn clock(&mut self, rng: &mut ChaCha8Rng, with_direct: bool) {
        self.memory.clock += 1;
        if self.lines.is_free() {
            if let Some(line) = self.memory.next() {
                self.lines.offer(line);
            }
        }
        if with_direct && self.direct.is_free() && rng.random_ratio(1, 30) {
            let row = Row {
                select: rng.random_range(0..TABLES),
                index: rng.random_range(0..1 << EMTT_INDEX_BITS),
                entry: (0..16).map(|_| rng.random()).collect(),
            };
            self.given.push(row.clone());
            self.direct.offer(row);
        }
        self.lines
            .drive(&mut self.dut, |dut, line| dut.set_record("fetched", *line));
        self.direct.drive(&mut self.dut, |dut, row| {
            dut.set_record(
                "direct",
                ConfigWrite {
                    select: config_select(row.select.to_bits()),
                    index: row.index.to_bits(),
                    entry: (0..1024).fold(Bits::default(), |bits, at: usize| {
                        bits.replace_bit(at, row.entry[at / 64] >> (at % 64) & 1 == 1)
                    }),
                },
            );
        });
        stall(&mut self.dut, rng, "fetch_ready", 4);
        stall(&mut self.dut, rng, "settings_ready", 3);
        let pending = self.pending > 0;
        self.pending = self.pending.saturating_sub(1);
        self.dut.set("pending", pending.into());
        self.dut.settle();
        let came = self.dut.moves("settings_valid", "settings_ready");
        let row = came.then(|| Row::of(&self.dut.words("settings")));
        let was_direct = self.direct.taken(&self.dut);
        if came && self.dut.is("posted") {
            self.pending = rng.random_range(0..6);
        }
        let done = self.dut.get("admin_done");
        match (row, was_direct) {
            (Some(row), Some(given)) => {
                assert_eq!(row, given);
                self.direct_taken.push(row);
            }
            (Some(row), None) => self.own_taken.push(row),
            (None, None) => {}
            (None, Some(given)) => panic!("{given:?} was taken by nobody"),
        }
        if self.dut.moves("fetch_valid", "fetch_ready") {
            let words = self.dut.words("fetch");
            self.memory.ask(rng, &words);
        }
        self.lines.taken(&self.dut);
        self.dut.clock();
        assert!(
            !pending || self.dut.get("admin_done") == done,
            "a list is done before its last row is there"
        );
    }

    fn run_until(
        &mut self,
        rng: &mut ChaCha8Rng,
        with_direct: bool,
        done: impl Fn(AdminState) -> bool,
    ) {
        for _ in 0..TIMEOUT_CYCLES {
            if done(self.state()) {
                return;
            }
            self.clock(rng, with_direct);
        }
        panic!(
            "not done within {TIMEOUT_CYCLES} clocks: {:?}",
            self.state()
        );
    }
}

/// A command in memory, and the rows that it writes.
fn command(
    rng: &mut ChaCha8Rng,
    memory: &mut Memory,
    list_at: u64,
) -> ([u8; AdminCommand::LEN], Vec<Row>) {
    let padded = |words: &[u64]| {
        (0..16)
            .map(|at| words.get(at).copied().unwrap_or(0))
            .collect()
    };
    if rng.random_ratio(1, 2) {
        let select = rng.random_range(0..TABLES as u8);
        let index = rng.random_range(0..1 << row_bits(select));
        let entry: [u64; AdminCommand::ROW_WORDS] = std::array::from_fn(|_| rng.random());
        let command = TableCommand { select, index };
        let row = Row {
            select: select.into(),
            index: index.into(),
            entry: padded(&entry),
        };
        (AdminCommand::Row { command, entry }.to_bytes(), vec![row])
    } else {
        let count = rng.random_range(1..150u32);
        let last = (1 << FEATURES.log2_translations) - count;
        // One of the lists ends at the end of the table.
        let first = rng
            .random_range(0..=last)
            .max(last * u32::from(rng.random_ratio(1, 8)));
        let list: Vec<u64> = (0..count).map(|_| rng.random()).collect();
        let bytes: Vec<u8> = list.iter().flat_map(|word| word.to_le_bytes()).collect();
        memory.store(list_at, &bytes);
        let pages = PageList {
            first,
            count,
            address: list_at,
        };
        let row = |(index, word): (u32, &u64)| Row {
            select: ConfigSelect::Emtt as u64,
            index: index.into(),
            entry: padded(&[*word]),
        };
        let rows = (first..).zip(&list).map(row).collect();
        (AdminCommand::Pages(pages).to_bytes(), rows)
    }
}

/// Puts commands into the ring from place `from` on; returns the rows of each.
fn fill(rng: &mut ChaCha8Rng, host: &mut Host, from: u16, count: u16) -> Vec<Vec<Row>> {
    let entries = 1u64 << host.log2_entries;
    (0..count)
        .map(|number| {
            let place = u64::from(from.wrapping_add(number)) % entries;
            let (bytes, rows) = command(rng, &mut host.memory, LISTS + place * 0x1_0000);
            host.memory
                .store(RING + place * AdminCommand::LEN as u64, &bytes);
            rows
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn rows_are_written_in_the_order_of_their_commands(seed: u64, log2_entries in 0..5u8, rounds in 1..6u16) {
        let rng = &mut generator(seed);
        let mut host = Host::new(log2_entries);
        let mut expected = Vec::new();
        let mut produced = 0u16;
        for _ in 0..rounds {
            let count = rng.random_range(1..=1u16 << log2_entries);
            expected.extend(fill(rng, &mut host, produced, count).into_iter().flatten());
            produced += count;
            host.produce(produced);
            host.run_until(rng, true, |state| state.done == produced);
            prop_assert_eq!(host.state().error, None);
            prop_assert_eq!(&host.own_taken, &expected, "done, and not all rows taken");
        }
        while !host.direct.is_free() {
            host.clock(rng, false);
        }
        prop_assert_eq!(&host.direct_taken, &host.given);
    }

    #[test]
    fn a_read_that_fails_stops_the_queue_until_it_is_renewed(seed: u64, fails_after in 0..12usize) {
        let rng = &mut generator(seed);
        let mut host = Host::new(3);
        let rows = fill(rng, &mut host, 0, 8);
        host.memory.fails_after = Some(fails_after);
        host.produce(8);
        host.run_until(rng, true, |state| state.done == 8 || state.error.is_some());
        let state = host.state();
        if state.error.is_some() {
            prop_assert_eq!(state.error, Some(AdminError::Read));
            // For the failed command, the rows before the failure are written.
            let whole: Vec<Row> = rows[..usize::from(state.done)].concat();
            let all = rows.concat();
            prop_assert!(host.own_taken.starts_with(&whole));
            prop_assert!(all.starts_with(&host.own_taken));
        }
        // Data in flight is discarded.
        for _ in 0..200 {
            host.clock(rng, false);
        }
        prop_assert!(host.memory.coming.is_empty() && host.lines.is_free());
        host.own_taken.clear();
        host.memory.fails_after = None;
        host.renew();
        let rows = fill(rng, &mut host, 0, 8);
        host.produce(8);
        host.run_until(rng, true, |state| state.done == 8);
        prop_assert_eq!(host.state().error, None);
        prop_assert_eq!(&host.own_taken, &rows.concat());
    }
}

#[test]
fn what_is_no_command_stops_the_queue() {
    let word = |opcode: u8, select: u64| {
        u64::from(opcode) << AdminCommand::OPCODE_BIT | select << TableCommand::SELECT_BIT
    };
    for first in [
        word(0, 0),
        word(3, 0),
        word(AdminCommand::ROW, ConfigSelect::COUNT as u64),
        // An empty list.
        word(AdminCommand::PAGES, 2),
    ] {
        let mut bytes = [0; AdminCommand::LEN];
        bytes[..8].copy_from_slice(&first.to_le_bytes());
        stops_with(&bytes, AdminError::Command);
    }
}

/// The first command, alone, stops the queue with this error, and none of its rows is written. Then the queue is started again, and works.
fn stops_with(bytes: &[u8; AdminCommand::LEN], error: AdminError) {
    let rng = &mut generator(1);
    let mut host = Host::new(2);
    host.memory.store(RING, bytes);
    host.produce(1);
    host.run_until(rng, false, |state| state.error.is_some());
    let stopped = AdminState {
        done: 0,
        error: Some(error),
    };
    for _ in 0..100 {
        host.clock(rng, false);
        assert_eq!(host.state(), stopped, "{:02x?}", &bytes[..24]);
    }
    assert!(host.own_taken.is_empty());
    host.renew();
    let rows = fill(rng, &mut host, 0, 3);
    host.produce(3);
    host.run_until(rng, false, |state| state.done == 3);
    assert_eq!(host.state().error, None);
    assert_eq!(host.own_taken, rows.concat());
}

#[test]
fn rows_that_tables_have_not_stop_the_queue() {
    for select in 0..TABLES as u8 {
        let entry = [!0; AdminCommand::ROW_WORDS];
        for index in [1 << row_bits(select), (1 << EMTT_INDEX_BITS) - 1] {
            let command = TableCommand { select, index };
            let bytes = AdminCommand::Row { command, entry }.to_bytes();
            stops_with(&bytes, AdminError::Row);
        }
    }
}

#[test]
fn a_queue_that_is_off_reads_nothing() {
    let rng = &mut generator(2);
    let mut host = Host::new(2);
    host.dut.set("admin_ring", RING);
    host.dut.set("admin_ring_valid", 1);
    host.dut.clock();
    host.dut.set("admin_ring_valid", 0);
    host.produce(3);
    for _ in 0..200 {
        host.clock(rng, false);
        assert!(!host.dut.is("fetch_valid"));
    }
}
