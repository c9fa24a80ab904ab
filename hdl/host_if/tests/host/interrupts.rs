//! MSI-X: pending and mask bits, messages.

use std::collections::VecDeque;
use std::sync::OnceLock;

use hdl_host_if::interrupts::{Interrupts, CLOCKS, VECTORS};
use proptest::prelude::*;
use rand::Rng;
use rust_hdl::prelude::*;
use sim_verilated::Library;
use stellar_wire::hw::host_queues::InterruptEntry;

use crate::bench::{expect, generator, library, stall, Bench, HostWrite, Source};

fn model() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| library(Interrupts::default()))
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    masked: bool,
    address: u64,
    data: u32,
}

impl Entry {
    fn message(self) -> HostWrite {
        HostWrite {
            address: self.address,
            bytes: self.data.to_le_bytes().to_vec(),
        }
    }
}

fn set_entry(bench: &mut Bench, &(vector, entry): &(usize, Entry)) {
    bench.set("config_vector", vector as u64);
    bench.set_record(
        "settings",
        InterruptEntry {
            masked: entry.masked,
            data: u64::from(entry.data).to_bits(),
            address: entry.address.to_bits(),
        },
    );
}

fn configure(bench: &mut Bench, vector: usize, entry: Entry) {
    set_entry(bench, &(vector, entry));
    bench.set("config_valid", 1);
    loop {
        bench.settle();
        let taken = bench.is("config_ready");
        bench.clock();
        if taken {
            break;
        }
    }
    bench.set("config_valid", 0);
}

fn raise(bench: &mut Bench, vector: usize) {
    bench.set("completion_raise_valid", 1);
    bench.set("completion_raise_vector", vector as u64);
    bench.clock();
    bench.set("completion_raise_valid", 0);
}

/// Messages within `clocks` cycles.
fn messages(bench: &mut Bench, clocks: usize) -> Vec<HostWrite> {
    bench.set("write_ready", 1);
    let mut seen = vec![];
    for _ in 0..clocks {
        bench.settle();
        if bench.is("write_valid") {
            seen.push(bench.write("write_header", "write_data"));
        }
        bench.clock();
    }
    bench.set("write_ready", 0);
    seen
}

const OPEN: Entry = Entry {
    masked: false,
    address: 0xfee0_1000,
    data: 0x4031,
};

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
    /// Only a raise sets a pending bit. The bit is cleared only when the vector may send, and each clearing is one message, in this order.
    #[test]
    fn pending_bits_become_messages(seed: u64, clocks in 100..1500usize, ready in 2..=8u32, vectors in 1..=VECTORS) {
        let rng = &mut generator(seed);
        let mut bench = Bench::new(model());
        let mut table: Vec<Option<Entry>> = vec![None; VECTORS];
        let mut configs = Source::new("config_valid", "config_ready");
        let mut due = VecDeque::new();
        let (mut pending, mut sent, mut made) = (0u64, 0, 0);
        for clock in 0..clocks + 5 * VECTORS {
            let drains = clock >= clocks;
            // A raise of a pending vector merges: see below.
            let free = |vector: usize| !drains && pending >> vector & 1 == 0;
            let raised: Vec<usize> = (0..2)
                .map(|_| rng.random_range(0..6 * vectors))
                .filter(|&vector| vector < vectors && free(vector))
                .collect();
            for (n, side) in [("completion_raise_valid", "completion_raise_vector"), ("event_raise_valid", "event_raise_vector")].into_iter().enumerate() {
                bench.set(side.0, raised.get(n).is_some().into());
                bench.set(side.1, raised.get(n).copied().unwrap_or(0) as u64);
            }
            if !drains && configs.is_free() && rng.random_ratio(1, 10) {
                let entry = Entry { masked: rng.random_ratio(1, 3), address: rng.random::<u64>() & !3, data: rng.random() };
                configs.offer((rng.random_range(0..vectors), entry));
            }
            configs.drive(&mut bench, set_entry);
            stall(&mut bench, rng, "write_ready", if drains { 8 } else { ready });
            bench.settle();
            sent += bench.get("sent");
            prop_assert_eq!(bench.get("pending"), pending);
            if bench.moves("write_valid", "write_ready") {
                expect(&mut due, &bench.write("write_header", "write_data"), "message");
            }
            if let Some((vector, entry)) = configs.taken(&bench) {
                table[vector] = Some(entry);
            }
            bench.clock();
            bench.settle();
            let now = bench.get("pending");
            let cleared = pending & !now;
            prop_assert!(cleared.count_ones() <= 1);
            if cleared != 0 {
                let entry = table[cleared.trailing_zeros() as usize].expect("a vector that was written");
                prop_assert!(!entry.masked, "a masked vector sends");
                due.push_back(entry.message());
                made += 1;
            }
            let set = raised.iter().fold(0, |bits, vector| bits | 1 << vector);
            prop_assert_eq!(now, pending & !cleared | set);
            pending = now;
        }
        prop_assert_eq!(due, VecDeque::new());
        prop_assert_eq!(sent, made);
        for (vector, entry) in table.iter().enumerate() {
            let open = entry.is_some_and(|entry| !entry.masked);
            prop_assert!(!open || pending >> vector & 1 == 0, "vector {} waits although nothing holds it", vector);
        }
    }
}

#[test]
fn a_vector_is_masked_until_it_is_written_and_then_sends_once() {
    let mut bench = Bench::new(model());
    raise(&mut bench, 63);
    raise(&mut bench, 63);
    assert_eq!(messages(&mut bench, 20), vec![]);
    assert_eq!(bench.get("pending"), 1 << 63);
    configure(
        &mut bench,
        63,
        Entry {
            masked: true,
            ..OPEN
        },
    );
    assert_eq!(messages(&mut bench, 20), vec![]);
    configure(&mut bench, 63, OPEN);
    assert_eq!(messages(&mut bench, 20), vec![OPEN.message()]);
    bench.settle();
    assert_eq!(bench.get("pending"), 0);
}

/// A second raise at any time either merges, before the pending bit is cleared, or gives a message of its own after that. It is never lost.
#[test]
fn a_raise_while_its_vector_is_sending_is_not_lost() {
    let mut counts = vec![];
    for gap in 0..CLOCKS + 2 {
        let mut bench = Bench::new(model());
        configure(&mut bench, 3, OPEN);
        raise(&mut bench, 3);
        for _ in 0..gap {
            bench.clock();
        }
        raise(&mut bench, 3);
        counts.push(messages(&mut bench, 20).len());
    }
    assert_eq!(counts, [1, 2, 2, 2, 2, 2]);
}

#[test]
fn a_message_takes_no_more_clocks_than_promised() {
    let mut bench = Bench::new(model());
    configure(&mut bench, 17, OPEN);
    raise(&mut bench, 17);
    for clock in 1..=CLOCKS {
        bench.settle();
        assert_eq!(bench.is("write_valid"), clock == CLOCKS, "clock {clock}");
        bench.clock();
    }
}
