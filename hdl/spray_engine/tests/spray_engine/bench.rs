//! The Verilated engine and, beside it, the reference of every queue pair.

use std::sync::{Arc, OnceLock};

use hdl_spray_engine::spray_engine::{clocks, SprayEngine};
use rust_hdl::prelude::*;
use sim_verilated::{Library, Model, PortId};
use stellar_transport::spray::{
    EntropyProfile, EvIndex, EvState, Feedback, GeneratedEntropy, HeaderFields, Path, PlaneMask,
    Policy, SkipScope, Spray, SprayConfig,
};
use stellar_transport::time::Ticks;
use stellar_wire::hw::pack::{to_words, Record};
use stellar_wire::hw::spray::{self, SprayOp, SprayRequest, SprayResponse};
use stellar_wire::mrc::Entropy;

/// Queue pairs of the small engine, as log2.
pub const Q: usize = 2;

fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let mut block = SprayEngine::<Q>::default();
        block.connect_all();
        let design = hdl_verilog::emit(&block).expect("spray_engine elaborates");
        design.model().build().expect("spray_engine verilates")
    })
}

/// Registers of a queue pair, with the number of its profile.
#[derive(Clone, Copy, Debug)]
pub struct Registers {
    pub policy: Policy,
    pub paths: u8,
    pub seed: u32,
    pub profile: usize,
    pub rotation: u8,
    pub skip: SkipScope,
    pub probe_interval: u32,
}

struct Pair {
    registers: Registers,
    spray: Spray,
}

pub struct Bench {
    model: Model,
    clock: PortId,
    request_valid: PortId,
    ready: PortId,
    response_valid: PortId,
    profiles: Vec<Arc<EntropyProfile>>,
    pairs: Vec<Option<Pair>>,
    planes_up: PlaneMask,
    pub now: Ticks,
    /// Clocks of the last operation.
    pub took: usize,
}

impl Bench {
    /// An engine after reset that has `profiles`, and both ports up.
    pub fn new(profiles: &[GeneratedEntropy]) -> Self {
        let model = library().instantiate();
        let port = |name: &str| model.port(name).expect("port");
        let mut bench = Self {
            clock: port("clock"),
            request_valid: port("request_valid"),
            ready: port("request_ready"),
            response_valid: port("response_valid"),
            profiles: vec![],
            pairs: (0..1 << Q).map(|_| None).collect(),
            planes_up: PlaneMask::NONE,
            now: Ticks(0xffff_f000),
            took: 0,
            model,
        };
        bench.set("reset", &[1]);
        bench.model.clock(bench.clock);
        bench.set("reset", &[0]);
        for (number, profile) in profiles.iter().enumerate() {
            let entry = spray::EntropyProfileEntry {
                base: u64::from(profile.base).to_bits(),
                stride_log2: u64::from(profile.stride_log2).to_bits(),
                active: u64::from(profile.active).to_bits(),
                backups: u64::from(profile.backups).to_bits(),
            };
            bench.set("profile_index", &[number as u32]);
            bench.set("profile", &to_words(entry));
            bench.set("profile_valid", &[1]);
            bench.model.clock(bench.clock);
            let fields = HeaderFields::SourcePortAndFlowLabel;
            let profile = EntropyProfile::generated(*profile, fields).expect("a usual profile");
            bench.profiles.push(Arc::new(profile));
        }
        bench.set("profile_valid", &[0]);
        for plane in [0, 1] {
            bench.set_plane(plane, true);
        }
        bench
    }

    fn set(&mut self, port: &str, words: &[u32]) {
        let port = self.model.port(port).expect("port");
        self.model.set(port, words);
    }

    /// A clock in which no response may come.
    fn idle_clock(&mut self) {
        self.model.clock(self.clock);
        let response = self.model.get_u64(self.response_valid);
        assert_eq!(response, 0, "a response without a request");
    }

    /// Clocks without a request.
    pub fn wait(&mut self, clocks: usize) {
        for _ in 0..clocks {
            self.idle_clock();
        }
    }

    fn call(&mut self, request: SprayRequest) -> Vec<u32> {
        self.set("request", &to_words(request));
        self.model.set_u64(self.request_valid, 1);
        self.model.eval();
        assert_eq!(self.model.get_u64(self.ready), 1, "the engine is idle");
        self.model.clock(self.clock);
        self.model.set_u64(self.request_valid, 0);
        // What the request's wires do meanwhile is nobody's business.
        self.set("request", &[u32::MAX; 4]);
        self.set("settings", &[u32::MAX; 4]);
        self.set("plane_up", &[0]);
        self.took = 1;
        while self.model.get_u64(self.response_valid) == 0 {
            assert_eq!(
                self.model.get_u64(self.ready),
                0,
                "ready, but no response yet"
            );
            assert!(self.took < 32, "no response to {request:?}");
            self.model.clock(self.clock);
            self.took += 1;
        }
        let port = self.model.port("response").expect("port");
        let mut words = vec![0; SprayResponse::BITS.div_ceil(32)];
        self.model.get(port, &mut words);
        self.idle_clock();
        self.set_ports();
        words
    }

