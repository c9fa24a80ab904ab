//! Rings, interrupts, and a driver that sleeps until an interrupt.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use hdl_host_if::host_queues::HostQueues;
use hdl_testkit::stream::{stall, Source};
use hdl_testkit::Dut;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use stellar_wire::host::{ConsumerIndex, Cqe, Eqe, EventKind, VectorEntry};

use crate::bench::{generator, reset, vector_access, HostWrite};
use crate::completion_queues::{completion, random_cqe};
use crate::ring_reference::Settings;

const QPS: u32 = 4;
/// The event queue of all queue pairs.
const EVENT_QUEUE: u16 = 37;
/// Cycles after an overrun until the ring is replaced: longer than anything is in flight.
const RENEWAL: usize = 200;
/// Address of interrupt messages; the data is the vector.
const DOORBELL: u64 = 0xfee0_0000;

/// Host memory: double words by address.
type Memory = BTreeMap<u64, [u8; 4]>;

fn entry<const N: usize>(memory: &Memory, address: u64) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    for (n, part) in bytes.chunks_mut(4).enumerate() {
        part.copy_from_slice(memory.get(&(address + 4 * n as u64))?);
    }
    Some(bytes)
}

/// The driver's side of a ring.
struct Reader {
    settings: Settings,
    index: u32,
}

impl Reader {
    fn new(n: u64, log2_entries: u8) -> Self {
        Self {
            settings: Settings {
                valid: true,
                interrupts: true,
                vector: n as u8,
                log2_entries,
                base: 0x1_0000 * (n + 1),
                event_queue: EVENT_QUEUE,
            },
            index: 0,
        }
    }

    /// The next entry, if its phase is that of a new one.
    fn take<const N: usize>(
        &mut self,
        memory: &Memory,
        phase: impl Fn(&[u8; N]) -> bool,
    ) -> Option<[u8; N]> {
        let entries = 1 << self.settings.log2_entries;
        let address = self.settings.base + N as u64 * u64::from(self.index % entries);
        let bytes = entry::<N>(memory, address)?;
        let expected = (self.index / entries).is_multiple_of(2);
        (phase(&bytes) == expected).then(|| {
            self.index += 1;
            bytes
        })
    }

    fn word(&self, qp: u32) -> ConsumerIndex {
        ConsumerIndex {
            qp,
            index: self.index,
            arm: true,
        }
    }
}

/// The entries that the driver has read, and the words that it will write.
struct Driver {
    memory: Memory,
    completions: Vec<Reader>,
    events: Reader,
    read: Vec<Cqe>,
    /// First completions that rings lost, by events.
    overruns: BTreeSet<u64>,
    /// Rings that have lost a completion, with the time since when, by the failed queue pairs.
    failed: BTreeMap<u32, usize>,
    failures: usize,
    other_events: usize,
    words: VecDeque<(bool, ConsumerIndex)>,
}

impl Driver {
    fn new() -> Self {
        let mut driver = Self {
            memory: Memory::new(),
            completions: (0..u64::from(QPS))
                .map(|n| Reader::new(n, n as u8 + 1))
                .collect(),
            events: Reader::new(u64::from(QPS), 10),
            read: vec![],
            overruns: BTreeSet::new(),
            failed: BTreeMap::new(),
            failures: 0,
            other_events: 0,
            words: VecDeque::new(),
        };
        let words = (0..QPS).map(|qp| (false, driver.completions[qp as usize].word(qp)));
        driver.words = words.chain([(true, driver.events.word(0))]).collect();
        driver
    }

    /// Reads the new entries of a completion queue; returns how many.
    fn read_completions(&mut self, qp: u32) -> usize {
        let reader = &mut self.completions[qp as usize];
        let before = self.read.len();
        while let Some(bytes) =
            reader.take(&self.memory, |bytes: &[u8; Cqe::LEN]| bytes[2] & 1 != 0)
        {
            let cqe = Cqe::from_bytes(&bytes).unwrap();
            assert_eq!(cqe.qp, qp);
            self.read.push(cqe);
        }
        self.read.len() - before
    }

