//! MSI-X: pending and mask bits, messages.

use std::collections::VecDeque;

use hdl_host_if::interrupts::{Interrupts, CLOCKS, VECTORS};
use hdl_testkit::stream::{expect, stall, Source};
use hdl_testkit::Dut;
use proptest::prelude::*;
use rand::Rng;
use rust_hdl::prelude::*;
use stellar_wire::hw::host_queues::InterruptEntry;

use crate::bench::{generator, reset, HostWrite};

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

fn set_entry(dut: &mut Dut, &(vector, entry): &(usize, Entry)) {
    dut.set("settings_vector", vector as u64);
    dut.set_record(
        "settings",
        InterruptEntry {
            masked: entry.masked,
            data: u64::from(entry.data).to_bits(),
            address: entry.address.to_bits(),
        },
    );
}

fn configure(dut: &mut Dut, vector: usize, entry: Entry) {
    set_entry(dut, &(vector, entry));
    dut.set("settings_valid", 1);
    loop {
        dut.settle();
        let taken = dut.is("settings_ready");
        dut.clock();
        if taken {
            break;
        }
    }
    dut.set("settings_valid", 0);
}

fn raise(dut: &mut Dut, vector: usize) {
    dut.set("completion_raise_valid", 1);
    dut.set("completion_raise_vector", vector as u64);
    dut.clock();
    dut.set("completion_raise_valid", 0);
}

/// Messages within `clocks` cycles.
fn messages(dut: &mut Dut, clocks: usize) -> Vec<HostWrite> {
    dut.set("write_ready", 1);
    let mut seen = vec![];
    for _ in 0..clocks {
        dut.settle();
        if dut.is("write_valid") {
            seen.push(HostWrite::at(dut, "write_header", "write_data"));
        }
        dut.clock();
    }
    dut.set("write_ready", 0);
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
        let mut dut = reset::<Interrupts>();
        let mut table: Vec<Option<Entry>> = vec![None; VECTORS];
        let mut configs = Source::new("settings_valid", "settings_ready");
        let mut due = VecDeque::new();
        let (mut pending, mut sent, mut made) = (0u64, 0, 0);
        for clock in 0..clocks + 5 * VECTORS {
            let drains = clock >= clocks;
            // A raise of a vector that is already pending has no further effect, see below.
            let free = |vector: usize| !drains && pending >> vector & 1 == 0;
            let raised: Vec<usize> = (0..2)
                .map(|_| rng.random_range(0..6 * vectors))
                .filter(|&vector| vector < vectors && free(vector))
                .collect();
            for (n, side) in [("completion_raise_valid", "completion_raise_vector"), ("event_raise_valid", "event_raise_vector")].into_iter().enumerate() {
                dut.set(side.0, raised.get(n).is_some().into());
                dut.set(side.1, raised.get(n).copied().unwrap_or(0) as u64);
            }
            if !drains && configs.is_free() && rng.random_ratio(1, 10) {
                let entry = Entry { masked: rng.random_ratio(1, 3), address: rng.random::<u64>() & !3, data: rng.random() };
                configs.offer((rng.random_range(0..vectors), entry));
            }
            configs.drive(&mut dut, set_entry);
            stall(&mut dut, rng, "write_ready", if drains { 8 } else { ready });
            dut.settle();
            sent += dut.get("sent");
            prop_assert_eq!(dut.get("pending"), pending);
            if dut.moves("write_valid", "write_ready") {
                expect(&mut due, &HostWrite::at(&dut, "write_header", "write_data"), "message");
            }
            if let Some((vector, entry)) = configs.taken(&dut) {
                table[vector] = Some(entry);
            }
            dut.clock();
            dut.settle();
            let now = dut.get("pending");
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
    let mut dut = reset::<Interrupts>();
    raise(&mut dut, 63);
    raise(&mut dut, 63);
    assert_eq!(messages(&mut dut, 20), vec![]);
    assert_eq!(dut.get("pending"), 1 << 63);
    configure(
        &mut dut,
        63,
        Entry {
            masked: true,
            ..OPEN
        },
    );
    assert_eq!(messages(&mut dut, 20), vec![]);
    configure(&mut dut, 63, OPEN);
    assert_eq!(messages(&mut dut, 20), vec![OPEN.message()]);
    dut.settle();
    assert_eq!(dut.get("pending"), 0);
}

/// A second raise at any time either merges, before the pending bit is cleared, or gives a message of its own after that. It is never lost.
#[test]
fn a_raise_while_its_vector_is_sending_is_not_lost() {
    let mut counts = vec![];
    for gap in 0..CLOCKS + 2 {
        let mut dut = reset::<Interrupts>();
        configure(&mut dut, 3, OPEN);
        raise(&mut dut, 3);
        for _ in 0..gap {
            dut.clock();
        }
        raise(&mut dut, 3);
        counts.push(messages(&mut dut, 20).len());
    }
    assert_eq!(counts, [1, 2, 2, 2, 2, 2]);
}

#[test]
fn a_message_takes_no_more_clocks_than_promised() {
    let mut dut = reset::<Interrupts>();
    configure(&mut dut, 17, OPEN);
    raise(&mut dut, 17);
    for clock in 1..=CLOCKS {
        dut.settle();
        assert_eq!(dut.is("write_valid"), clock == CLOCKS, "clock {clock}");
        dut.clock();
    }
}
