//! Counts by path against the rule of `PathCount`.

use std::collections::BTreeMap;

use hdl_nic::path_accesses::QpPath;
use hdl_nic::path_counters::{PathCounters, READ_LATENCY};
use hdl_testkit::equivalence::check;
use hdl_testkit::Dut;
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use stellar_wire::host::{PathCount, PathEvent};

/// Four queue pairs.
type Counters = PathCounters<2, 2, 1, 8, 5>;
/// Eight queue pairs, of which two count.
type SharedCounters = PathCounters<3, 1, 2, 7, 4>;

type Place = (u64, u64);

fn record((qp, index): Place) -> QpPath {
    QpPath {
        qp: qp.to_bits(),
        index: index.to_bits(),
    }
}

fn add(sum: &mut PathCount, value: PathCount) {
    sum.sent += value.sent;
    sum.marked += value.marked;
    sum.lost += value.lost;
}

/// The block, and what it has to have counted once everything that waits is counted. Events of one path and kind commute, those of several kinds do as long as none is full.
struct Bench {
    dut: Dut,
    model: BTreeMap<Place, PathCount>,
}

impl Bench {
    fn new() -> Self {
        let mut dut = Dut::new::<Counters>();
        dut.reset(1);
        Self {
            dut,
            model: BTreeMap::new(),
        }
    }

    fn set(&mut self, event: PathEvent, place: Option<Place>) {
        let port = match event {
            PathEvent::Sent => "sent",
            PathEvent::Marked => "marked",
            PathEvent::Lost => "lost",
        };
        self.dut
            .set(&format!("{port}_valid"), place.is_some().into());
        if let Some(place) = place {
            self.dut.set_record(port, record(place));
            self.model.entry(place).or_default().count(event);
        }
    }

    fn idle(&mut self, cycles: usize) {
        for event in [PathEvent::Sent, PathEvent::Marked, PathEvent::Lost] {
            self.set(event, None);
        }
        (0..cycles).for_each(|_| self.dut.clock());
    }

    /// Passes a cycle. A read that is done adds to what was taken.
    fn step(&mut self, read: &mut Option<Place>, taken: &mut BTreeMap<Place, PathCount>) {
        self.dut.settle();
        let done = self.dut.is("read_done");
        if done {
            let value = PathCount::from_word(self.dut.get("value"));
            let place = read.take().expect("a read");
            add(taken.entry(place).or_default(), value);
        }
        self.dut.clock();
        if done {
            self.dut.set("read_valid", 0);
        }
    }

    /// Reads a path while nothing is counted.
    fn read(&mut self, place: Place) -> PathCount {
        self.dut.set_record("read_path", record(place));
        self.dut.set("read_valid", 1);
        for cycle in 0..=READ_LATENCY {
            self.dut.settle();
            assert_eq!(self.dut.is("read_done"), cycle == READ_LATENCY);
            if cycle < READ_LATENCY {
                self.dut.clock();
            }
        }
        let value = self.dut.get("value");
        self.dut.clock();
        self.dut.set("read_valid", 0);
        PathCount::from_word(value)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn every_event_is_counted_on_its_path(seed: u64, spread in 1..=4u64, bursts in 1..=32usize) {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let mut bench = Bench::new();
        // Few paths, so that accesses of one row meet at all distances; some are backups.
        let any = |rng: &mut ChaCha8Rng| {
            let index = rng.random_range(0..2 * spread);
            let backup = if rng.random_ratio(1, 4) { 128 } else { 0 };
            (rng.random_range(0..spread), index | backup)
        };
        let mut read: Option<Place> = None;
        let mut taken: BTreeMap<Place, PathCount> = BTreeMap::new();
        for _ in 0..60 {
            let burst = rng.random_range(1..=bursts);
            let mut events = 0;
            for cycle in 0..burst + 16 {
                let sends = cycle < burst && rng.random_ratio(7, 8);
                let place = any(rng);
                bench.set(PathEvent::Sent, sends.then_some(place));
                for event in [PathEvent::Marked, PathEvent::Lost] {
                    let comes = events < 12 && rng.random_ratio(1, 8);
                    events += u32::from(comes);
                    let place = any(rng);
                    bench.set(event, comes.then_some(place));
                }
                // One path is read and cleared while the others, and itself, count on.
                if read.is_none() && rng.random_ratio(1, 8) {
                    let place = any(rng);
                    bench.dut.set_record("read_path", record(place));
                    bench.dut.set("read_valid", 1);
                    read = Some(place);
                }
                bench.step(&mut read, &mut taken);
            }
        }
        for _ in 0..40 {
            bench.idle(0);
            bench.step(&mut read, &mut taken);
        }
        prop_assert_eq!(read, None);
        for (place, expected) in bench.model.clone() {
            let all = taken.entry(place).or_default();
            add(all, bench.read(place));
            prop_assert_eq!(*all, expected, "{:?}", place);
            prop_assert_eq!(bench.read(place), PathCount::default());
        }
    }
}

#[test]
fn counts_stop_together_stay_over_a_reset_and_are_cleared_by_a_read() {
    let mut bench = Bench::new();
    let (full, beside) = ((3, 143), (3, 142));
    bench.set(PathEvent::Marked, Some(full));
    bench.set(PathEvent::Lost, Some(beside));
    bench.dut.clock();
    bench.idle(8);
    for _ in 0..PathCount::MOST + 5 {
        bench.set(PathEvent::Sent, Some(full));
        bench.dut.clock();
    }
    bench.set(PathEvent::Sent, None);
    bench.set(PathEvent::Lost, Some(full));
    bench.dut.clock();
    bench.idle(8);
    bench.dut.reset(1);
    let expected = PathCount {
        sent: PathCount::MOST,
        marked: 1,
        lost: 0,
    };
    assert_eq!(bench.model[&full], expected);
    assert_eq!(bench.read(full), expected);
    bench.set(PathEvent::Lost, Some(full));
    bench.dut.clock();
    bench.idle(8);
    assert_eq!(bench.read(full).lost, 1);
    assert_eq!(bench.read(beside).lost, 1);
}

/// Sets of counts that queue pairs share.
#[derive(Default)]
struct SharedModel {
    /// By set; that of the lowest number at first.
    owners: [u64; 2],
    counts: BTreeMap<Place, PathCount>,
}

impl SharedModel {
    fn new() -> Self {
        Self {
            owners: [0, 1],
            ..Self::default()
        }
    }

