//! MSI-X: the table in BAR4, pending and mask bits, messages.

use std::collections::VecDeque;

use hdl_host_if::interrupts::{Interrupts, CLOCKS, VECTORS};
use hdl_testkit::stream::{expect, stall, Source};
use hdl_testkit::Dut;
use proptest::prelude::*;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use stellar_wire::host::vector_table::PENDING_OFFSET;
use stellar_wire::host::VectorEntry;
use stellar_wire::hw::completer::BarAccess;

use crate::bench::{generator, reset, vector_access, HostWrite};

const TABLE_BYTES: usize = VECTORS * VectorEntry::BYTES as usize;
/// Bytes of an entry's vector control, of which only the lowest bit, the mask, can be written.
const CONTROL: usize = 12;

fn message(entry: VectorEntry) -> HostWrite {
    HostWrite {
        address: entry.address & !3,
        bytes: entry.data.to_le_bytes().to_vec(),
    }
}

/// The table as the standard describes it: bytes.
struct Table([u8; TABLE_BYTES]);

impl Table {
    fn new() -> Self {
        let mut bytes = [0; TABLE_BYTES];
        for control in bytes.iter_mut().skip(CONTROL).step_by(16) {
            *control = 1;
        }
        Self(bytes)
    }

    fn word(&self, offset: usize) -> u64 {
        let bytes = self.0.get(offset..offset + 8);
        bytes.map_or(0, |bytes| u64::from_le_bytes(bytes.try_into().unwrap()))
    }

    fn entry(&self, vector: usize) -> VectorEntry {
        VectorEntry::from_words([self.word(16 * vector), self.word(16 * vector + 8)])
    }