    /// A queue pair whose ring was overrun gets another one when nothing is in flight for the old one. Returns its settings.
    fn renew(&mut self, clock: usize) -> Option<(u32, Settings)> {
        let waits = |qp: u32| self.words.iter().any(|word| !word.0 && word.1.qp == qp);
        let is_over = |(&qp, &since): (&u32, &usize)| clock > since + RENEWAL && !waits(qp);
        let qp = *self.failed.iter().find(|failed| is_over(*failed))?.0;
        self.failed.remove(&qp);
        self.read_completions(qp);
        let reader = &mut self.completions[qp as usize];
        reader.settings.base += 0x100_0000;
        reader.index = 0;
        self.words.push_back((false, reader.word(qp)));
        Some((qp, self.completions[qp as usize].settings))
    }

    /// A write arrives. An interrupt wakes the reader, which must find an entry, reads all entries and arms again. An overrun ring has an interrupt of its
    /// own.
    fn arrive(&mut self, write: &HostWrite) {
        if write.address != DOORBELL {
            for (n, part) in write.bytes.chunks(4).enumerate() {
                let at = write.address + 4 * n as u64;
                self.memory.insert(at, part.try_into().unwrap());
            }
            return;
        }
        let vector = u32::from(write.bytes[0]);
        let mut found = 0;
        if vector < QPS {
            found = self.read_completions(vector);
            if found == 0 && self.failed.contains_key(&vector) {
                return;
            }
            let word = self.completions[vector as usize].word(vector);
            self.words.push_back((false, word));
        } else {
            while let Some(bytes) = self
                .events
                .take(&self.memory, |bytes: &[u8; Eqe::LEN]| bytes[1] & 1 != 0)
            {
                let event = Eqe::from_bytes(&bytes).unwrap();
                if event.kind == EventKind::CqOverrun {
                    assert!(self.overruns.insert(event.data));
                } else {
                    self.other_events += 1;
                }
                found += 1;
            }
            self.words.push_back((true, self.events.word(0)));
        }
        assert!(
            found > 0,
            "interrupt {vector} announces an entry that is not there"
        );
    }
}

fn configure(dut: &mut Dut, driver: &Driver) {
    dut.set("completion_config_valid", 1);
    for (qp, reader) in driver.completions.iter().enumerate() {
        dut.set("completion_config_qp", qp as u64);
        dut.set_record("completion_config", reader.settings.to_hw());
        dut.clock();
    }
    dut.set("completion_config_valid", 0);
    dut.set("event_config_valid", 1);
    dut.set("event_config_queue", EVENT_QUEUE.into());
    dut.set_record("event_config", driver.events.settings.to_hw());
    dut.settle();
    while !dut.is("event_config_ready") {
        dut.clock();
        dut.settle();
    }
    dut.clock();
    dut.set("event_config_valid", 0);
    dut.set("msix_enable", 1);
    dut.set("vector_access_valid", 1);
    for vector in 0..=QPS {
        let entry = VectorEntry {
            masked: false,
            data: vector,
            address: DOORBELL,
        };
        for access in vector_access(vector as u16, entry) {
            dut.set_record("vector_access", access);
            while !dut.is("vector_access_ready") {
                dut.clock();
                dut.settle();
            }
            dut.clock();
        }
    }
    dut.set("vector_access_valid", 0);
}

/// Delays of the fabric: TLPs arrive in order, some cycles after they left.
fn deliver(flying: &mut VecDeque<(usize, HostWrite)>, clock: usize, driver: &mut Driver) {
    while flying.front().is_some_and(|(at, _)| *at <= clock) {
        if let Some((_, write)) = flying.pop_front() {
            driver.arrive(&write);
        }
    }
}