    fn send(&mut self, (qp, index): Place) {
        if self.owners[qp as usize % 2] == qp {
            let counts = self.counts.entry((qp % 2, index)).or_default();
            counts.count(PathEvent::Sent);
        }
    }

    /// The counts, and whether they are another queue pair's.
    fn read(&mut self, (qp, index): Place) -> (PathCount, bool) {
        let owner = std::mem::replace(&mut self.owners[qp as usize % 2], qp);
        let counts = self.counts.remove(&(qp % 2, index));
        (counts.unwrap_or_default(), owner != qp)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]
    /// Packets are counted in the order in which they are sent, so block and model agree on every read.
    #[test]
    fn a_set_counts_for_the_queue_pair_that_was_read_last(seed: u64, paths in 1..4u64) {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let mut dut = Dut::new::<SharedCounters>();
        dut.reset(1);
        let mut model = SharedModel::new();
        let any = |rng: &mut ChaCha8Rng| {
            let backup = if rng.random() { 128 } else { 0 };
            (rng.random_range(0..8), rng.random_range(0..paths) | backup)
        };
        // The read that waits; the one that was taken, with what it has to give, and the cycles until then.
        let mut asked: Option<Place> = None;
        let mut taken: Option<(usize, (PathCount, bool))> = None;
        let mut claims = 0;
        for _ in 0..1500 {
            let sent = rng.random_ratio(2, 3).then(|| any(rng));
            dut.set("sent_valid", sent.is_some().into());
            if let Some(place) = sent {
                dut.set_record("sent", record(place));
                model.send(place);
            }
            if asked.is_none() && rng.random_ratio(1, 12) {
                let place = any(rng);
                dut.set_record("read_path", record(place));
                asked = Some(place);
            }
            dut.set("read_valid", asked.is_some().into());
            if let (None, Some(place), None) = (sent, asked, taken) {
                taken = Some((READ_LATENCY, model.read(place)));
            }
            dut.settle();
            let due = taken.filter(|&(left, _)| left == 0);
            prop_assert_eq!(dut.is("read_done"), due.is_some());
            if let Some((_, expected)) = due {
                let seen = (PathCount::from_word(dut.get("value")), dut.is("of_another"));
                prop_assert_eq!(seen, expected);
                claims += u32::from(expected.1);
                (asked, taken) = (None, None);
            }
            taken = taken.map(|(left, expected)| (left - 1, expected));
            dut.clock();
        }
        prop_assert!(claims > 10, "{claims} sets changed their owner");
    }
}

#[test]
fn what_waits_is_not_counted_for_the_next_owner() {
    let mut dut = Dut::new::<SharedCounters>();
    dut.reset(1);
    let (first, second) = ((1, 3), (5, 3));
    for (port, place) in [("marked", first), ("lost", second)] {
        dut.set(&format!("{port}_valid"), 1);
        dut.set_record(port, record(place));
    }
    dut.clock();
    dut.set("marked_valid", 0);
    dut.set("lost_valid", 0);
    let mut read = |place| {
        dut.set_record("read_path", record(place));
        dut.set("read_valid", 1);
        dut.settle();
        while !dut.is("read_done") {
            dut.clock();
            dut.settle();
        }
        let seen = (PathCount::from_word(dut.get("value")), dut.is("of_another"));
        dut.clock();
        dut.set("read_valid", 0);
        dut.clock();
        seen
    };
    let marked = PathCount {
        marked: 1,
        ..PathCount::default()
    };
    assert_eq!(read(second), (marked, true));
    assert_eq!(read(second), (PathCount::default(), false));
    assert_eq!(read(first), (PathCount::default(), true));
}

/// Compares a block with its Verilog, with random inputs.
fn compare<const Q: usize, const S: usize, const T: usize, const A: usize, const B: usize>() {
    check(
        PathCounters::<Q, S, T, A, B>::default,
        Some(|u| &mut u.clock),
        |u, rng| {
            let mut places = std::array::from_fn::<_, 4, _>(|_| {
                let (qp, index) = (rng.random_range(0..1u64 << Q), rng.random_range(0..4u64));
                record((qp, index | u64::from(rng.random_ratio(1, 4)) << 7))
            })
            .into_iter();
            let mut place = || places.next().expect("four");
            u.reset.next = rng.random_ratio(1, 200);
            u.sent.valid.next = rng.random_ratio(1, 2);
            u.sent.record.next = place();
            u.marked.valid.next = rng.random_ratio(1, 10);
            u.marked.record.next = place();
            u.lost.valid.next = rng.random_ratio(1, 10);
            u.lost.record.next = place();
            u.read_valid.next = rng.random();
            u.read_path.next = place();
        },
        600,
        5,
    )
    .unwrap();
}

#[test]
fn path_counters_are_their_verilog() {
    compare::<1, 1, 1, 7, 4>();
    compare::<2, 1, 1, 7, 4>();
}
