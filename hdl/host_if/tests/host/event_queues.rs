//! The event queues compared with the reference's ring.

use std::collections::{BTreeMap, VecDeque};

use hdl_host_if::event_queues::{EventQueues, CLOCKS, QUEUES};
use hdl_testkit::stream::{stall, Source};
use hdl_testkit::Dut;
use proptest::prelude::*;
use rand::seq::IndexedRandom;
use rand::Rng;
use rust_hdl::prelude::ToBits;
use stellar_wire::host::{Eqe, EventKind};
use stellar_wire::hw::read::FailedRead;

use crate::bench::{generator, reset, HostWrite};
use crate::ring_reference::{Due, Ring, Settings};

/// Sources in the order of [`EventKind::ALL`]: valid, ready, source, data, and the bits of these two. The last one has three kinds in one record.
const SOURCES: [(&str, &str, &str, &str, u32, u32); 6] = [
    (
        "qp_error_valid",
        "qp_error_ready",
        "qp_error_qp",
        "qp_error_status",
        10,
        8,
    ),
    (
        "overrun_valid",
        "overrun_ready",
        "overrun_qp",
        "overrun_wr_id",
        10,
        64,
    ),
    (
        "imm_threshold_valid",
        "imm_threshold_ready",
        "imm_threshold_qp",
        "imm_threshold_count",
        10,
        32,
    ),
    (
        "doorbell_refused_valid",
        "doorbell_refused_ready",
        "doorbell_refused_page",
        "doorbell_refused_qp",
        16,
        24,
    ),
    (
        "page_fault_valid",
        "page_fault_ready",
        "page_fault_region",
        "page_fault_va",
        24,
        64,
    ),
    (
        "failed_read_valid",
        "failed_read_ready",
        FAILED_READ,
        FAILED_READ,
        24,
        64,
    ),
];

/// The record of the last source.
const FAILED_READ: &str = "failed_read";

fn failed_read(event: &Eqe) -> FailedRead {
    FailedRead {
        kind: u64::from(event.kind.code()).to_bits(),
        source: u64::from(event.source).to_bits(),
        address: event.data.to_bits(),
    }
}

/// The queue pairs of the block under test, the event queues that have a ring, and one without.
const QPS: usize = 4;
const RINGS: [u16; 4] = [0, 1, 37, 63];
const NO_RING: u16 = 5;

fn configure(dut: &mut Dut, queue: u16, settings: Settings) {
    dut.set("settings_valid", 1);
    dut.set("settings_queue", queue.into());
    dut.set_record("settings", settings.to_hw());
    dut.settle();
    while !dut.is("settings_ready") {
        dut.clock();
        dut.settle();
    }
    dut.clock();
    dut.set("settings_valid", 0);
}

/// Names the event queue of a queue pair.
fn assign(dut: &mut Dut, qp: usize, queue: u16) {
    dut.set("assigned_valid", 1);
    dut.set("assigned_qp", qp as u64);
    dut.set("assigned", queue.into());
    dut.clock();
    dut.set("assigned_valid", 0);
}

fn consume(dut: &mut Dut, queue: u16, index: u32, arm: bool) {
    dut.set("consumer_valid", 1);
    dut.set("consumer_queue", queue.into());
    dut.set("consumer_index", index.into());
    dut.set("consumer_arm", arm.into());
}

/// Reports a queue pair that failed.
fn fail_qp(dut: &mut Dut) {
    dut.set("qp_error_valid", 1);
    dut.settle();
    while !dut.is("qp_error_ready") {
        dut.clock();
        dut.settle();
    }
    dut.clock();
    dut.set("qp_error_valid", 0);
}

/// The event queue of an event.
fn queue_of(event: &Eqe, queues: [u16; QPS]) -> u16 {
    match event.kind {
        EventKind::DoorbellRefused | EventKind::PageFault | EventKind::FlushReadFailed => 0,
        _ => queues[event.source as usize % QPS],
    }
}

