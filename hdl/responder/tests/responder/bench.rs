//! Feeds operations to a Verilated responder and collects what comes out of it.

use std::sync::OnceLock;

use hdl_responder::Responder;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use sim_verilated::{Library, Model, PortId};
use stellar_wire::hw::messages::Completion;
use stellar_wire::hw::pack::Record;
use stellar_wire::hw::requester::TxAnswer;

/// Four queue pairs with 8 slots each: the tools need minutes for memories of 1,024.
pub type SmallResponder = Responder<2, 3, 5, 7>;
/// Slots of a stash.
pub const SLOTS: u16 = 8;
/// Queue pair numbers: their low two bits are their row.
pub const QPS: [u32; 4] = [0x2a8, 0x155, 0x002, 0x3ff];
/// Cycles after which an operation without an answer is certainly through.
const QUIET: u32 = 200;

pub fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let mut block = SmallResponder::default();
        block.connect_all();
        let design = hdl_verilog::emit(&block).expect("responder elaborates");
        design
            .model()
            .for_short_run()
            .build()
            .expect("responder verilates")
    })
}

/// What is done to the block, in this order.
#[derive(Clone, Debug)]
pub enum Stimulus {
    Outcome(Vec<u32>),
    Configure {
        qp: u32,
        settings: Vec<u32>,
    },
    Arm {
        qp: u32,
        threshold: u32,
    },
    /// Told once everything before it is through.
    Good {
        qp: u32,
        plane: u8,
        entropy: u32,
    },
    /// As before: which ports can send.
    Planes(u8),
}

