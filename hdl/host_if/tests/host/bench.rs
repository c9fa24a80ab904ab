//! A Verilated block with ports by name, and streams that start and stall at random.

use std::collections::VecDeque;

use hdl_verilog::emit;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use sim_verilated::{Library, Model};
use stellar_wire::hw::dma::WriteTlpHeader;
use stellar_wire::hw::pack::{to_words, Record};

/// Builds the Verilated model of `block`.
pub fn library<B: Block>(mut block: B) -> Library {
    block.connect_all();
    emit(&block)
        .unwrap()
        .model()
        .for_short_run()
        .build()
        .unwrap()
}

/// The generator of a test case.
pub fn generator(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// One instance, reset.
pub struct Bench(Model);

impl Bench {
    pub fn new(library: &Library) -> Self {
        let mut bench = Self(library.instantiate());
        bench.set("reset", 1);
        bench.clock();
        bench.clock();
        bench.set("reset", 0);
        bench.settle();
        bench
    }

    pub fn set(&mut self, port: &str, value: u64) {
        let id = self.0.port(port).unwrap();
        self.0.set_u64(id, value);
    }

    pub fn set_record<T: Synth>(&mut self, port: &str, value: T) {
        let id = self.0.port(port).unwrap();
        self.0.set(id, &to_words(value));
    }

    pub fn get(&self, port: &str) -> u64 {
        self.0.get_u64(self.0.port(port).unwrap())
    }

    pub fn is(&self, port: &str) -> bool {
        self.get(port) != 0
    }

    pub fn words(&self, port: &str) -> Vec<u32> {
        let id = self.0.port(port).unwrap();
        self.0.get_words(id).to_vec()
    }

    /// Outputs depend on the inputs of this cycle.
    pub fn settle(&mut self) {
        self.set("clock", 0);
        self.0.eval();
    }

    pub fn clock(&mut self) {
        let clock = self.0.port("clock").unwrap();
        self.0.clock(clock);
    }

    /// Valid and ready are both high in this cycle.
    pub fn moves(&self, valid: &str, ready: &str) -> bool {
        self.is(valid) && self.is(ready)
    }

    /// The write at `header` and `data`. It must consist of whole double words, be untranslated, and be zero behind its end.
    pub fn write(&self, header: &str, data: &str) -> HostWrite {
        let words = self.words(header);
        let record = Record::<WriteTlpHeader>::new(&words);
        let dwords = record.u64("length_dw") as usize;
        assert_eq!(record.u64("at"), 0);
        assert_eq!(record.u64("first_be"), 15);
        assert_eq!(record.u64("last_be"), if dwords == 1 { 0 } else { 15 });
        let payload = self.words(data);
        assert!(payload[dwords..].iter().all(|&word| word == 0));
        HostWrite {
            address: record.u64("address_dw") << 2,
            bytes: payload[..dwords]
                .iter()
                .flat_map(|word| word.to_le_bytes())
                .collect(),
        }
    }
}

/// A memory write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostWrite {
    pub address: u64,
    pub bytes: Vec<u8>,
}

/// The sending end of a stream: an item stays valid until it is accepted.
pub struct Source<T> {
    valid: &'static str,
    ready: &'static str,
    waiting: Option<T>,
}

impl<T: Clone> Source<T> {
    pub fn new(valid: &'static str, ready: &'static str) -> Self {
        Self {
            valid,
            ready,
            waiting: None,
        }
    }

    pub fn is_free(&self) -> bool {
        self.waiting.is_none()
    }

    /// Makes `item` valid from this cycle on.
    pub fn offer(&mut self, item: T) {
        assert!(self.waiting.is_none(), "{}: an item waits", self.valid);
        self.waiting = Some(item);
    }

    /// Drives the ports; `set` drives those of the item.
    pub fn drive(&self, bench: &mut Bench, set: impl FnOnce(&mut Bench, &T)) {
        bench.set(self.valid, self.waiting.is_some().into());
        if let Some(item) = &self.waiting {
            set(bench, item);
        }
    }

    /// The item that is accepted at the end of this cycle.
    pub fn taken(&mut self, bench: &Bench) -> Option<T> {
        if bench.is(self.ready) {
            self.waiting.take()
        } else {
            None
        }
    }
}

/// Lets a stream be active in `of` of 8 cycles.
pub fn stall(bench: &mut Bench, rng: &mut ChaCha8Rng, ready: &str, of: u32) {
    bench.set(ready, rng.random_ratio(of, 8).into());
}

/// The output must be the next expected one.
pub fn expect<T: PartialEq + std::fmt::Debug>(due: &mut VecDeque<T>, came: &T, what: &str) {
    match due.pop_front() {
        Some(expected) => assert_eq!(*came, expected, "{what}"),
        None => panic!("{what}: {came:?} came unexpectedly"),
    }
}