fn run(dut: &mut Dut, rng: &mut ChaCha8Rng, clocks: usize, ready: u32) {
    let mut driver = Driver::new();
    configure(dut, &driver);
    let mut send = Source::new("send_valid", "send_ready");
    let mut receive = Source::new("receive_valid", "receive_ready");
    let mut errors = Source::new("qp_error_valid", "qp_error_ready");
    let mut consumers = Source::new("consumer_valid", "consumer_ready");
    let mut renewals = Source::new("completion_config_valid", "completion_config_ready");
    let mut flying = VecDeque::new();
    let mut given: BTreeMap<u64, Cqe> = BTreeMap::new();
    let (mut raised, mut lost) = (0, 0);
    let mut arrives = 0;
    for clock in 0..clocks + 2_000 {
        let drains = clock >= clocks;
        for source in [&mut send, &mut receive] {
            if !drains && source.is_free() && rng.random_ratio(1, 12) {
                source.offer(random_cqe(rng, QPS));
            }
        }
        if !drains && errors.is_free() && rng.random_ratio(1, 50) {
            errors.offer(());
        }
        deliver(&mut flying, clock, &mut driver);
        // The driver has a random delay, and writes one word after the other.
        let event_word = driver
            .words
            .front()
            .filter(|word| word.0 && rng.random_ratio(1, 4))
            .copied();
        dut.set("event_consumer_valid", event_word.is_some().into());
        if let Some((_, word)) = event_word {
            dut.set("event_consumer_queue", EVENT_QUEUE.into());
            dut.set("event_consumer_index", word.index.into());
            dut.set("event_consumer_arm", word.arm.into());
            driver.words.pop_front();
        } else if consumers.is_free()
            && renewals.is_free()
            && rng.random_ratio(1, 4)
            && driver.words.front().is_some_and(|word| !word.0)
        {
            let word = driver.words.pop_front().unwrap().1;
            driver
                .failed
                .entry(word.qp)
                .and_modify(|since| *since = clock);
            consumers.offer(word);
        }
        if !drains && renewals.is_free() && consumers.is_free() {
            if let Some(renewal) = driver.renew(clock) {
                renewals.offer(renewal);
            }
        }
        send.drive(dut, |dut, cqe| dut.set_record("send", completion(cqe)));
        receive.drive(dut, |dut, cqe| dut.set_record("receive", completion(cqe)));
        errors.drive(dut, |_, ()| ());
        consumers.drive(dut, |dut, word| {
            dut.set("consumer_qp", word.qp.into());
            dut.set("consumer_index", word.index.into());
            dut.set("consumer_arm", word.arm.into());
        });
        renewals.drive(dut, |dut, (qp, settings)| {
            dut.set("completion_config_qp", u64::from(*qp));
            dut.set_record("completion_config", settings.to_hw());
        });
        stall(dut, rng, "tlp_ready", ready);
        stall(dut, rng, "failed_ready", 2);
        dut.settle();
        renewals.taken(dut);
        if dut.moves("failed_valid", "failed_ready") {
            let qp = dut.get("failed_qp") as u32;
            assert!(driver.failed.insert(qp, clock).is_none(), "once per ring");
            driver.failures += 1;
        }
        if dut.moves("tlp_valid", "tlp_ready") {
            arrives = arrives.max(clock + rng.random_range(1..60));
            flying.push_back((arrives, HostWrite::at(dut, "tlp_header", "tlp_data")));
        }
        for cqe in [send.taken(dut), receive.taken(dut)].into_iter().flatten() {
            given.insert(cqe.wr_id, cqe);
        }
        raised += usize::from(errors.taken(dut).is_some());
        consumers.taken(dut);
        lost += dut.get("pulses_completions_lost") as usize;
        assert!(!dut.is("pulses_consumers_refused") && !dut.is("pulses_event_consumers_refused"));
        assert!(
            !dut.is("pulses_events_lost"),
            "the event ring is long enough"
        );
        dut.clock();
    }
    assert!(flying.is_empty());
    (0..QPS).for_each(|qp| {
        driver.read_completions(qp);
    });
    assert_eq!(driver.other_events, raised);
    for cqe in &driver.read {
        let sent = given
            .remove(&cqe.wr_id)
            .expect("a completion that was given, once");
        assert_eq!(
            Cqe {
                phase: false,
                ..*cqe
            },
            sent
        );
    }
    // Everything else was lost, and each ring has reported the first.
    assert_eq!(given.len(), lost);
    assert_eq!(driver.overruns.len(), driver.failures);
    assert!(driver
        .overruns
        .iter()
        .all(|wr_id| given.contains_key(wr_id)));
    assert!(
        driver.read.len() > 500 && driver.failures > 10 && lost > driver.failures,
        "{} completions, {} overruns, {lost} losses",
        driver.read.len(),
        driver.failures
    );
}

/// A driver that reads only after interrupts gets every entry that was not lost, although entries are in flight while it arms.
#[test]
fn a_driver_that_sleeps_until_interrupted_sees_everything() {
    for seed in 0..12 {
        let rng = &mut generator(seed);
        let mut dut = reset::<HostQueues<2, 512>>();
        run(&mut dut, rng, 6_000, 3 + seed as u32 % 6);
    }
}
