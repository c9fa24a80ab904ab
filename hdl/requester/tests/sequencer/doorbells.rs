//! Doorbells that wait for the requester.

use hdl_requester::{ConfigureKind, DoorbellQueue};
use hdl_testkit::Dut;
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const PAIRS: u64 = 8;
/// Every doorbell that waits has a place for its entry.
type Queue = DoorbellQueue<3, 4, { PAIRS as usize }>;
/// Half of them have one.
type ScarceQueue = DoorbellQueue<3, 4, { PAIRS as usize }, 2>;
/// Words of an entry.
const WORDS: usize = 16;

/// A doorbell.
#[derive(Clone, Debug, PartialEq)]
struct Doorbell {
    producer: u64,
    /// The first word of the entry.
    pushed: Option<u32>,
}

/// The doorbells of a queue pair that were accepted after the one that left last, each with its cycle.
type Waiting = Vec<(u64, Doorbell)>;

struct Bench {
    dut: Dut,
    rng: ChaCha8Rng,
    now: u64,
    waiting: Vec<Waiting>,
    /// Doorbells so far, which are their producer indices too.
    rung: u64,
    /// The doorbell at the input, which stays until it is accepted.
    ringing: Option<(u64, Doorbell)>,
    /// What was offered and not accepted.
    offered: Option<(u64, Doorbell)>,
    /// Queue pair, and whether one of its paths changes, for which no doorbell matters.
    configures: Option<(u64, bool)>,
    /// The configuration was offered in the cycle before.
    passes: bool,
    /// It was accepted there, so it is accepted here.
    moved: bool,
    configured: usize,
    /// Changes of paths beside a doorbell that waits.
    beside: usize,
    left: usize,
    merged: usize,
    /// Entries that may find no place, and those that found none.
    is_scarce: bool,
    homeless: usize,
}

impl Bench {
    fn new(seed: u64) -> Self {
        Self::of(Dut::new::<Queue>(), seed, false)
    }

    fn scarce(seed: u64) -> Self {
        Self::of(Dut::new::<ScarceQueue>(), seed, true)
    }

    fn of(mut dut: Dut, seed: u64, is_scarce: bool) -> Self {
        dut.reset(2);
        (0..PAIRS).for_each(|_| dut.clock());
        Self {
            dut,
            rng: ChaCha8Rng::seed_from_u64(seed),
            now: 0,
            waiting: vec![vec![]; PAIRS as usize],
            rung: 0,
            ringing: None,
            offered: None,
            configures: None,
            passes: false,
            moved: false,
            configured: 0,
            beside: 0,
            left: 0,
            merged: 0,
            is_scarce,
            homeless: 0,
        }
    }

    /// One cycle in which a doorbell comes and the output is ready with these probabilities, in eighths.
    fn clock(&mut self, rings: u32, ready: u32) {
        self.now += 1;
        if self.ringing.is_none() && self.rng.random_ratio(rings, 8) {
            let qp = self.rng.random_range(0..PAIRS);
            self.rung += 1;
            let producer = self.rung;
            let pushed = self.rng.random_bool(0.5).then(|| self.rng.random());
            self.ringing = Some((qp, Doorbell { producer, pushed }));
        }
        self.dut.set("in_valid", self.ringing.is_some().into());
        if let Some((qp, doorbell)) = &self.ringing {
            self.dut.set("in_qp", *qp);
            self.dut.set("in_producer", doorbell.producer);
            self.dut.set("in_pushed", doorbell.pushed.is_some().into());
            let mut entry = [0; WORDS];
            entry[0] = doorbell.pushed.unwrap_or_default();
            self.dut.set_words("in_entry", &entry);
        }
        let accepts = self.rng.random_ratio(ready, 8);
        self.dut.set("out_ready", accepts.into());
        self.configure();
        self.dut.eval();
        let was_empty = self.waiting.iter().all(Vec::is_empty);
        if self.dut.moves("in_valid", "in_ready") {
            let (qp, doorbell) = self.ringing.take().expect("a doorbell");
            self.waiting[qp as usize].push((self.now, doorbell));
            assert!(
                !was_empty || self.dut.is("out_valid"),
                "a doorbell with none before it is delayed"
            );
        }
        self.take_offer(accepts);
        self.check_configuration();
        self.dut.clock();
    }

    fn configure(&mut self) {
        if self.configures.is_none() && self.rng.random_ratio(1, 32) {
            self.configures = Some((self.rng.random_range(0..PAIRS), self.rng.random()));
        }
        let ready = self.rng.random();
        self.dut
            .set("configure_valid", self.configures.is_some().into());
        let (qp, changes_path) = self.configures.unwrap_or_default();
        let kind = if changes_path {
            ConfigureKind::PathUse
        } else {
            ConfigureKind::Requester
        };
        self.dut.set("configure", kind as u64);
        self.dut.set("configure_qp", qp);
        self.dut.set("configured_ready", ready);
    }

