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
    overruns: BTreeSet<u64>,
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
            other_events: 0,
            words: VecDeque::new(),
        };
        let words = (0..QPS).map(|qp| (false, driver.completions[qp as usize].word(qp)));
        driver.words = words.chain([(true, driver.events.word(0))]).collect();
        driver
    }

    /// A write arrives. An interrupt wakes the reader, which must find an entry, reads all entries and arms again.
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
        if let Some(reader) = self.completions.get_mut(vector as usize) {
            while let Some(bytes) =
                reader.take(&self.memory, |bytes: &[u8; Cqe::LEN]| bytes[2] & 1 != 0)
            {
                let cqe = Cqe::from_bytes(&bytes).unwrap();
                assert_eq!(cqe.qp, vector);
                self.read.push(cqe);
                found += 1;
            }
            let word = reader.word(vector);
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
    dut.set_record("event_config", driver.events.settings.to_hw());
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
    let mut flying = VecDeque::new();
    let mut given: BTreeMap<u64, Cqe> = BTreeMap::new();
    let mut raised = 0;
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
            dut.set("event_consumer_index", word.index.into());
            dut.set("event_consumer_arm", word.arm.into());
            driver.words.pop_front();
        } else if consumers.is_free()
            && rng.random_ratio(1, 4)
            && driver.words.front().is_some_and(|word| !word.0)
        {
            consumers.offer(driver.words.pop_front().unwrap().1);
        }
        send.drive(dut, |dut, cqe| dut.set_record("send", completion(cqe)));
        receive.drive(dut, |dut, cqe| dut.set_record("receive", completion(cqe)));
        errors.drive(dut, |_, ()| ());
        consumers.drive(dut, |dut, word| {
            dut.set("consumer_qp", word.qp.into());
            dut.set("consumer_index", word.index.into());
            dut.set("consumer_arm", word.arm.into());
        });
        stall(dut, rng, "tlp_ready", ready);
        dut.settle();
        if dut.moves("tlp_valid", "tlp_ready") {
            arrives = arrives.max(clock + rng.random_range(1..60));
            flying.push_back((arrives, HostWrite::at(dut, "tlp_header", "tlp_data")));
        }
        for cqe in [send.taken(dut), receive.taken(dut)].into_iter().flatten() {
            given.insert(cqe.wr_id, cqe);
        }
        raised += usize::from(errors.taken(dut).is_some());
        consumers.taken(dut);
        assert!(!dut.is("consumers_refused") && !dut.is("event_consumers_refused"));
        assert!(!dut.is("events_lost"), "the event ring is long enough");
        dut.clock();
    }
    assert!(flying.is_empty());
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
    let left: BTreeSet<u64> = given.into_keys().collect();
    assert_eq!(
        left, driver.overruns,
        "everything else was lost and reported"
    );
    assert!(!driver.read.is_empty() && !left.is_empty(), "both happened");
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
