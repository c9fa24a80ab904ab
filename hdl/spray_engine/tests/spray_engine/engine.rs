//! The Verilated engine.

use std::sync::OnceLock;

use hdl_spray_engine::entropy_lookup::{self, Reflected};
use hdl_spray_engine::SprayEngine;
use rust_hdl::prelude::*;
use sim_verilated::{Library, Model, PortId};
use stellar_transport::spray::{EvIndex, Path};
use stellar_wire::hw::pack::{to_words, Record};
use stellar_wire::hw::spray::{EntropyProfileEntry, SprayConfig, SprayRequest, SprayResponse};
use stellar_wire::mrc::Entropy;

/// log2 of the number of queue pairs.
pub const Q: usize = 2;

fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let mut block = SprayEngine::<Q>::default();
        block.connect_all();
        let design = hdl_verilog::emit(&block).expect("spray_engine elaborates");
        design
            .model()
            .for_short_run()
            .build()
            .expect("spray_engine verilates")
    })
}

/// Response of the engine.
#[derive(Clone, Copy, Debug)]
pub struct Response {
    pub found: bool,
    pub index: u8,
    pub entropy: u32,
    pub usable: u64,
}

impl Response {
    pub fn path(self) -> Option<Path> {
        self.found.then(|| {
            let index = EvIndex::new(self.index).expect("an index");
            Path {
                index,
                plane: index.plane(),
                entropy: Entropy(self.entropy),
            }
        })
    }
}

pub struct Engine {
    model: Model,
    clock: PortId,
    request_valid: PortId,
    ready: PortId,
    response_valid: PortId,
    /// Cycles of the last operation up to its last response.
    pub took: usize,
    /// Cycles between consecutive responses of the last operation.
    pub gaps: Vec<usize>,
}

impl Engine {
    /// Creates an engine after reset.
    pub fn new() -> Self {
        let model = library().instantiate();
        let port = |name: &str| model.port(name).expect("port");
        let mut engine = Self {
            clock: port("clock"),
            request_valid: port("request_valid"),
            ready: port("request_ready"),
            response_valid: port("response_valid"),
            took: 0,
            gaps: vec![],
            model,
        };
        engine.set("reset", &[1]);
        engine.model.clock(engine.clock);
        engine.set("reset", &[0]);
        engine
    }

    fn set(&mut self, port: &str, words: &[u32]) {
        let port = self.model.port(port).expect("port");
        self.model.set(port, words);
    }

    pub fn write_profile(&mut self, number: usize, entry: EntropyProfileEntry) {
        self.set("profile_index", &[number as u32]);
        self.set("profile", &to_words(entry));
        self.set("profile_valid", &[1]);
        self.model.clock(self.clock);
        self.set("profile_valid", &[0]);
    }

    /// Sets the registers for the next request.
    pub fn set_settings(&mut self, settings: SprayConfig) {
        self.set("settings", &to_words(settings));
    }

    /// Runs a cycle in which no response may come.
    pub fn idle_clock(&mut self) {
        self.model.clock(self.clock);
        let response = self.model.get_u64(self.response_valid);
        assert_eq!(response, 0, "a response without a request");
    }

    /// Returns the plane of an entropy value, if the queue pair has it.
    pub fn look_up(&mut self, reflected: Reflected) -> Option<u8> {
        let entropy = reflected.entropy.to_u64();
        self.set("reflected", &to_words(reflected));
        self.set("reflected_valid", &[1]);
        let get = |engine: &Self, port: &str| engine.model.port(port).expect("port");
        let known = get(self, "known");
        for _ in 0..entropy_lookup::LATENCY {
            self.model.eval();
            assert_eq!(self.model.get_u64(known), 0, "an answer before its time");
            self.model.clock(self.clock);
            self.set("reflected_valid", &[0]);
            self.set("reflected", &[u32::MAX; 2]);
        }
        let found = self.model.get_u64(known) != 0;
        let value = self.model.get_words(get(self, "known_value")).to_vec();
        let plane = self.model.get_u64(get(self, "known_plane")) as u8;
        if found {
            let value = Record::<Reflected>::new(&value).u64("entropy");
            assert_eq!(value, entropy, "the value");
        }
        self.model.clock(self.clock);
        assert_eq!(self.model.get_u64(known), 0, "one answer");
        found.then_some(plane)
    }

    /// Executes a request. Returns its responses: `count` of them, or fewer if the last one found nothing. Bit p of `up`: port p is up.
    pub fn call(&mut self, request: SprayRequest, up: u32, count: usize) -> Vec<Response> {
        self.set("plane_up", &[up]);
        self.set("request", &to_words(request));
        self.model.set_u64(self.request_valid, 1);
        self.model.eval();
        assert_eq!(self.model.get_u64(self.ready), 1, "the engine is idle");
        self.model.clock(self.clock);
        self.model.set_u64(self.request_valid, 0);
        // The request port is ignored while the request is executed.
        self.set("request", &[u32::MAX; 4]);
        self.set("settings", &[u32::MAX; 4]);
        self.set("plane_up", &[!up & 3]);
        self.took = 1;
        self.gaps.clear();
        let mut responses = vec![self.response(&request)];
        while responses.len() < count && responses.last().is_some_and(|last| last.found) {
            let before = self.took;
            self.clock_at_work();
            responses.push(self.response(&request));
            self.gaps.push(self.took - before);
        }
        assert_eq!(self.model.get_u64(self.ready), 0, "ready with the response");
        self.idle_clock();
        responses
    }

    fn clock_at_work(&mut self) {
        assert_eq!(self.model.get_u64(self.ready), 0, "ready, but not done yet");
        self.model.clock(self.clock);
        self.took += 1;
    }

    /// Waits for the next response.
    fn response(&mut self, request: &SprayRequest) -> Response {
        let asked = self.took;
        while self.model.get_u64(self.response_valid) == 0 {
            assert!(self.took < asked + 32, "no response to {request:?}");
            self.clock_at_work();
        }
        let port = self.model.port("response").expect("port");
        let mut words = vec![0; SprayResponse::BITS.div_ceil(32)];
        self.model.get(port, &mut words);
        let record = Record::<SprayResponse>::new(&words);
        Response {
            found: record.bool("found"),
            index: record.u64("index") as u8,
            entropy: record.u64("entropy") as u32,
            usable: record.u64("usable"),
        }
    }
}
