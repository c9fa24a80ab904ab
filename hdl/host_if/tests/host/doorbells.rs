//! Doorbells against a table of owners.

use std::collections::VecDeque;
use std::sync::OnceLock;

use hdl_host_if::doorbells::{Doorbells, CLOCKS};
use proptest::prelude::*;
use rand::Rng;
use sim_verilated::Library;
use stellar_wire::host::{ConsumerIndex, Doorbell};

use crate::bench::{expect, generator, library, stall, Bench, Source};

const QPS: u32 = 4;

fn model() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| library(Doorbells::<2>::default()))
}

#[derive(Clone, Debug)]
struct PageWrite {
    page: u16,
    offset: u16,
    word: u64,
    enable: u8,
}

impl PageWrite {
    fn doorbell(page: u16, doorbell: Doorbell) -> Self {
        Self {
            page,
            offset: Doorbell::OFFSET,
            word: u64::from_le_bytes(doorbell.to_bytes()),
            enable: 0xff,
        }
    }

    fn set(bench: &mut Bench, write: &Self) {
        bench.set("write_page", write.page.into());
        bench.set("write_offset", write.offset.into());
        bench.set("write_data", write.word);
        bench.set("write_enable", write.enable.into());
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Outcome {
    Send(Doorbell),
    Consume(ConsumerIndex),
    Refuse { page: u16, qp: u32 },
}

#[derive(Default, Debug, PartialEq)]
struct Counts {
    refused: u32,
    short: u32,
    wrong: u32,
}

/// What must come of a write. Reserved bits of the word do not count.
fn judge(
    write: &PageWrite,
    owners: &[Option<u16>; QPS as usize],
    counts: &mut Counts,
) -> Option<Outcome> {
    if ![Doorbell::OFFSET, ConsumerIndex::OFFSET].contains(&write.offset) {
        counts.wrong += 1;
        return None;
    }
    if write.enable != 0xff {
        counts.short += 1;
        return None;
    }
    let bytes = write.word.to_le_bytes();
    let doorbell = Doorbell::from_bytes(&bytes);
    let owner = owners.get(doorbell.qp as usize).copied().flatten();
    if owner != Some(write.page) {
        counts.refused += 1;
        return Some(Outcome::Refuse {
            page: write.page,
            qp: doorbell.qp,
        });
    }
    Some(if write.offset == Doorbell::OFFSET {
        Outcome::Send(doorbell)
    } else {
        Outcome::Consume(ConsumerIndex::from_bytes(&bytes))
    })
}

fn outcome(bench: &Bench) -> Option<Outcome> {
    if bench.moves("doorbell_valid", "doorbell_ready") {
        return Some(Outcome::Send(Doorbell {
            qp: bench.get("doorbell_qp") as u32,
            producer: bench.get("doorbell_producer") as u16,
        }));
    }
    if bench.moves("consumer_valid", "consumer_ready") {
        return Some(Outcome::Consume(ConsumerIndex {
            qp: bench.get("consumer_qp") as u32,
            index: bench.get("consumer_index") as u32,
            arm: bench.is("consumer_arm"),
        }));
    }
    bench
        .moves("refused_valid", "refused_ready")
        .then(|| Outcome::Refuse {
            page: bench.get("refused_page") as u16,
            qp: bench.get("refused_qp") as u32,
        })
}

fn random_write(rng: &mut impl Rng) -> PageWrite {
    // Mostly queue pairs that exist, sometimes one that only looks so in its low bits.
    let qp = match rng.random_range(0..8) {
        0 => QPS + rng.random_range(0..QPS),
        1 => 0x80_0000 | rng.random_range(0..QPS),
        _ => rng.random_range(0..QPS),
    };
    PageWrite {
        page: [0, 1, 0x8001][rng.random_range(0..3)],
        offset: match rng.random_range(0..10) {
            0 => rng.random_range(0..4096),
            1..4 => ConsumerIndex::OFFSET,
            _ => Doorbell::OFFSET,
        },
        word: rng.random::<u64>() & !0xff_ffff | u64::from(qp),
        enable: if rng.random_ratio(1, 8) {
            rng.random()
        } else {
            0xff
        },
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn a_page_rings_only_for_its_own_queue_pairs(seed: u64, clocks in 50..600usize) {
        let rng = &mut generator(seed);
        let mut bench = Bench::new(model());
        let mut owners = [None; QPS as usize];
        let (mut due, mut counts, mut counted) = (VecDeque::new(), Counts::default(), Counts::default());
        let mut writes = Source::new("write_valid", "ready");
        let mut changes = Source::new("owner_valid", "owner_ready");
        for clock in 0..clocks + 40 {
            let drains = clock >= clocks;
            if !drains && writes.is_free() && rng.random_ratio(1, 2) {
                writes.offer(random_write(rng));
            }
            if !drains && changes.is_free() && rng.random_ratio(1, 8) {
                let page = [0, 1, 0x8001][rng.random_range(0..3)];
                changes.offer((rng.random_range(0..QPS as usize), rng.random_ratio(3, 4).then_some(page)));
            }
            writes.drive(&mut bench, PageWrite::set);
            changes.drive(&mut bench, |bench, &(qp, owner)| {
                bench.set("owner_qp", qp as u64);
                bench.set("owner_present", owner.is_some().into());
                bench.set("owner_page", owner.unwrap_or(0).into());
            });
            for ready in ["doorbell_ready", "consumer_ready", "refused_ready"] {
                stall(&mut bench, rng, ready, if drains { 8 } else { 3 });
            }
            bench.settle();
            counted.refused += bench.get("refused") as u32;
            counted.short += bench.get("short_write") as u32;
            counted.wrong += bench.get("wrong_offset") as u32;
            if let Some(came) = outcome(&bench) {
                expect(&mut due, &came, "outcome");
            }
            if let Some(write) = writes.taken(&bench) {
                due.extend(judge(&write, &owners, &mut counts));
            }
            if let Some((qp, owner)) = changes.taken(&bench) {
                owners[qp] = owner;
            }
            bench.clock();
        }
        prop_assert_eq!(due, VecDeque::new());
        prop_assert_eq!(counted, counts);
    }
}

/// Clocks until `port` is up, at most `most`.
fn clocks_until(bench: &mut Bench, port: &str, most: usize) -> usize {
    (0..=most)
        .find(|_| {
            bench.settle();
            let up = bench.is(port);
            if !up {
                bench.clock();
            }
            up
        })
        .unwrap_or_else(|| panic!("{port} is not up within {most} clocks"))
}

#[test]
fn doorbells_follow_each_other_without_more_clocks_than_promised() {
    let mut bench = Bench::new(model());
    clocks_until(&mut bench, "owner_ready", 4);
    for (port, value) in [
        ("owner_valid", 1),
        ("owner_qp", 2),
        ("owner_present", 1),
        ("owner_page", 7),
    ] {
        bench.set(port, value);
    }
    bench.clock();
    bench.set("owner_valid", 0);
    for ready in ["doorbell_ready", "consumer_ready", "refused_ready"] {
        bench.set(ready, 1);
    }
    bench.set("write_valid", 1);
    let write = PageWrite::doorbell(7, Doorbell { qp: 2, producer: 9 });
    PageWrite::set(&mut bench, &write);
    let mut taken = 0;
    for _ in 0..10 * CLOCKS {
        bench.settle();
        taken += bench.get("ready");
        bench.clock();
    }
    assert_eq!(taken, 10);
}

#[test]
fn after_reset_nobody_owns_anything() {
    let mut bench = Bench::new(model());
    for qp in 0..u64::from(QPS) {
        clocks_until(&mut bench, "owner_ready", 4);
        for (port, value) in [
            ("owner_valid", 1),
            ("owner_qp", qp),
            ("owner_present", 1),
            ("owner_page", 7),
        ] {
            bench.set(port, value);
        }
        bench.clock();
    }
    bench.set("owner_valid", 0);
    bench.set("reset", 1);
    bench.clock();
    bench.set("reset", 0);
    for qp in 0..QPS {
        let write = PageWrite::doorbell(7, Doorbell { qp, producer: 1 });
        PageWrite::set(&mut bench, &write);
        bench.set("write_valid", 1);
        clocks_until(&mut bench, "ready", QPS as usize);
        bench.clock();
        bench.set("write_valid", 0);
        clocks_until(&mut bench, "refused_valid", 2);
        assert_eq!(outcome_offered(&bench), (7, qp));
        bench.set("refused_ready", 1);
        bench.clock();
        bench.set("refused_ready", 0);
    }
}

fn outcome_offered(bench: &Bench) -> (u16, u32) {
    (
        bench.get("refused_page") as u16,
        bench.get("refused_qp") as u32,
    )
}

#[test]
#[should_panic(expected = "2^11 queue pairs: use Q of 1 to 10")]
fn more_queue_pairs_than_numbers_are_refused() {
    let _ = Doorbells::<11>::default();
}
