//! `FetchShare` before a model of the reader: the requester and the admin queue each get the entries of their own reads, in order.

use std::collections::VecDeque;

use hdl_nic::FetchShare;
use hdl_pcie::read::entry_reader::FETCHES;
use hdl_testkit::equivalence::{check, Random, TestRng};
use hdl_testkit::stream::Source;
use hdl_testkit::{tools, Dut};
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rust_hdl::prelude::*;
use stellar_wire::hw::fence::EpochEnd;
use stellar_wire::hw::messages::{WqeFetch, WqeFetched};
use stellar_wire::hw::pack::to_words;
use stellar_wire::hw::read::FailedRead;

/// Reads that the reader has outstanding.
const READS: usize = FETCHES;
/// Entries that each source gets at least.
const LEAST: usize = 100;
/// The requester, and the admin queue.
const SOURCES: [&str; 2] = ["engine", "admin"];

fn fetch(rng: &mut TestRng) -> WqeFetch {
    WqeFetch {
        address: Bits::random(rng),
        qp: Bits::random(rng),
        lines: rng.random_range(1..=8u64).to_bits(),
        epoch: rng.random(),
    }
}

fn fetched(rng: &mut TestRng, behind: u64) -> WqeFetched {
    WqeFetched {
        qp: Bits::random(rng),
        error: rng.random(),
        behind: behind.to_bits(),
        line: Bits::random(rng),
    }
}

#[test]
fn fetch_share_is_its_verilog() {
    // The reader rarely takes a read, so there is a place for each. Entries that have to come of each read:
    let mut reads = VecDeque::new();
    check(
        FetchShare::default,
        Some(|u| &mut u.clock),
        |u, rng: &mut TestRng| {
            if u.fetch.valid.val() & u.fetch.ready.val() {
                reads.push_back(u.fetch.record.val().lines.to_u64());
            }
            if u.fetched.valid.val() & u.fetched.ready.val() {
                reads[0] -= 1;
                reads.pop_front_if(|left| *left == 0);
            }
            if u.reset.val() {
                reads.clear();
            }
            u.reset.next = rng.random_bool(0.02);
            u.engine.valid.next = rng.random_bool(0.5);
            u.engine.record.next = fetch(rng);
            u.admin.valid.next = rng.random_bool(0.5);
            u.admin.record.next = fetch(rng);
            u.fetch.ready.next = rng.random_bool(0.04);
            u.fetched.valid.next = rng.random_bool(0.7);
            let behind = reads.front().map_or(0, |left| left - 1);
            u.fetched.record.next = fetched(rng, behind);
            u.to_engine.ready.next = rng.random_bool(0.6);
            u.to_admin.ready.next = rng.random_bool(0.6);
            u.fault.valid.next = rng.random_bool(0.2);
            u.engine_fault.ready.next = rng.random_bool(0.5);
            u.ended.next = EpochEnd {
                valid: rng.random_bool(0.5),
                epoch: rng.random(),
            };
        },
        600,
        5,
    )
    .unwrap();
    tools::assert_clean::<FetchShare>();
}

/// A read that the reader has accepted.
struct Read {
    of_admin: bool,
    fetch: WqeFetch,
    fails: bool,
    /// Cycle in which it is complete.
    ends: usize,
    given: u64,
    reported: bool,
}

/// What the reader says of a read that failed.
fn failed(read: &Read) -> FailedRead {
    FailedRead {
        address: read.fetch.address,
        ..FailedRead::default()
    }
}

struct Bench {
    dut: Dut,
    sources: [Source<WqeFetch>; 2],
    reads: VecDeque<Read>,
    ended: usize,
    /// What has to come for each source.
    lines: [VecDeque<WqeFetched>; 2],
    faults: VecDeque<FailedRead>,
    /// Lines that came.
    came: [usize; 2],
    faulted: usize,
    clock: usize,
}

impl Bench {
    fn new() -> Self {
        let mut dut = Dut::new::<FetchShare>();
        dut.reset(1);
        Self {
            dut,
            sources: [
                Source::new("engine_valid", "engine_ready"),
                Source::new("admin_valid", "admin_ready"),
            ],
            reads: VecDeque::new(),
            ended: 0,
            lines: Default::default(),
            faults: VecDeque::new(),
            came: [0; 2],
            faulted: 0,
            clock: 0,
        }
    }

