//! A Verilated engine, and the cycles of its requests.

use std::sync::OnceLock;

use hdl_congestion::NsccEngine;
use rust_hdl::prelude::*;
use sim_verilated::{Library, Model, PortId};
use stellar_wire::hw::congestion::{
    CongestionSample, NsccConfig, NsccOp, NsccRequest, NsccResponse,
};
use stellar_wire::hw::pack::{to_words, Record};

/// Eight queue pairs.
pub type SmallEngine = NsccEngine<3>;
/// Cycles after which a response counts as missing.
const TIMEOUT_CYCLES: u32 = 100;

fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let mut block = SmallEngine::default();
        block.connect_all();
        let design = hdl_verilog::emit(&block).expect("nscc_engine elaborates");
        design
            .model()
            .for_short_run()
            .build()
            .expect("nscc_engine verilates")
    })
}

/// The engine, reset.
pub struct Bench {
    model: Model,
    clock: PortId,
}

impl Bench {
    pub fn new() -> Self {
        let mut model = library().instantiate();
        let clock = model.port("clock").expect("clock");
        let reset = model.port("reset").expect("reset");
        model.set_u64(reset, 1);
        model.clock(clock);
        model.set_u64(reset, 0);
        Self { model, clock }
    }

    fn flag(&self, name: &str) -> bool {
        self.model.get_u64(self.model.port(name).expect("port")) != 0
    }

    fn set<T: Synth>(&mut self, name: &str, value: T) {
        let port = self.model.port(name).expect("port");
        self.model.set(port, &to_words(value));
    }

    fn set_flag(&mut self, name: &str, value: bool) {
        let port = self.model.port(name).expect("port");
        self.model.set_u64(port, value.into());
    }

    /// Runs cycles without a request.
    pub fn idle(&mut self, cycles: u32) {
        for _ in 0..cycles {
            self.model.eval();
            assert!(!self.flag("response_valid"), "a response to nobody");
            self.model.clock(self.clock);
        }
    }

    /// Executes a request. Returns the window, and the cycles from the request to the response.
    pub fn call(&mut self, request: NsccRequest, config: NsccConfig) -> (u32, u32) {
        self.set("request", request);
        self.set("settings", config);
        self.set_flag("request_valid", true);
        self.model.eval();
        assert!(
            self.flag("request_ready"),
            "the engine is free between calls"
        );
        assert!(
            !self.flag("response_valid"),
            "a response before the request"
        );
        self.model.clock(self.clock);
        // Inputs after the acceptance of the request must not matter.
        self.set_flag("request_valid", false);
        self.set("request", NsccRequest::default());
        self.set("settings", NsccConfig::default());
        for cycles in 1..TIMEOUT_CYCLES {
            self.model.eval();
            assert!(!self.flag("request_ready"), "ready during a call");
            let answered = self.flag("response_valid");
            let words = self.words("response");
            let window = Record::<NsccResponse>::new(&words).u64("cwnd") as u32;
            self.check_sample(&request, answered, window);
            self.model.clock(self.clock);
            if answered {
                self.model.eval();
                return (window, cycles);
            }
        }
        panic!("no response to {request:?} within {TIMEOUT_CYCLES} cycles");
    }

    /// Checks that a sample comes with the response to a SACK, and only then.
    fn check_sample(&self, request: &NsccRequest, answered: bool, window: u32) {
        let words = self.words("sampled");
        let found = Record::<CongestionSample>::new(&words);
        let expected = answered && request.op == NsccOp::Ack && request.sample;
        assert_eq!(found.u64("valid"), u64::from(expected), "{request:?}");
        if expected {
            let sample = CongestionSample {
                valid: true,
                qp: request.qp,
                cwnd: u64::from(window).to_bits(),
                in_flight: request.in_flight,
                rtt_valid: request.rtt_valid,
                rtt: request.rtt,
            };
            assert_eq!(words, to_words(sample));
        }
    }

    fn words(&self, name: &str) -> Vec<u32> {
        let port = self.model.port(name).expect("port");
        let mut words = vec![0; self.model.width(port).div_ceil(32)];
        self.model.get(port, &mut words);
        words
    }
}