/// What came out, or should have.
#[derive(Debug, Default, PartialEq)]
pub struct Outputs {
    pub answers: Vec<Vec<(&'static str, u64)>>,
    pub completions: Vec<Vec<(&'static str, u64)>>,
    /// Queue pair and count.
    pub thresholds: Vec<(u64, u64)>,
    pub failed: Vec<u64>,
    /// Of the counters [`COUNTERS`].
    pub counters: [u64; 6],
}

pub const COUNTERS: [&str; 6] = [
    "answered_ack",
    "answered_nak",
    "answered_sack",
    "answered_nack",
    "wimm_exceeded",
    "ignored",
];

const SACK: u64 = stellar_wire::Opcode::MrcSack.code() as u64;
const NACK: u64 = stellar_wire::Opcode::MrcNack.code() as u64;

/// The fields that an answer has by its opcode.
pub fn answer_fields(words: &[u32]) -> Vec<(&'static str, u64)> {
    let record = Record::<TxAnswer>::new(words);
    let names: &[&str] = match record.u64("opcode") {
        SACK => &[
            "reflected",
            "seth.path_hint",
            "seth.probe_response",
            "seth.ack_psn_offset",
            "seth.cack_psn",
            "seth.mpr",
            "seth.sack_offset",
            "seth.bitmap",
            "cc_state.timestamp",
            "cc_state.ooo_count",
            "cc_state.restore_cwnd",
            "cc_state.rcv_cwnd_pen",
            "cc_state.rcvd_bytes",
        ],
        NACK => &[
            "reflected",
            "neth.reason",
            "neth.vendor_info",
            "neth.nack_psn",
            "neth.timestamp",
        ],
        _ => &["aeth.syndrome", "aeth.msn"],
    };
    ["qp", "port", "opcode", "psn", "entropy"]
        .iter()
        .chain(names)
        .map(|&name| (name, record.u64(name)))
        .collect()
}

/// All fields of a completion.
pub fn completion_fields(words: &[u32]) -> Vec<(&'static str, u64)> {
    let record = Record::<Completion>::new(words);
    [
        "qp",
        "status",
        "opcode",
        "wr_id",
        "byte_len",
        "immediate",
        "msn",
        "sq_head",
    ]
    .map(|name| (name, record.u64(name)))
    .to_vec()
}

struct Ports {
    clock: PortId,
    reset: PortId,
    plane_up: PortId,
    outcome: [PortId; 3],
    config: [PortId; 4],
    arm: [PortId; 4],
    good: [PortId; 4],
    answer: [PortId; 3],
    completion: [PortId; 3],
    threshold: [PortId; 4],
    failed: [PortId; 3],
    counters: [PortId; 6],
}

impl Ports {
    fn of(model: &Model) -> Self {
        let port = |name: &str| model.port(name).expect("port");
        Self {
            clock: port("clock"),
            reset: port("reset"),
            plane_up: port("plane_up"),
            outcome: ["outcome_valid", "outcome", "outcome_ready"].map(port),
            config: ["config_valid", "config_qp", "settings", "config_ready"].map(port),
            arm: ["arm_valid", "arm_qp", "arm_threshold", "arm_ready"].map(port),
            good: ["good_valid", "good_qp", "good_plane", "good_entropy"].map(port),
            answer: ["answer_valid", "answer", "answer_ready"].map(port),
            completion: ["completion_valid", "completion", "completion_ready"].map(port),
            threshold: [
                "threshold_valid",
                "threshold_qp",
                "threshold_count",
                "threshold_ready",
            ]
            .map(port),
            failed: ["failed_valid", "failed_qp", "failed_ready"].map(port),
            counters: COUNTERS.map(port),
        }
    }
}

/// A responder with whoever stands around it.
pub struct Bench {
    model: Model,
    ports: Ports,
    pub outputs: Outputs,
    pub clocks: u64,
    rng: ChaCha8Rng,
    /// Of 8 cycles, in how many each receiver takes.
    eagerness: u32,
}

impl Bench {
    /// `seed` and `eagerness` (1 to 8) say when receivers take.
    pub fn new(seed: u64, eagerness: u32) -> Self {
        let model = library().instantiate();
        let mut bench = Self {
            ports: Ports::of(&model),
            model,
            outputs: Outputs::default(),
            clocks: 0,
            rng: ChaCha8Rng::seed_from_u64(seed),
            eagerness,
        };
        bench.reset();
        bench
    }

    /// One cycle of reset, with both ports up. What came out before is forgotten, what the memories hold is not.
    pub fn reset(&mut self) {
        self.model.set_u64(self.ports.plane_up, 3);
        self.model.set_u64(self.ports.reset, 1);
        self.model.clock(self.ports.clock);
        self.model.set_u64(self.ports.reset, 0);
        self.outputs = Outputs::default();
    }

    fn high(&self, port: PortId) -> bool {
        self.model.get_u64(port) != 0
    }

    /// One cycle: what is offered to the receivers that take is collected. Returns which of `readies` were high.
    fn clock(&mut self, readies: &[PortId]) -> Vec<bool> {
        let [answer, completion, threshold, failed] = [0; 4].map(|_| {
            let takes = self.rng.random_ratio(self.eagerness, 8);
            u64::from(takes)
        });
        self.model.set_u64(self.ports.answer[2], answer);
        self.model.set_u64(self.ports.completion[2], completion);
        self.model.set_u64(self.ports.threshold[3], threshold);
        self.model.set_u64(self.ports.failed[2], failed);
        self.model.eval();
        let were_ready = readies.iter().map(|&port| self.high(port)).collect();
        let words = |port| self.model.get_words(port).to_vec();
        if answer != 0 && self.high(self.ports.answer[0]) {
            let fields = answer_fields(&words(self.ports.answer[1]));
            self.outputs.answers.push(fields);
        }
        if completion != 0 && self.high(self.ports.completion[0]) {
            let fields = completion_fields(&words(self.ports.completion[1]));
            self.outputs.completions.push(fields);
        }
        let number = |port| self.model.get_u64(port);
        if threshold != 0 && self.high(self.ports.threshold[0]) {
            let [_, qp, count, _] = self.ports.threshold;
            self.outputs.thresholds.push((number(qp), number(count)));
        }
        if failed != 0 && self.high(self.ports.failed[0]) {
            self.outputs.failed.push(number(self.ports.failed[1]));
        }
        for (total, port) in self.outputs.counters.iter_mut().zip(self.ports.counters) {
            *total += self.model.get_u64(port);
        }
        self.model.clock(self.ports.clock);
        self.clocks += 1;
        were_ready
    }

    /// Lets `count` cycles pass.
    pub fn idle(&mut self, count: u32) {
        for _ in 0..count {
            self.clock(&[]);
        }
    }

    /// Lets everything come out.
    pub fn drain(&mut self) {
        self.idle(QUIET * 8 / self.eagerness);
    }

    /// Sets up the port of a stimulus that has a handshake; its `valid` and `ready`.
    fn present(&mut self, stimulus: &Stimulus) -> (PortId, PortId) {
        let (valid, ready) = match stimulus {
            Stimulus::Outcome(words) => {
                let [valid, data, ready] = self.ports.outcome;
                self.model.set(data, words);
                (valid, ready)
            }
            Stimulus::Configure { qp, settings } => {
                let [valid, number, data, ready] = self.ports.config;
                self.model.set_u64(number, u64::from(*qp));
                self.model.set(data, settings);
                (valid, ready)
            }
            Stimulus::Arm { qp, threshold } => {
                let [valid, number, data, ready] = self.ports.arm;
                self.model.set_u64(number, u64::from(*qp));
                self.model.set_u64(data, u64::from(*threshold));
                (valid, ready)
            }
            Stimulus::Good { .. } | Stimulus::Planes(_) => panic!("{stimulus:?} has no handshake"),
        };
        self.model.set_u64(valid, 1);
        (valid, ready)
    }

    /// Offers all of these at once, until each is taken; their ports differ.
    pub fn offer(&mut self, stimuli: &[Stimulus]) {
        let mut offered: Vec<_> = stimuli.iter().map(|s| self.present(s)).collect();
        let mut waited = 0;
        while !offered.is_empty() {
            let readies: Vec<PortId> = offered.iter().map(|port| port.1).collect();
            let taken = self.clock(&readies);
            for (&(valid, _), _) in offered.iter().zip(&taken).filter(|(_, taken)| **taken) {
                self.model.set_u64(valid, 0);
            }
            let mut taken = taken.into_iter();
            offered.retain(|_| taken.next() == Some(false));
            waited += 1;
            assert!(waited < 5_000, "nothing is taken any more");
        }
    }

    /// Does one thing, until it is taken.
    pub fn apply(&mut self, stimulus: &Stimulus) {
        match stimulus {
            Stimulus::Good { qp, plane, entropy } => {
                self.drain();
                self.set_good(Some((*qp, *plane, *entropy)));
                self.idle(1);
                self.set_good(None);
            }
            Stimulus::Planes(up) => {
                self.drain();
                self.model.set_u64(self.ports.plane_up, u64::from(*up));
            }
            _ => self.offer(std::slice::from_ref(stimulus)),
        }
    }

    /// What the requester tells in the cycles to come.
    pub fn set_good(&mut self, good: Option<(u32, u8, u32)>) {
        let [valid, number, plane, value] = self.ports.good;
        self.model.set_u64(valid, u64::from(good.is_some()));
        let (qp, which, entropy) = good.unwrap_or_default();
        self.model.set_u64(number, u64::from(qp));
        self.model.set_u64(plane, u64::from(which));
        self.model.set_u64(value, u64::from(entropy));
    }
}
