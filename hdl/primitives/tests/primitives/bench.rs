//! A Verilated model with ports by name.
use hdl_verilog::emit;
use rust_hdl::prelude::*;
use sim_verilated::{Library, Model};

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

/// One instance, driven by port names.
pub struct Bench(Model);

impl Bench {
    pub fn new(library: &Library) -> Self {
        Bench(library.instantiate())
    }

    pub fn set(&mut self, port: &str, value: u64) {
        let id = self.0.port(port).unwrap();
        self.0.set_u64(id, value);
    }

    /// Little-endian bytes; a port wider than `bytes` gets zeros above.
    pub fn set_bytes(&mut self, port: &str, bytes: &[u8]) {
        let words: Vec<u32> = bytes
            .chunks(4)
            .map(|chunk| {
                chunk
                    .iter()
                    .rev()
                    .fold(0, |word, byte| word << 8 | u32::from(*byte))
            })
            .collect();
        let id = self.0.port(port).unwrap();
        self.0.set(id, &words);
    }

    pub fn get(&self, port: &str) -> u64 {
        self.0.get_u64(self.0.port(port).unwrap())
    }

    pub fn get_bytes(&self, port: &str) -> Vec<u8> {
        let id = self.0.port(port).unwrap();
        self.0
            .get_words(id)
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect()
    }

    /// Lowers the clock and settles the outputs that depend on inputs of this clock.
    pub fn settle(&mut self) {
        self.set("clock", 0);
        self.0.eval();
    }

    pub fn clock(&mut self) {
        let clock = self.0.port("clock").unwrap();
        self.0.clock(clock);
    }
}
