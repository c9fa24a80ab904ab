//! The device under test.

use std::cell::RefCell;
use std::collections::HashMap;

use rust_hdl::prelude::{Block, Synth};
use sim_verilated::{Library, Model, PortId};
use stellar_wire::hw::pack::to_words;

use crate::library::library;

/// An instance of a block's Verilated model, driven by the names of its ports. Inputs start at zero.
pub struct Dut {
    model: Model,
    /// Ports that were used, by name: the model itself looks through its whole list.
    ports: RefCell<HashMap<String, PortId>>,
}

impl Dut {
    /// An instance of the shared model of `B`.
    pub fn new<B: Block + Default + 'static>() -> Self {
        Self::of(library::<B>())
    }

    /// An instance of this model.
    pub fn of(library: &Library) -> Self {
        Self {
            model: library.instantiate(),
            ports: RefCell::default(),
        }
    }

    /// Returns the model, for accesses that do not use port names.
    pub fn model(&mut self) -> &mut Model {
        &mut self.model
    }

    /// Holds `reset` for this many cycles.
    pub fn reset(&mut self, cycles: usize) {
        self.set("reset", 1);
        for _ in 0..cycles {
            self.clock();
        }
        self.set("reset", 0);
    }

    /// Returns the port `name`.
    ///
    /// # Panics
    /// If the block does not have this port.
    pub fn port(&self, name: &str) -> PortId {
        let mut ports = self.ports.borrow_mut();
        if let Some(&port) = ports.get(name) {
            return port;
        }
        let port = self.model.port(name).unwrap_or_else(|e| panic!("{e}"));
        ports.insert(name.to_owned(), port);
        port
    }

    /// Sets an input of at most 64 bits, or the low bits of a wider one and zeros above.
    pub fn set(&mut self, port: &str, value: u64) {
        self.model.set_u64(self.port(port), value);
    }

    /// Sets an input from 32-bit words, lowest first, and zeros above.
    pub fn set_words(&mut self, port: &str, words: &[u32]) {
        self.model.set(self.port(port), words);
    }

    /// Sets an input from bytes, lowest first, and zeros above.
    pub fn set_bytes(&mut self, port: &str, bytes: &[u8]) {
        let words = bytes.chunks(4).map(|chunk| {
            let bytes = chunk.iter().rev();
            bytes.fold(0, |word, byte| word << 8 | u32::from(*byte))
        });
        self.set_words(port, &words.collect::<Vec<u32>>());
    }

    /// Sets an input of a record's type.
    pub fn set_record<T: Synth>(&mut self, port: &str, value: T) {
        self.set_words(port, &to_words(value));
    }

    /// Offers a packed record on a stream, or nothing.
    pub fn offer(&mut self, valid: &str, data: &str, words: Option<&[u32]>) {
        self.set(valid, words.is_some().into());
        if let Some(words) = words {
            self.set_words(data, words);
        }
    }

    /// The value of a port, or its low 64 bits.
    pub fn get(&self, port: &str) -> u64 {
        self.model.get_u64(self.port(port))
    }

    /// Whether a port is other than zero.
    pub fn is(&self, port: &str) -> bool {
        self.get(port) != 0
    }

    /// Whether a stream moves in this cycle.
    pub fn moves(&self, valid: &str, ready: &str) -> bool {
        self.is(valid) && self.is(ready)
    }

    /// The value of a port as 32-bit words, lowest first.
    pub fn words(&self, port: &str) -> Vec<u32> {
        self.model.get_words(self.port(port)).to_vec()
    }

    /// The value of a port as bytes of whole words, lowest first.
    pub fn bytes(&self, port: &str) -> Vec<u8> {
        let words = self.words(port).into_iter();
        words.flat_map(u32::to_le_bytes).collect()
    }

    /// Lowers the clock. Outputs then follow the inputs of this cycle.
    pub fn settle(&mut self) {
        self.set("clock", 0);
        self.model.eval();
    }

    /// Settles the outputs for the present inputs, without a change of the clock.
    pub fn eval(&mut self) {
        self.model.eval();
    }

    /// Runs one clock cycle: the clock is low with the present inputs, then it rises.
    pub fn clock(&mut self) {
        let clock = self.port("clock");
        self.model.clock(clock);
    }
}