    fn set_ports(&mut self) {
        let up = [0, 1].map(|plane| u32::from(self.planes_up.contains(plane)));
        self.set("plane_up", &[up[0] | up[1] << 1]);
    }

    /// Asks about a queue pair, in the time there is for it; whether something was found, and the response.
    fn ask(&mut self, qp: usize, request: SprayRequest) -> (bool, Vec<u32>) {
        let words = self.call(SprayRequest {
            qp: (qp as u64).to_bits(),
            ..request
        });
        let limit = match request.op {
            SprayOp::Choose => clocks::CHOOSE_IN_NEW_ROTATION,
            _ => clocks::OTHER,
        };
        assert!(self.took <= limit, "{} clocks for {request:?}", self.took);
        (Record::<SprayResponse>::new(&words).bool("found"), words)
    }

    fn check_usable(&self, qp: usize, words: &[u32]) {
        let pair = self.pairs[qp].as_ref().expect("configured");
        let expected = [0, 1].map(|plane| u64::from(usable(pair, plane)));
        let found = Record::<SprayResponse>::new(words).u64("usable");
        assert_eq!(found, expected[0] | expected[1] << 1, "usable planes");
    }

    fn pair(&mut self, qp: usize) -> &mut Pair {
        self.pairs[qp].as_mut().expect("configured")
    }

    pub fn configured(&self, qp: usize) -> bool {
        self.pairs[qp].is_some()
    }

    pub fn set_plane(&mut self, plane: u8, up: bool) {
        self.planes_up = self.planes_up.with(plane, up);
        for pair in self.pairs.iter_mut().flatten() {
            pair.spray.set_plane(plane, up);
        }
        self.set_ports();
    }

    pub fn configure(&mut self, qp: usize, registers: Registers) {
        let settings = spray::SprayConfig {
            policy: match registers.policy {
                Policy::SinglePath => spray::SprayPolicy::SinglePath,
                Policy::RoundRobin => spray::SprayPolicy::RoundRobin,
                Policy::Obs => spray::SprayPolicy::Obs,
                Policy::EvState => spray::SprayPolicy::EvState,
            },
            paths: u64::from(registers.paths).to_bits(),
            seed: u64::from(registers.seed).to_bits(),
            profile: (registers.profile as u64).to_bits(),
            rotation: u64::from(registers.rotation).to_bits(),
            skip_next_turn: registers.skip == SkipScope::NextTurn,
            probe_interval: u64::from(registers.probe_interval).to_bits(),
        };
        self.set("settings", &to_words(settings));
        let spray = Spray::new(SprayConfig {
            policy: registers.policy,
            paths: registers.paths,
            planes_up: self.planes_up,
            seed: registers.seed,
            profile: self.profiles[registers.profile].clone(),
            rotation: registers.rotation,
            skip: registers.skip,
            probe_interval: Ticks(registers.probe_interval),
        })
        .expect("a configuration that works");
        self.pairs[qp] = Some(Pair { registers, spray });
        let (found, words) = self.ask(qp, request(SprayOp::Configure));
        assert!(!found);
        self.check_usable(qp, &words);
    }

    /// The path of a packet; its index, if there is one.
    pub fn choose(&mut self, qp: usize, plane: u8, avoid: Option<u8>) -> Option<u8> {
        let (found, words) = self.ask(
            qp,
            SprayRequest {
                plane: plane == 1,
                avoid_valid: avoid.is_some(),
                avoid: u64::from(avoid.unwrap_or(0x55)).to_bits(),
                ..request(SprayOp::Choose)
            },
        );
        let avoid = avoid.and_then(EvIndex::new);
        let expected = self.pair(qp).spray.choose(avoid, PlaneMask::only(plane));
        let response = Record::<SprayResponse>::new(&words);
        let path = found.then(|| {
            let index = EvIndex::new(response.u64("index") as u8).expect("an index");
            Path {
                index,
                plane: index.plane(),
                entropy: Entropy(response.u64("entropy") as u32),
            }
        });
        assert_eq!(path, expected);
        self.check_usable(qp, &words);
        path.map(|path| path.index.value())
    }

