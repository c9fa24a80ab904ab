//! Expected effects of entries, consumer indices and arming: the reference's ring, with its reader.

use std::collections::VecDeque;

use hdl_host_if::ring::INDEX_BITS;
use hdl_testkit::stream::expect;
use hdl_testkit::Dut;
use rand::Rng;
use rust_hdl::prelude::*;
use stellar_transport::requester::PhaseRing;
use stellar_wire::hw::host_queues::RingConfig;

use crate::bench::HostWrite;

/// Registers of a ring, as plain numbers.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub valid: bool,
    pub interrupts: bool,
    pub vector: u8,
    pub log2_entries: u8,
    pub base: u64,
    /// Of a completion queue.
    pub event_queue: u16,
}

impl Settings {
    pub fn random(rng: &mut impl Rng, longest: u8) -> Self {
        Self {
            valid: rng.random_ratio(7, 8),
            interrupts: rng.random_ratio(3, 4),
            vector: rng.random_range(0..64),
            log2_entries: rng.random_range(0..=longest),
            base: rng.random::<u64>() & !31,
            event_queue: rng.random_range(0..64),
        }
    }

    pub fn to_hw(self) -> RingConfig {
        RingConfig {
            valid: self.valid,
            interrupts: self.interrupts,
            vector: u64::from(self.vector).to_bits(),
            log2_entries: u64::from(self.log2_entries).to_bits(),
            base: self.base.to_bits(),
            event_queue: u64::from(self.event_queue).to_bits(),
        }
    }
}

/// The reference's ring with its reader: the expected effects of entries and consumer indices.
pub struct Ring {
    settings: Settings,
    ring: PhaseRing<()>,
    produced: u32,
    consumer: u32,
    armed: bool,
    /// It lost an entry, and takes no more.
    overrun: bool,
}

impl Ring {
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            ring: PhaseRing::new(1 << settings.log2_entries),
            produced: 0,
            consumer: 0,
            armed: false,
            overrun: false,
        }
    }

    /// Whether this part of the ring or more is in use: 2 is half of it, 4 is a quarter. An empty ring has room.
    pub fn uses_part(&self, part: u32) -> bool {
        let entries = 1 << self.settings.log2_entries;
        self.produced - self.consumer >= u32::max(entries / part, 1)
    }

    /// An entry was lost: the ring takes no more. Returns whether it is the first.
    pub fn overrun(&mut self) -> bool {
        !std::mem::replace(&mut self.overrun, true)
    }

    /// Adds an entry: its address and phase, and the vector it raises. `None` if it is lost.
    pub fn push(&mut self, entry_bytes: u64) -> Option<(u64, bool, Option<u8>)> {
        let mut phase = None;
        if !self.settings.valid || self.overrun || !self.ring.push(|made| phase = Some(made)) {
            return None;
        }
        let place = u64::from(self.produced) % (1 << self.settings.log2_entries);
        self.produced += 1;
        let raises = std::mem::take(&mut self.armed) && self.settings.interrupts;
        let address = self.settings.base.wrapping_add(place * entry_bytes);
        Some((address, phase?, raises.then_some(self.settings.vector)))
    }

    /// The reader writes its index. Returns whether the index is valid, and the vector raised at once.
    pub fn consume(&mut self, index: u32, arm: bool) -> (bool, Option<u8>) {
        let modulus = 1 << INDEX_BITS;
        let step = index.wrapping_sub(self.consumer) % modulus;
        if step > self.produced - self.consumer {
            return (false, None);
        }
        for _ in 0..step {
            self.ring.pop().expect("an entry that was counted");
        }
        self.consumer += step;
        if !arm || !self.settings.interrupts {
            return (true, None);
        }
        self.armed = self.consumer == self.produced;
        let raises = !self.armed || self.overrun;
        (true, raises.then_some(self.settings.vector))
    }

    /// A random index of the reader: mostly a valid one, within what it may have read.
    pub fn index(&self, rng: &mut impl Rng) -> u32 {
        match rng.random_range(0..8) {
            0 => rng.random_range(0..1 << INDEX_BITS),
            1 => self.consumer.wrapping_sub(1) % (1 << INDEX_BITS),
            2 => self.produced + 1,
            _ => rng.random_range(self.consumer..=self.produced),
        }
    }
}

/// The expected outputs, and the progress of the outputs.
#[derive(Default)]
pub struct Due {
    pub writes: VecDeque<HostWrite>,
    /// Vector, and the number of writes that must have been accepted before it.
    raises: VecDeque<(u8, usize)>,
    made: usize,
    taken: usize,
    /// Bytes of the blocks in which entries join each other; 0 if none do.
    block: u64,
    last: Option<HostWrite>,
}

impl Due {
    /// Of entries that join each other in blocks of this many bytes.
    pub fn in_blocks(block: u64) -> Self {
        Self {
            block,
            ..Self::default()
        }
    }

    pub fn write(&mut self, write: HostWrite, raises: Option<u8>) {
        self.writes.push_back(write);
        self.made += 1;
        self.raise(raises);
    }

    pub fn raise(&mut self, vector: Option<u8>) {
        self.raises.extend(vector.map(|vector| (vector, self.made)));
    }

    /// Checks the outputs of this cycle. A raise comes in a cycle after its write.
    pub fn follow(&mut self, dut: &Dut) {
        if dut.is("raise_valid") {
            let raise = self.raises.pop_front().expect("an interrupt is due");
            assert_eq!(dut.get("raise_vector"), u64::from(raise.0));
            assert!(self.taken >= raise.1, "the interrupt overtakes its entry");
        }
        if dut.moves("write_valid", "write_ready") {
            let write = HostWrite::at(dut, "write_header", "write_data");
            expect(&mut self.writes, &write, "entry");
            self.taken += 1;
            let length = write.bytes.len() as u64;
            let follows = |last: &HostWrite| last.address + length == write.address;
            let joins = self.block > 0
                && !write.address.is_multiple_of(self.block)
                && self.last.as_ref().is_some_and(follows);
            assert_eq!(dut.is("write_joins"), joins, "{write:?}");
            self.last = Some(write);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.writes.is_empty() && self.raises.is_empty()
    }
}
