//! Doorbells compared with a table of owners.

use std::collections::{BTreeMap, VecDeque};

use hdl_host_if::doorbells::{Doorbells, CLOCKS};
use hdl_testkit::stream::{expect, stall, Source};
use hdl_testkit::Dut;
use proptest::prelude::*;
use rand::Rng;
use stellar_wire::host::{ConsumerIndex, Doorbell};

use crate::bench::{generator, reset};

const QPS: u32 = 4;
/// Pages with space for a pushed entry.
const SHARES: u16 = 16;
/// Pages of the random writes: the last one has no such space.
const PAGES: [u16; 4] = [0, 1, 15, 0x8001];

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

    fn set(dut: &mut Dut, write: &Self) {
        dut.set("write_page", write.page.into());
        dut.set("write_offset", write.offset.into());
        dut.set("write_data", write.word);
        dut.set("write_enable", write.enable.into());
    }
}

/// The words so far of the entry of each page.
#[derive(Default)]
struct Pushing(BTreeMap<u16, Vec<u64>>);

impl Pushing {
    /// The word of an entry at an offset.
    fn word(offset: u16) -> Option<usize> {
        let words = (Doorbell::PUSH_OFFSET..).step_by(8).take(8);
        words.into_iter().position(|place| place == offset)
    }

    fn push(&mut self, page: u16, word: usize, value: u64) {
        if page >= SHARES {
            return;
        }
        let words = self.0.entry(page).or_default();
        if word == 0 || words.len() != word {
            words.clear();
        }
        if words.len() == word {
            words.push(value);
        }
    }

