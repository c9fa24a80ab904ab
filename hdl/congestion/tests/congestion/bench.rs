//! A Verilated engine, and the cycles of its requests.

use hdl_congestion::NsccEngine;
use hdl_testkit::Dut;
use rust_hdl::prelude::*;
use stellar_wire::hw::congestion::{
    CongestionSample, NsccConfig, NsccOp, NsccRequest, NsccResponse,
};
use stellar_wire::hw::pack::{to_words, Record};

/// Eight queue pairs.
pub type SmallEngine = NsccEngine<3>;
/// Cycles after which a response counts as missing.
const TIMEOUT_CYCLES: u32 = 100;

/// The engine, reset.
pub struct Bench {
    dut: Dut,
}

impl Bench {
    pub fn new() -> Self {
        let mut dut = Dut::new::<SmallEngine>();
        dut.reset(1);
        Self { dut }
    }

    /// Runs cycles without a request.
    pub fn idle(&mut self, cycles: u32) {
        for _ in 0..cycles {
            self.dut.eval();
            assert!(!self.dut.is("response_valid"), "a response to nobody");
            self.dut.clock();
        }
    }

    /// Executes a request. Returns the window, and the cycles from the request to the response.
    pub fn call(&mut self, request: NsccRequest, config: NsccConfig) -> (u32, u32) {
        self.dut.set_record("request", request);
        self.dut.set_record("settings", config);
        self.dut.set("request_valid", 1);
        self.dut.eval();
        assert!(
            self.dut.is("request_ready"),
            "the engine is free between calls"
        );
        assert!(
            !self.dut.is("response_valid"),
            "a response before the request"
        );
        self.dut.clock();
        // Inputs after the acceptance of the request must not matter.
        self.dut.set("request_valid", 0);
        self.dut.set_record("request", NsccRequest::default());
        self.dut.set_record("settings", NsccConfig::default());
        for cycles in 1..TIMEOUT_CYCLES {
            self.dut.eval();
            assert!(!self.dut.is("request_ready"), "ready during a call");
            let answered = self.dut.is("response_valid");
            let words = self.dut.words("response");
            let window = Record::<NsccResponse>::new(&words).u64("cwnd") as u32;
            self.check_sample(&request, answered, window);
            self.dut.clock();
            if answered {
                self.dut.eval();
                return (window, cycles);
            }
        }
        panic!("no response to {request:?} within {TIMEOUT_CYCLES} cycles");
    }

    /// Checks that a sample comes with the response to a SACK, and only then.
    fn check_sample(&self, request: &NsccRequest, answered: bool, window: u32) {
        let words = self.dut.words("sampled");
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
}