    pub fn feedback(&mut self, qp: usize, index: u8, feedback: Feedback) {
        let (found, words) = self.ask(
            qp,
            SprayRequest {
                index: u64::from(index).to_bits(),
                feedback: feedback_record(feedback),
                ..request(SprayOp::Feedback)
            },
        );
        assert!(!found);
        if let Some(index) = EvIndex::new(index) {
            self.pair(qp).spray.on_feedback(index, feedback);
        }
        self.check_usable(qp, &words);
    }

    pub fn reflect(&mut self, qp: usize, entropy: u32, feedback: Feedback) {
        let (found, words) = self.ask(
            qp,
            SprayRequest {
                entropy: u64::from(entropy).to_bits(),
                feedback: feedback_record(feedback),
                ..request(SprayOp::Reflect)
            },
        );
        let spray = &mut self.pair(qp).spray;
        let expected = spray.index_of(Entropy(entropy));
        if let Some(index) = expected {
            spray.on_feedback(index, feedback);
        }
        let index = Record::<SprayResponse>::new(&words).u64("index") as u8;
        let index = found.then_some(index);
        assert_eq!(index, expected.map(EvIndex::value));
        self.check_usable(qp, &words);
    }

    /// The value to probe after `passed` more ticks, if one is due.
    pub fn probe(&mut self, qp: usize, passed: u32) -> Option<u8> {
        self.now = self.now.plus(Ticks(passed));
        let now = self.now;
        let (found, words) = self.ask(
            qp,
            SprayRequest {
                now: u64::from(now.0).to_bits(),
                ..request(SprayOp::Probe)
            },
        );
        let spray = &mut self.pair(qp).spray;
        let due = spray.probe_due(now);
        let expected = due.map(|index| {
            let entropy = spray.entropy(index).expect("a value of the queue pair");
            (index.value(), entropy.0)
        });
        let response = Record::<SprayResponse>::new(&words);
        let probe = found.then(|| (response.u64("index") as u8, response.u64("entropy") as u32));
        assert_eq!(probe, expected);
        self.check_usable(qp, &words);
        probe.map(|(index, _)| index)
    }

    pub fn deny(&mut self, qp: usize, index: u8) {
        self.software(qp, index, SprayOp::Deny, Spray::deny);
    }

    pub fn allow(&mut self, qp: usize, index: u8) {
        self.software(qp, index, SprayOp::Allow, Spray::allow);
    }

    fn software(&mut self, qp: usize, index: u8, op: SprayOp, act: fn(&mut Spray, EvIndex)) {
        let (found, words) = self.ask(
            qp,
            SprayRequest {
                index: u64::from(index).to_bits(),
                ..request(op)
            },
        );
        assert!(!found);
        if let Some(index) = EvIndex::new(index) {
            act(&mut self.pair(qp).spray, index);
        }
        self.check_usable(qp, &words);
    }

    pub fn query(&mut self, qp: usize) {
        let (found, words) = self.ask(qp, request(SprayOp::Query));
        assert!(!found);
        self.check_usable(qp, &words);
    }

    /// The entropy value of an index, of the profile if the queue pair has none.
    pub fn entropy(&self, qp: usize, index: u8) -> u32 {
        let pair = self.pairs[qp].as_ref().expect("configured");
        let profile = &self.profiles[pair.registers.profile];
        EvIndex::new(index)
            .and_then(|index| profile.entropy(index, pair.registers.rotation))
            .map_or(u32::from(index), |entropy| entropy.0)
    }
}

fn request(op: SprayOp) -> SprayRequest {
    SprayRequest {
        op,
        feedback: spray::SprayFeedback::Timeout,
        ..SprayRequest::default()
    }
}

/// What `MrcRequester::plane_usable` says.
fn usable(pair: &Pair, plane: u8) -> bool {
    let good = |index: EvIndex| {
        index.plane() == plane
            && matches!(pair.spray.state(index), Some(EvState::Good | EvState::Skip))
    };
    pair.registers.policy != Policy::SinglePath
        && pair.spray.planes_up().contains(plane)
        && (0..=u8::MAX).map_while(EvIndex::new).any(good)
}

fn feedback_record(feedback: Feedback) -> spray::SprayFeedback {
    match feedback {
        Feedback::Good => spray::SprayFeedback::Good,
        Feedback::Skip => spray::SprayFeedback::Skip,
        Feedback::Timeout => spray::SprayFeedback::Timeout,
        Feedback::AlwaysSkip => spray::SprayFeedback::AlwaysSkip,
        Feedback::ProbeAnswered => spray::SprayFeedback::ProbeAnswered,
    }
}