fn random_event(rng: &mut impl Rng, source: usize) -> Eqe {
    let (.., source_bits, data_bits) = SOURCES[source];
    Eqe {
        kind: match source {
            5 => *EventKind::ALL[5..].choose(rng).unwrap(),
            _ => EventKind::ALL[source],
        },
        phase: false,
        source: rng.random::<u32>() >> (32 - source_bits),
        data: rng.random::<u64>() >> (64 - data_bits),
    }
}

fn sources() -> [Source<Eqe>; 6] {
    SOURCES.map(|(valid, ready, ..)| Source::new(valid, ready))
}

fn drive(dut: &mut Dut, sources: &[Source<Eqe>; 6]) {
    for (source, (_, _, source_port, data_port, ..)) in sources.iter().zip(SOURCES) {
        source.drive(dut, |dut, event| {
            if source_port == FAILED_READ {
                dut.set_record(FAILED_READ, failed_read(event));
            } else {
                dut.set(source_port, event.source.into());
                dut.set(data_port, event.data);
            }
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn entries_indices_and_interrupts_are_those_of_the_reference(seed: u64, clocks in 400..4000usize, ready in 2..=8u32, busy in 10..200u32) {
        let rng = &mut generator(seed);
        let mut dut = reset::<EventQueues<2>>();
        let none = Settings { valid: false, ..Settings::random(rng, 3) };
        let mut rings: BTreeMap<u16, Ring> = BTreeMap::from([(NO_RING, Ring::new(none))]);
        for queue in RINGS {
            let settings = Settings::random(rng, 4);
            configure(&mut dut, queue, settings);
            rings.insert(queue, Ring::new(settings));
        }
        let all: Vec<u16> = rings.keys().copied().collect();
        let mut queues = [NO_RING; QPS];
        for (qp, queue) in queues.iter_mut().enumerate() {
            *queue = *all.choose(rng).unwrap();
            assign(&mut dut, qp, *queue);
        }
        let mut sources = sources();
        let mut configs = Source::new("settings_valid", "settings_ready");
        let mut due = Due::default();
        let (mut lost, mut losses, mut written, mut made, mut refused, mut refusals) = (0, 0, 0, 0, 0, 0);
        // An index takes effect after the entry in progress, and before the next one.
        let mut quiet = 0;
        for clock in 0..clocks + 100 {
            let drains = clock >= clocks;
            for (n, source) in sources.iter_mut().enumerate() {
                if !drains && source.is_free() && rng.random_ratio(1, busy) {
                    source.offer(random_event(rng, n));
                }
            }
            drive(&mut dut, &sources);
            // An index that waits for a ring is forgotten with it, so none is on its way when a ring changes.
            let idle = !drains && quiet > 2 * CLOCKS && configs.is_free();
            if idle && rng.random_ratio(1, 40) {
                configs.offer((*RINGS.choose(rng).unwrap(), Settings::random(rng, 4)));
            }
            configs.drive(&mut dut, |dut, &(queue, settings)| {
                dut.set("settings_queue", u64::from(queue));
                dut.set_record("settings", settings.to_hw());
            });
            let queue = *all.choose(rng).unwrap();
            let update = (idle && configs.is_free() && rng.random_ratio(1, 4)).then(|| (rings[&queue].index(rng), rng.random()));
            dut.set("consumer_valid", 0);
            if let Some((index, arm)) = update {
                consume(&mut dut, queue, index, arm);
            }
            let assigned = rng.random_ratio(1, 50).then(|| (rng.random_range(0..QPS), *all.choose(rng).unwrap()));
            dut.set("assigned_valid", assigned.is_some().into());
            if let Some((qp, queue)) = assigned {
                dut.set("assigned_qp", qp as u64);
                dut.set("assigned", queue.into());
            }
            stall(&mut dut, rng, "write_ready", if drains { 8 } else { ready });
            dut.settle();
            lost += dut.get("lost");
            written += dut.get("written");
            refused += dut.get("consumer_refused");
            due.follow(&dut);
            quiet = if due.writes.is_empty() && update.is_none() { quiet + 1 } else { 0 };
            let taken: Vec<Eqe> = sources.iter_mut().filter_map(|source| source.taken(&dut)).collect();
            prop_assert!(taken.len() <= 1);
            for event in taken {
                let ring = rings.get_mut(&queue_of(&event, queues)).unwrap();
                // Kinds that repeat leave the rest of the ring to the others.
                let gives_way = match event.kind {
                    EventKind::DoorbellRefused => ring.uses_part(4),
                    EventKind::QpError | EventKind::CqOverrun | EventKind::ImmThreshold => false,
                    _ => ring.uses_part(2),
                };
                match (!gives_way).then(|| ring.push(Eqe::LEN as u64)).flatten() {
                    Some((address, phase, raises)) => {
                        let bytes = Eqe { phase, ..event }.to_bytes().to_vec();
                        due.write(HostWrite { address, bytes }, raises);
                        made += 1;
                    }
                    None => losses += 1,
                }
            }
            if let Some((index, arm)) = update {
                let (accepted, raises) = rings.get_mut(&queue).unwrap().consume(index, arm);
                due.raise(raises);
                refusals += u64::from(!accepted);
            }
            if let Some((queue, settings)) = configs.taken(&dut) {
                rings.insert(queue, Ring::new(settings));
            }
            if let Some((qp, queue)) = assigned {
                queues[qp] = queue;
            }
            dut.clock();
        }
        prop_assert!(due.is_empty());
        prop_assert_eq!((lost, written, refused), (losses, made, refusals));
    }
}

fn open_ring() -> Settings {
    Settings {
        valid: true,
        interrupts: true,
        vector: 9,
        log2_entries: 8,
        base: 0x4000,
        event_queue: 0,
    }
}

#[test]
fn an_event_takes_no_more_clocks_than_promised_and_sources_take_turns() {
    let mut dut = reset::<EventQueues<2>>();
    configure(&mut dut, 0, open_ring());
    for (valid, ..) in SOURCES {
        dut.set(valid, 1);
    }
    let first = Eqe {
        kind: EventKind::ALL[5],
        phase: false,
        source: 0,
        data: 0,
    };
    dut.set_record(FAILED_READ, failed_read(&first));
    dut.set("write_ready", 1);
    let mut kinds = VecDeque::new();
    // The turn is chosen a cycle ahead.
    dut.clock();
    for clock in 0..24 * CLOCKS {
        dut.settle();
        let taken: u64 = SOURCES.iter().map(|source| dut.get(source.1)).sum();
        assert_eq!(taken == 1, clock % CLOCKS == 0, "clock {clock}");
        let offers = clock > 0 && clock % CLOCKS == 0;
        assert_eq!(dut.is("write_valid"), offers, "clock {clock}");
        if offers {
            kinds.push_back(HostWrite::at(&dut, "write_header", "write_data").bytes[0]);
        }
        dut.clock();
    }
    for (n, kind) in kinds.iter().enumerate() {
        assert_eq!(*kind, EventKind::ALL[n % 6].code());
    }
}

/// A waiting index is replaced by the next one, and its arming is kept.
#[test]
fn the_last_index_counts_and_no_arming_is_lost() {
    let mut dut = reset::<EventQueues<2>>();
    configure(&mut dut, 0, open_ring());
    // Three entries: one in memory, one on offer, and one behind it.
    dut.set("write_ready", 1);
    dut.set("qp_error_valid", 1);
    for _ in 0..2 * CLOCKS {
        dut.clock();
    }
    dut.settle();
    dut.set("write_ready", 0);
    for _ in 0..CLOCKS {
        dut.clock();
    }
    dut.set("qp_error_valid", 0);
    for (index, arm) in [(1, true), (2, false)] {
        consume(&mut dut, 0, index, arm);
        dut.clock();
    }
    dut.set("consumer_valid", 0);
    for _ in 0..2 * CLOCKS {
        dut.settle();
        assert!(dut.is("write_valid") && !dut.is("raise_valid"));
        dut.clock();
    }
    dut.set("write_ready", 1);
    let mut raises = 0;
    for _ in 0..4 * CLOCKS {
        dut.settle();
        raises += dut.get("raise_valid");
        assert!(!dut.is("consumer_refused"));
        dut.clock();
    }
    assert_eq!(raises, 1, "armed, with an entry behind the last index");
    // Index 2 was applied: 3 is valid, and 1 is not valid any more.
    for (index, refused) in [(1, 1), (3, 0)] {
        dut.set("consumer_valid", 1);
        dut.set("consumer_index", index);
        dut.clock();
        dut.set("consumer_valid", 0);
        for _ in 0..CLOCKS {
            dut.clock();
        }
        dut.settle();
        assert_eq!(dut.get("consumer_refused"), refused, "index {index}");
    }
}

#[test]
fn a_new_ring_forgets_an_index_that_waits_for_the_old_one() {
    let mut dut = reset::<EventQueues<2>>();
    configure(&mut dut, 0, open_ring());
    fail_qp(&mut dut);
    dut.set("consumer_valid", 1);
    dut.set("consumer_index", 1);
    dut.set("consumer_arm", 1);
    dut.clock();
    dut.set("consumer_valid", 0);
    dut.set("settings_valid", 1);
    for _ in 0..CLOCKS {
        dut.clock();
    }
    dut.settle();
    assert!(dut.is("write_valid") && !dut.is("settings_ready"));
    dut.set("write_ready", 1);
    dut.clock();
    dut.settle();
    assert!(dut.is("settings_ready"));
    dut.clock();
    dut.set("settings_valid", 0);
    dut.set("qp_error_valid", 1);
    for _ in 0..4 * CLOCKS {
        dut.settle();
        assert!(!dut.is("consumer_refused") && !dut.is("raise_valid"));
        dut.clock();
    }
}

#[test]
fn without_a_ring_events_are_lost_and_counted() {
    let mut dut = reset::<EventQueues<2>>();
    dut.set("qp_error_valid", 1);
    dut.set("write_ready", 1);
    // The block clears its rows.
    dut.settle();
    while !dut.is("qp_error_ready") {
        dut.clock();
        dut.settle();
    }
    let mut lost = 0;
    for _ in 0..10 * CLOCKS {
        dut.settle();
        lost += dut.get("lost");
        assert!(!dut.is("write_valid"));
        dut.clock();
    }
    dut.settle();
    assert_eq!(lost + dut.get("lost"), 10);
}

/// The readers of all queues write their indices in a row. None is lost, and each has the interrupt of its own queue.
#[test]
fn the_readers_of_all_queues_may_write_at_once() {
    let mut dut = reset::<EventQueues<2>>();
    dut.set("write_ready", 1);
    for queue in 0..QUEUES as u16 {
        let settings = Settings {
            vector: queue as u8,
            ..open_ring()
        };
        configure(&mut dut, queue, settings);
        assign(&mut dut, 0, queue);
        fail_qp(&mut dut);
        for _ in 0..2 * CLOCKS {
            dut.clock();
        }
    }
    let mut raised = BTreeMap::new();
    for clock in 0..QUEUES * (CLOCKS + 2) {
        dut.set("consumer_valid", 0);
        if clock < QUEUES {
            consume(&mut dut, clock as u16, 0, true);
        }
        dut.settle();
        assert!(!dut.is("consumer_refused"));
        if dut.is("raise_valid") {
            *raised.entry(dut.get("raise_vector")).or_insert(0) += 1;
        }
        dut.clock();
    }
    let once = (0..QUEUES as u64).map(|queue| (queue, 1));
    assert_eq!(raised, once.collect());
}
