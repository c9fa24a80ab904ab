//! The Verilated engine.

use hdl_spray_engine::entropy_lookup::{self, Reflected};
use hdl_spray_engine::SprayEngine;
use hdl_testkit::Dut;
use stellar_transport::spray::{EvIndex, Path};
use stellar_wire::config::ProfileRows;
use stellar_wire::hw::pack::Record;
use stellar_wire::hw::spray::{SprayConfig, SprayOp, SprayRequest, SprayResponse};
use stellar_wire::mrc::Entropy;
use stellar_wire::rows::WindowChange;

/// log2 of the number of queue pairs.
pub const Q: usize = 2;
/// log2 of so many that their rows come a cycle later.
const DEEP: usize = 15;

/// Response of the engine.
#[derive(Clone, Copy, Debug)]
pub struct Response {
    pub found: bool,
    pub index: u8,
    pub entropy: u32,
    pub usable: u64,
    /// Software denies a value.
    pub denies: bool,
    /// No data may be sent until this time.
    pub held_until: Option<u32>,
    /// Lost packets are sent again meanwhile.
    pub drains: bool,
    pub window: WindowChange,
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
    dut: Dut,
    /// Cycles that a row comes later than with few queue pairs. They are not counted in `took`.
    later: usize,
    /// Cycles of the last operation up to its last response.
    pub took: usize,
    /// Cycles between consecutive responses of the last operation.
    pub gaps: Vec<usize>,
}

impl Engine {
    /// Creates an engine after reset.
    pub fn new() -> Self {
        Self::of(Dut::new::<SprayEngine<Q>>(), 0)
    }

    /// Creates an engine for many queue pairs.
    pub fn deep() -> Self {
        Self::of(Dut::new::<SprayEngine<DEEP>>(), 1)
    }

    fn of(mut dut: Dut, later: usize) -> Self {
        dut.reset(1);
        Self {
            dut,
            later,
            took: 0,
            gaps: vec![],
        }
    }

    pub fn write_profile(&mut self, number: u8, rows: &ProfileRows) {
        self.dut.set("profile_index", number.into());
        self.dut.set_record("profile", rows.profile.to_hw());
        self.dut.set("profile_valid", 1);
        self.dut.clock();
        self.dut.set("profile_valid", 0);
        for (place, row) in rows.values_of(number) {
            self.dut.set("values_row", place.into());
            self.dut.set_record("values", row.to_hw());
            self.dut.set("values_valid", 1);
            self.dut.clock();
        }
        self.dut.set("values_valid", 0);
    }

    /// Sets the registers for the next request.
    pub fn set_settings(&mut self, settings: SprayConfig) {
        self.dut.set_record("settings", settings);
    }

    /// Runs a cycle in which no response may come.
    pub fn idle_clock(&mut self) {
        self.dut.clock();
        let response = self.dut.get("response_valid");
        assert_eq!(response, 0, "a response without a request");
    }

    /// Returns the index of an entropy value, if the queue pair has it.
    pub fn look_up(&mut self, reflected: Reflected) -> Option<u8> {
        let (entropy, marked) = (reflected.entropy.to_u64(), reflected.marked);
        self.dut.set_record("reflected", reflected);
        self.dut.set("reflected_valid", 1);
        for _ in 0..entropy_lookup::LATENCY {
            self.dut.eval();
            assert_eq!(self.dut.get("known"), 0, "an answer before its time");
            self.dut.clock();
            self.dut.set("reflected_valid", 0);
            self.dut.set_words("reflected", &[u32::MAX; 2]);
        }
        let found = self.dut.get("known") != 0;
        let value = self.dut.words("known_value");
        let index = self.dut.get("known_index") as u8;
        if found {
            let value = Record::<Reflected>::new(&value);
            assert_eq!(value.u64("entropy"), entropy, "the value");
            assert_eq!(value.bool("marked"), marked, "its mark");
        }
        self.dut.clock();
        assert_eq!(self.dut.get("known"), 0, "one answer");
        found.then_some(index)
    }

    /// Executes a request. Returns its responses: `count` of them, or fewer if the last one found nothing. Bit p of `up`: port p is up.
    pub fn call(&mut self, request: SprayRequest, up: u32, count: usize) -> Vec<Response> {
        self.dut.set("plane_up", up.into());
        self.dut.set_record("request", request);
        self.dut.set("request_valid", 1);
        self.dut.eval();
        assert_eq!(self.dut.get("request_ready"), 1, "the engine is idle");
        self.dut.clock();
        self.dut.set("request_valid", 0);
        // The request port is ignored while the request is executed.
        self.dut.set_words("request", &[u32::MAX; 4]);
        self.dut.set_words("settings", &[u32::MAX; 4]);
        self.dut.set("plane_up", (!up & 3).into());
        self.took = 1;
        if request.op != SprayOp::Configure {
            (0..self.later).for_each(|_| self.clock_at_work());
            self.took = 1;
        }
        self.gaps.clear();
        let mut responses = vec![self.response(&request)];
        while responses.len() < count && responses.last().is_some_and(|last| last.found) {
            let before = self.took;
            self.clock_at_work();
            responses.push(self.response(&request));
            self.gaps.push(self.took - before);
        }
        assert_eq!(self.dut.get("request_ready"), 0, "ready with the response");
        self.idle_clock();
        responses
    }

    fn clock_at_work(&mut self) {
        assert_eq!(self.dut.get("request_ready"), 0, "ready, but not done yet");
        self.dut.clock();
        self.took += 1;
    }

    /// Waits for the next response.
    fn response(&mut self, request: &SprayRequest) -> Response {
        let asked = self.took;
        while self.dut.get("response_valid") == 0 {
            assert!(self.took < asked + 40, "no response to {request:?}");
            self.clock_at_work();
        }
        let words = self.dut.words("response");
        let record = Record::<SprayResponse>::new(&words);
        Response {
            found: record.bool("found"),
            index: record.u64("index") as u8,
            entropy: record.u64("entropy") as u32,
            usable: record.u64("usable"),
            denies: record.bool("denies"),
            held_until: record.bool("held").then(|| record.u64("until") as u32),
            drains: record.bool("drains"),
            window: WindowChange::ALL[record.u64("window") as usize],
        }
    }
}