    fn check_configuration(&mut self) {
        let moves = self.dut.moves("configured_valid", "configured_ready");
        let is_accepted = std::mem::replace(&mut self.moved, moves);
        assert_eq!(
            is_accepted,
            self.dut.moves("configure_valid", "configure_ready")
        );
        if is_accepted {
            assert!(!moves, "a configuration is offered twice");
            self.configures = None;
            self.configured += 1;
        }
        let passed = std::mem::replace(&mut self.passes, self.dut.is("configured_valid"));
        if !self.passes {
            return;
        }
        let (qp, changes_path) = self.configures.expect("a configuration");
        assert_eq!(self.dut.get("configured_qp"), qp);
        // Doorbells that come while none is found, and later ones, come beside the configuration.
        let old = |(came, _): &(u64, Doorbell)| came + 1 < self.now;
        let waits = self.waiting[qp as usize].iter().any(old);
        self.beside += usize::from(moves && changes_path && waits);
        assert!(
            passed || changes_path || !waits,
            "a doorbell of queue pair {qp} waits in cycle {}",
            self.now
        );
        if moves {
            self.passes = false;
        }
    }

    /// Checks that an offer stays as it was, that it is of the queue pair that waits longest, and that it is one of its doorbells, or stands for several.
    fn take_offer(&mut self, accepts: bool) {
        if !self.dut.is("out_valid") {
            assert_eq!(self.offered, None, "an offer was taken back");
            return;
        }
        let qp = self.dut.get("out_qp");
        let entry = self.dut.words("out_entry")[0];
        let doorbell = Doorbell {
            producer: self.dut.get("out_producer"),
            pushed: self.dut.is("out_pushed").then_some(entry),
        };
        if let Some(offered) = self.offered.take() {
            assert_eq!((qp, &doorbell), (offered.0, &offered.1));
        }
        if !accepts {
            self.offered = Some((qp, doorbell));
            return;
        }
        let longest = self.waiting.iter().flat_map(|w| w.first()).map(|w| w.0);
        let longest = longest.min().expect("a doorbell that waits");
        let waits = &mut self.waiting[qp as usize];
        assert_eq!(waits[0].0, longest, "queue pair {qp} is not the first");
        let is_it = |w: &(u64, Doorbell)| w.1.producer == doorbell.producer;
        let at = waits.iter().position(is_it).expect("a doorbell of it");
        let alone = at == 0;
        let pushed = waits[at].1.pushed.filter(|_| alone);
        let is_homeless = self.is_scarce && doorbell.pushed.is_none() && pushed.is_some();
        self.homeless += usize::from(is_homeless);
        assert!(is_homeless || doorbell.pushed == pushed);
        waits.drain(..=at);
        self.left += 1;
        self.merged += at;
    }

    /// Runs until nothing waits.
    fn finish(&mut self) {
        for _ in 0..200 {
            self.clock(0, 8);
        }
        assert!(self.waiting.iter().all(Vec::is_empty));
        assert_eq!(self.ringing, None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// The bench asserts it at each offer.
    #[test]
    fn the_last_doorbell_of_each_queue_pair_leaves_in_turn(seed: u64, rings in 0..9_u32, ready in 0..9_u32) {
        let mut bench = Bench::new(seed);
        for _ in 0..500 {
            bench.clock(rings, ready);
        }
        bench.finish();
    }
}

/// A queue pair that rings in every cycle costs the requester no more than one that rings once in each turn.
#[test]
fn doorbells_of_a_queue_pair_that_wait_become_one() {
    let mut bench = Bench::new(1);
    for _ in 0..8_000 {
        bench.clock(8, 1);
    }
    bench.finish();
    assert!(
        bench.merged > 4 * bench.left,
        "{} of {}",
        bench.merged,
        bench.left
    );
    let Bench {
        configured, beside, ..
    } = bench;
    assert!(configured > 10 && beside > 5, "{configured}, {beside}");
}

/// Behind a doorbell that is offered, as many entries wait as there are places, whatever was there before.
#[test]
fn the_entries_that_came_first_have_the_places() {
    let mut dut = Dut::new::<ScarceQueue>();
    dut.reset(2);
    (0..PAIRS).for_each(|_| dut.clock());
    dut.set("in_pushed", 1);
    for round in 0..3 {
        let entry = |qp: u64| (100 * round + qp) as u32;
        dut.set("out_ready", 0);
        for qp in 0..PAIRS {
            let mut words = [0; WORDS];
            words[0] = entry(qp);
            dut.set_words("in_entry", &words);
            dut.set("in_qp", qp);
            dut.set("in_producer", qp);
            dut.set("in_valid", 1);
            dut.eval();
            while !dut.is("in_ready") {
                dut.clock();
                dut.eval();
            }
            dut.clock();
        }
        dut.set("in_valid", 0);
        dut.set("out_ready", 1);
        let mut left = vec![];
        while left.len() < PAIRS as usize {
            dut.eval();
            if dut.is("out_valid") {
                let word = dut.words("out_entry")[0];
                left.push((dut.get("out_qp"), dut.is("out_pushed").then_some(word)));
            }
            dut.clock();
        }
        let expected = (0..PAIRS).map(|qp| (qp, (qp < 5).then_some(entry(qp))));
        assert_eq!(left, expected.collect::<Vec<_>>());
    }
}

#[test]
fn without_a_place_an_entry_is_read_from_memory() {
    let mut bench = Bench::scarce(2);
    for _ in 0..8_000 {
        bench.clock(4, 2);
    }
    bench.finish();
    let Bench { homeless, left, .. } = bench;
    assert!(homeless > 50 && homeless < left / 2, "{homeless} of {left}");
}