    /// One cycle, in which a free source asks with the chance `asks`, and accepts with `takes`.
    fn clock(&mut self, rng: &mut TestRng, asks: [f64; 2], takes: [f64; 2]) {
        let dut = &mut self.dut;
        for (n, source) in self.sources.iter_mut().enumerate() {
            if source.is_free() && rng.random_bool(asks[n]) {
                source.offer(fetch(rng));
            }
            source.drive(dut, |dut, fetch| dut.set_record(SOURCES[n], *fetch));
            dut.set(
                ["to_engine_ready", "to_admin_ready"][n],
                rng.random_bool(takes[n]).into(),
            );
        }
        dut.set(
            "fetch_ready",
            (self.reads.len() < READS && rng.random_bool(0.8)).into(),
        );
        dut.set("engine_fault_ready", rng.random_bool(0.5).into());

        // complete
        let next = self.reads.get(self.ended);
        let ending = next.filter(|read| read.ends <= self.clock && rng.random_bool(0.7));
        let end = ending.map_or(EpochEnd::default(), |read| EpochEnd {
            valid: true,
            epoch: read.fetch.epoch,
        });
        dut.set_record("ended", end);

        // give
        let front = self.reads.front().filter(|_| self.ended > 0);
        let reports = front.filter(|read| read.fails && !read.reported);
        dut.set("fault_valid", reports.is_some().into());
        if let Some(read) = reports {
            dut.set_record("fault", failed(read));
        }
        let gives = front.filter(|read| (!read.fails || read.reported) && rng.random_bool(0.9));
        let line = gives.map(|read| WqeFetched {
            qp: read.fetch.qp,
            error: read.fails,
            behind: (read.fetch.lines.to_u64() - read.given - 1).to_bits(),
            line: Bits::random(rng),
        });
        dut.set("fetched_valid", line.is_some().into());
        if let Some(line) = line {
            dut.set_record("fetched", line);
        }

        // look
        dut.settle();
        let asked = dut.moves("fetch_valid", "fetch_ready");
        let asking = dut.words("fetch");
        let taken: Vec<Option<WqeFetch>> = self
            .sources
            .iter_mut()
            .map(|source| source.taken(dut))
            .collect();
        assert_eq!(asked, taken.iter().any(Option::is_some));
        if line.is_some() && dut.is("fetched_ready") {
            let read = self.reads.front_mut().expect("a read");
            read.given += 1;
            self.lines[usize::from(read.of_admin)].extend(line);
        }
        if dut.moves("fault_valid", "fault_ready") {
            let read = self.reads.front_mut().expect("a read");
            read.reported = true;
            if !read.of_admin {
                self.faults.push_back(failed(read));
            }
        }
        if dut.moves("engine_fault_valid", "engine_fault_ready") {
            let came = dut.words("engine_fault");
            let due = self.faults.pop_front().map(to_words);
            assert_eq!(Some(came), due);
            self.faulted += 1;
        }
        for (n, name) in ["to_engine", "to_admin"].into_iter().enumerate() {
            if dut.moves(&format!("{name}_valid"), &format!("{name}_ready")) {
                let due = self.lines[n].pop_front().map(to_words);
                assert_eq!(Some(dut.words(name)), due, "{name}");
                self.came[n] += 1;
            }
        }
        if end.valid {
            let read = &self.reads[self.ended];
            let due = EpochEnd {
                valid: !read.of_admin,
                ..end
            };
            let told = dut.words("engine_ended");
            assert_eq!(told, to_words(due), "clock {}", self.clock);
            self.ended += 1;
        } else {
            let none = to_words(EpochEnd::default());
            assert_eq!(dut.words("engine_ended"), none, "clock {}", self.clock);
        }
        if self
            .reads
            .front()
            .is_some_and(|read| read.given == read.fetch.lines.to_u64())
        {
            self.reads.pop_front();
            self.ended -= 1;
        }
        for (n, fetch) in taken.into_iter().enumerate() {
            let Some(fetch) = fetch else { continue };
            assert_eq!(asking, to_words(fetch));
            self.reads.push_back(Read {
                of_admin: n == 1,
                fetch,
                fails: rng.random_bool(0.15),
                ends: self.clock + rng.random_range(4..40),
                given: 0,
                reported: false,
            });
        }
        dut.clock();
        self.clock += 1;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn each_source_gets_the_entries_of_its_reads(
        seed in any::<u64>(),
        asks in prop::array::uniform2(0.02..0.6),
        takes in prop::array::uniform2(0.1..1.0),
    ) {
        let mut rng = TestRng::seed_from_u64(seed);
        let mut bench = Bench::new();
        // A read of the admin queue comes after those of the requester that are under way, so with a slow requester it takes long.
        while bench.clock < 4_000 || bench.came.iter().any(|&came| came <= LEAST) {
            prop_assert!(bench.clock < 40_000, "{:?}", bench.came);
            bench.clock(&mut rng, asks, takes);
        }
        for _ in 0..2_000 {
            bench.clock(&mut rng, [0.0; 2], [1.0; 2]);
        }
        prop_assert!(bench.reads.is_empty() && bench.lines.iter().all(VecDeque::is_empty));
        prop_assert!(bench.sources.iter().all(Source::is_free), "a read was never accepted");
        prop_assert!(bench.faulted > 0 && bench.faults.is_empty());
    }
}

/// An admin queue that takes nothing, as while it waits for a table, does not hold up the requester.
#[test]
fn the_requester_reads_on_while_the_admin_queue_waits() {
    let mut rng = TestRng::seed_from_u64(1);
    let mut bench = Bench::new();
    for _ in 0..500 {
        bench.clock(&mut rng, [0.3; 2], [1.0, 0.0]);
    }
    let before = bench.came;
    for _ in 0..2_000 {
        bench.clock(&mut rng, [0.3; 2], [1.0, 0.0]);
    }
    assert_eq!(bench.came[1], 0, "it takes nothing");
    assert!(
        bench.came[0] > before[0] + 500,
        "{before:?} {:?}",
        bench.came
    );
    for _ in 0..2_000 {
        bench.clock(&mut rng, [0.3; 2], [1.0; 2]);
    }
    assert!(bench.came[1] > 100, "{:?}", bench.came);
}