    fn write(&mut self, access: &Access) {
        for (lane, byte) in access.data.to_le_bytes().into_iter().enumerate() {
            let at = access.offset + lane;
            if access.enable >> lane & 1 == 1 && at < TABLE_BYTES {
                self.0[at] = match at % 16 {
                    ..CONTROL => byte,
                    CONTROL => byte & 1,
                    _ => 0,
                };
            }
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Access {
    write: bool,
    offset: usize,
    data: u64,
    enable: u8,
}

fn access(rng: &mut ChaCha8Rng, vectors: usize) -> Access {
    let words = TABLE_BYTES / 8;
    let word = match rng.random_range(0..20) {
        0..16 => rng.random_range(0..2 * vectors),
        16..18 => PENDING_OFFSET as usize / 8,
        _ => rng.random_range(words..512),
    };
    Access {
        write: rng.random_ratio(2, 3),
        offset: 8 * word,
        data: rng.random(),
        enable: if rng.random() { u8::MAX } else { rng.random() },
    }
}

fn set_access(dut: &mut Dut, access: &Access) {
    dut.set_record(
        "access",
        BarAccess {
            write: access.write,
            bar: 4u64.to_bits(),
            address: (access.offset as u64).to_bits(),
            data: access.data.to_bits(),
            enable: u64::from(access.enable).to_bits(),
        },
    );
}

/// The block out of reset, MSI-X on.
fn enabled() -> Dut {
    let mut dut = reset::<Interrupts>();
    dut.set("enable", 1);
    dut
}

fn configure(dut: &mut Dut, vector: usize, entry: VectorEntry) {
    for access in vector_access(vector as u16, entry) {
        dut.set("access_valid", 1);
        dut.set_record("access", access);
        loop {
            dut.settle();
            let taken = dut.is("access_ready");
            dut.clock();
            if taken {
                break;
            }
        }
    }
    dut.set("access_valid", 0);
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

const OPEN: VectorEntry = VectorEntry {
    masked: false,
    address: 0xfee0_1000,
    data: 0x4031,
};

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
    /// Only a raise sets a pending bit. The bit is cleared only when the vector may send, and each clearing is one message, in this order. The host
    /// reads what it has written, with any byte enables, and the pending bits.
    #[test]
    fn pending_bits_become_messages(seed: u64, clocks in 100..1500usize, ready in 2..=8u32, vectors in 1..=VECTORS) {
        let rng = &mut generator(seed);
        let mut dut = enabled();
        let mut table = Table::new();
        let mut accesses = Source::new("access_valid", "access_ready");
        // What a read returns, from the cycle in which it is taken.
        let mut asked: Option<u64> = None;
        let mut due = VecDeque::new();
        let (mut pending, mut sent, mut made) = (0u64, 0, 0);
        let (mut enable, mut function_mask, mut was_open) = (true, false, true);
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
            enable = drains || if enable { !rng.random_ratio(1, 100) } else { rng.random_ratio(1, 20) };
            function_mask = !drains && if function_mask { !rng.random_ratio(1, 20) } else { rng.random_ratio(1, 100) };
            dut.set("enable", enable.into());
            dut.set("function_mask", function_mask.into());
            if !drains && asked.is_none() && accesses.is_free() && rng.random_ratio(1, 6) {
                accesses.offer(access(rng, vectors));
            }
            accesses.drive(&mut dut, set_access);
            stall(&mut dut, rng, "write_ready", if drains { 8 } else { ready });
            dut.settle();
            sent += dut.get("sent");
            prop_assert_eq!(dut.get("pending"), pending);
            prop_assert_eq!(dut.is("word_valid").then(|| dut.get("word_data")), asked.take());
            prop_assert!(!dut.is("word_unsupported"));
            if dut.moves("write_valid", "write_ready") {
                expect(&mut due, &HostWrite::at(&dut, "write_header", "write_data"), "message");
            }
            if let Some(access) = accesses.taken(&dut) {
                if access.write {
                    table.write(&access);
                } else {
                    asked = Some(if access.offset as u64 == PENDING_OFFSET { pending } else { table.word(access.offset) });
                }
            }
            dut.clock();
            dut.settle();
            let now = dut.get("pending");
            let cleared = pending & !now;
            prop_assert!(cleared.count_ones() <= 1);
            if cleared != 0 {
                let entry = table.entry(cleared.trailing_zeros() as usize);
                prop_assert!(!entry.masked, "a masked vector sends");
                // The vector was chosen in the cycle before.
                prop_assert!(was_open, "a vector sends while MSI-X is off or masked");
                due.push_back(message(entry));
                made += 1;
            }
            was_open = enable && !function_mask;
            let set = raised.iter().fold(0, |bits, vector| bits | 1 << vector);
            prop_assert_eq!(now, pending & !cleared | set);
            pending = now;
        }
        prop_assert_eq!(due, VecDeque::new());
        prop_assert_eq!(sent, made);
        for vector in 0..VECTORS {
            prop_assert!(table.entry(vector).masked || pending >> vector & 1 == 0, "vector {} waits although nothing holds it", vector);
        }
    }
}

#[test]
fn a_vector_is_masked_until_it_is_written_and_then_sends_once() {
    let mut dut = enabled();
    raise(&mut dut, 63);
    raise(&mut dut, 63);
    assert_eq!(messages(&mut dut, 20), vec![]);
    assert_eq!(dut.get("pending"), 1 << 63);
    let masked = VectorEntry {
        masked: true,
        ..OPEN
    };
    configure(&mut dut, 63, masked);
    assert_eq!(messages(&mut dut, 20), vec![]);
    configure(&mut dut, 63, OPEN);
    assert_eq!(messages(&mut dut, 20), vec![message(OPEN)]);
    dut.settle();
    assert_eq!(dut.get("pending"), 0);
}

/// PCIe may take no write for a long time, because its credits are used up. The host's writes are taken all the same.
#[test]
fn accesses_do_not_wait_for_a_message_that_is_not_taken() {
    let mut dut = enabled();
    configure(&mut dut, 1, OPEN);
    configure(&mut dut, 2, OPEN);
    dut.set("write_ready", 0);
    raise(&mut dut, 1);
    raise(&mut dut, 2);
    for _ in 0..20 {
        dut.clock();
    }
    let masked = VectorEntry {
        masked: true,
        ..OPEN
    };
    configure(&mut dut, 2, masked);
    assert_eq!(messages(&mut dut, 20), vec![message(OPEN)]);
    dut.settle();
    assert_eq!(dut.get("pending"), 1 << 2);
}

/// A second raise at any time either merges, before the pending bit is cleared, or gives a message of its own after that. It is never lost.
#[test]
fn a_raise_while_its_vector_is_sending_is_not_lost() {
    let mut counts = vec![];
    for gap in 0..CLOCKS + 2 {
        let mut dut = enabled();
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
    let mut dut = enabled();
    configure(&mut dut, 17, OPEN);
    raise(&mut dut, 17);
    for clock in 1..=CLOCKS {
        dut.settle();
        assert_eq!(dut.is("write_valid"), clock == CLOCKS, "clock {clock}");
        dut.clock();
    }
}