    fn ring(&mut self, page: u16) -> Option<Vec<u64>> {
        self.0.remove(&page).filter(|words| words.len() == 8)
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Outcome {
    /// A doorbell with a pushed entry.
    Send(Doorbell, Option<Vec<u64>>),
    Consume(ConsumerIndex),
    Refuse {
        page: u16,
        qp: u32,
    },
}

#[derive(Default, Debug, PartialEq)]
struct Counts {
    refused: u32,
    short: u32,
    wrong: u32,
}

/// The expected effect of a write. Reserved bits of the word do not matter.
fn judge(
    write: &PageWrite,
    owners: &[Option<u16>; QPS as usize],
    pushing: &mut Pushing,
    counts: &mut Counts,
) -> Option<Outcome> {
    let word = Pushing::word(write.offset);
    let mut slots = 0..Doorbell::SLOT_COUNT;
    let in_slot = slots
        .clone()
        .any(|slot| Doorbell::slot(slot) == write.offset);
    let rings = in_slot || [Doorbell::OFFSET, Doorbell::PUSHED_OFFSET].contains(&write.offset);
    let consumes = write.offset == ConsumerIndex::OFFSET
        || slots.any(|slot| ConsumerIndex::slot(slot) == write.offset);
    if word.is_none() && !rings && !consumes {
        counts.wrong += 1;
        return None;
    }
    let ends_push = write.offset == Doorbell::PUSHED_OFFSET;
    if write.enable != 0xff {
        if ends_push {
            pushing.ring(write.page);
        }
        counts.short += 1;
        return None;
    }
    if let Some(word) = word {
        pushing.push(write.page, word, write.word);
        return None;
    }
    let entry = match ends_push {
        true => pushing.ring(write.page),
        false => None,
    };
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
    Some(if rings {
        Outcome::Send(doorbell, entry)
    } else {
        Outcome::Consume(ConsumerIndex::from_bytes(&bytes))
    })
}

fn outcome(dut: &Dut) -> Option<Outcome> {
    if dut.moves("doorbell_valid", "doorbell_ready") {
        let doorbell = Doorbell {
            qp: dut.get("doorbell_qp") as u32,
            producer: dut.get("doorbell_producer") as u16,
        };
        let entry = dut.words("doorbell_entry");
        let entry = entry
            .chunks(2)
            .map(|pair| u64::from(pair[1]) << 32 | u64::from(pair[0]))
            .collect();
        let pushed = dut.is("doorbell_pushed").then_some(entry);
        return Some(Outcome::Send(doorbell, pushed));
    }
    if dut.moves("consumer_valid", "consumer_ready") {
        return Some(Outcome::Consume(ConsumerIndex {
            qp: dut.get("consumer_qp") as u32,
            index: dut.get("consumer_index") as u32,
            arm: dut.is("consumer_arm"),
        }));
    }
    dut.moves("refused_valid", "refused_ready")
        .then(|| Outcome::Refuse {
            page: dut.get("refused_page") as u16,
            qp: dut.get("refused_qp") as u32,
        })
}

fn random_write(rng: &mut impl Rng) -> PageWrite {
    // Mostly queue pairs that exist, and sometimes one that matches only in its low bits.
    let qp = match rng.random_range(0..8) {
        0 => QPS + rng.random_range(0..QPS),
        1 => 0x80_0000 | rng.random_range(0..QPS),
        _ => rng.random_range(0..QPS),
    };
    PageWrite {
        page: PAGES[rng.random_range(0..PAGES.len())],
        offset: match rng.random_range(0..12) {
            0 => rng.random_range(0..4096),
            1..4 => ConsumerIndex::OFFSET,
            4..6 => Doorbell::PUSHED_OFFSET,
            6 => Doorbell::slot(rng.random_range(0..Doorbell::SLOT_COUNT)),
            7 => ConsumerIndex::slot(rng.random_range(0..Doorbell::SLOT_COUNT)),
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

/// A write, or a pushed entry with its doorbell, possibly with an error.
fn random_writes(rng: &mut impl Rng) -> Vec<PageWrite> {
    let mut last = random_write(rng);
    if rng.random() {
        return vec![last];
    }
    if last.offset == Doorbell::OFFSET {
        last.offset = Doorbell::PUSHED_OFFSET;
    }
    let words = 0..8u16;
    let mut writes: Vec<PageWrite> = words
        .map(|word| PageWrite {
            page: last.page,
            offset: Doorbell::PUSH_OFFSET + 8 * word,
            word: rng.random(),
            enable: 0xff,
        })
        .collect();
    writes.push(last);
    match rng.random_range(0..12) {
        0 => {
            writes.remove(rng.random_range(0..8));
        }
        1 => writes[rng.random_range(0..8)].page ^= 1,
        2 => writes[rng.random_range(0..8)].enable = 0x0f,
        3 => writes.swap(rng.random_range(0..8), 3),
        4 => writes.insert(rng.random_range(0..8), random_write(rng)),
        5 => writes[rng.random_range(0..8)].offset += rng.random_range(1..8),
        _ => {}
    }
    writes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn a_page_rings_only_for_its_own_queue_pairs(seed: u64, clocks in 50..600usize) {
        let rng = &mut generator(seed);
        let mut dut = reset::<Doorbells<2, 4>>();
        let mut owners = [None; QPS as usize];
        let (mut due, mut counts, mut counted) = (VecDeque::new(), Counts::default(), Counts::default());
        // Two scripts that take turns: what one page pushes comes between the words of another.
        let mut scripts = [VecDeque::new(), VecDeque::new()];
        let mut pushing = Pushing::default();
        let mut writes = Source::new("write_valid", "write_ready");
        let mut changes = Source::new("owner_valid", "owner_ready");
        for clock in 0..clocks + 40 {
            let drains = clock >= clocks;
            let script = &mut scripts[usize::from(rng.random_ratio(1, 4))];
            if script.is_empty() {
                script.extend(random_writes(rng));
            }
            if !drains && writes.is_free() && rng.random_ratio(1, 2) {
                writes.offer(script.pop_front().expect("writes"));
            }
            if !drains && changes.is_free() && rng.random_ratio(1, 8) {
                let page = PAGES[rng.random_range(0..PAGES.len())];
                changes.offer((rng.random_range(0..QPS as usize), rng.random_ratio(3, 4).then_some(page)));
            }
            writes.drive(&mut dut, PageWrite::set);
            changes.drive(&mut dut, |dut, &(qp, owner)| {
                dut.set("owner_qp", qp as u64);
                dut.set("owner_present", owner.is_some().into());
                dut.set("owner_page", owner.unwrap_or(0).into());
            });
            for ready in ["doorbell_ready", "consumer_ready", "refused_ready"] {
                stall(&mut dut, rng, ready, if drains { 8 } else { 3 });
            }
            dut.settle();
            counted.refused += dut.get("pulses_not_owned") as u32;
            counted.short += dut.get("pulses_short_write") as u32;
            counted.wrong += dut.get("pulses_wrong_offset") as u32;
            if let Some(came) = outcome(&dut) {
                expect(&mut due, &came, "outcome");
            }
            if let Some(write) = writes.taken(&dut) {
                due.extend(judge(&write, &owners, &mut pushing, &mut counts));
            }
            if let Some((qp, owner)) = changes.taken(&dut) {
                owners[qp] = owner;
                if let Some(page) = owner {
                    pushing.ring(page);
                }
            }
            dut.clock();
        }
        prop_assert_eq!(due, VecDeque::new());
        prop_assert_eq!(counted, counts);
    }
}

/// The entry of one page is complete when another page begins one after each of its words.
#[test]
fn entries_of_two_pages_do_not_displace_each_other() {
    let mut dut = reset::<Doorbells<2, 4>>();
    for (qp, page) in [(0, 3), (1, 4)] {
        own(&mut dut, qp, page);
    }
    let entry: [u8; 64] = std::array::from_fn(|at| at as u8);
    let doorbell = Doorbell { qp: 1, producer: 9 };
    let other = Doorbell { qp: 0, producer: 5 };
    for (at, (offset, word)) in doorbell.pushing(&entry).enumerate() {
        let (of_other, word_of_other) = other.pushing(&[0xff; 64]).nth(at % 8).expect("a word");
        write(&mut dut, 3, of_other, word_of_other);
        write(&mut dut, 4, offset, word);
    }
    clocks_until(&mut dut, "doorbell_valid", CLOCKS);
    dut.set("doorbell_ready", 1);
    dut.settle();
    let words = entry.chunks(8);
    let words = words.map(|word| u64::from_le_bytes(word.try_into().expect("8 bytes")));
    assert_eq!(
        outcome(&dut),
        Some(Outcome::Send(doorbell, Some(words.collect())))
    );
}

/// A page that is given to another user may hold an entry of the user before.
#[test]
fn a_new_owner_does_not_ring_with_an_entry_from_before() {
    let mut dut = reset::<Doorbells<2, 4>>();
    own(&mut dut, 1, 4);
    let doorbell = Doorbell { qp: 1, producer: 9 };
    for (offset, word) in doorbell.pushing(&[0xff; 64]).take(8) {
        write(&mut dut, 4, offset, word);
    }
    own(&mut dut, 1, 4);
    let word = u64::from_le_bytes(doorbell.to_bytes());
    write(&mut dut, 4, Doorbell::PUSHED_OFFSET, word);
    clocks_until(&mut dut, "doorbell_valid", CLOCKS);
    dut.set("doorbell_ready", 1);
    dut.settle();
    assert_eq!(outcome(&dut), Some(Outcome::Send(doorbell, None)));
}

/// Makes a page the owner of a queue pair.
fn own(dut: &mut Dut, qp: u64, page: u64) {
    let owner = [
        ("owner_qp", qp),
        ("owner_present", 1),
        ("owner_page", page),
        ("owner_valid", 1),
    ];
    for (port, value) in owner {
        dut.set(port, value);
    }
    clocks_until(dut, "owner_ready", 8);
    dut.clock();
    dut.set("owner_valid", 0);
}

/// Writes a word to a page, as soon as it is taken.
fn write(dut: &mut Dut, page: u16, offset: u16, word: u64) {
    let write = PageWrite {
        page,
        offset,
        word,
        enable: 0xff,
    };
    PageWrite::set(dut, &write);
    dut.set("write_valid", 1);
    clocks_until(dut, "write_ready", 8);
    dut.clock();
    dut.set("write_valid", 0);
}

/// Cycles until `port` is high, at most `most`.
fn clocks_until(dut: &mut Dut, port: &str, most: usize) -> usize {
    (0..=most)
        .find(|_| {
            dut.settle();
            let up = dut.is(port);
            if !up {
                dut.clock();
            }
            up
        })
        .unwrap_or_else(|| panic!("{port} is not up within {most} clocks"))
}

#[test]
fn doorbells_follow_each_other_without_more_clocks_than_promised() {
    let mut dut = reset::<Doorbells<2, 4>>();
    own(&mut dut, 2, 7);
    for ready in ["doorbell_ready", "consumer_ready", "refused_ready"] {
        dut.set(ready, 1);
    }
    dut.set("write_valid", 1);
    let write = PageWrite::doorbell(7, Doorbell { qp: 2, producer: 9 });
    PageWrite::set(&mut dut, &write);
    let mut taken = 0;
    for _ in 0..10 * CLOCKS {
        dut.settle();
        taken += dut.get("write_ready");
        dut.clock();
    }
    assert_eq!(taken, 10);
}

#[test]
fn after_reset_nobody_owns_anything() {
    let mut dut = reset::<Doorbells<2, 4>>();
    for qp in 0..u64::from(QPS) {
        own(&mut dut, qp, 7);
    }
    dut.set("reset", 1);
    dut.clock();
    dut.set("reset", 0);
    for qp in 0..QPS {
        let write = PageWrite::doorbell(7, Doorbell { qp, producer: 1 });
        PageWrite::set(&mut dut, &write);
        dut.set("write_valid", 1);
        clocks_until(&mut dut, "write_ready", QPS as usize);
        dut.clock();
        dut.set("write_valid", 0);
        clocks_until(&mut dut, "refused_valid", 2);
        assert_eq!(outcome_offered(&dut), (7, qp));
        dut.set("refused_ready", 1);
        dut.clock();
        dut.set("refused_ready", 0);
    }
}

fn outcome_offered(dut: &Dut) -> (u16, u32) {
    (dut.get("refused_page") as u16, dut.get("refused_qp") as u32)
}

#[test]
#[should_panic(expected = "2^17 queue pairs: use Q of 1 to 16")]
fn more_queue_pairs_than_numbers_are_refused() {
    let _ = Doorbells::<17, 4>::default();
}

#[test]
#[should_panic(expected = "2^16 pages that push: use P of 1 to 15")]
fn more_pages_that_push_than_pages_are_refused() {
    let _ = Doorbells::<2, 16>::default();
}
