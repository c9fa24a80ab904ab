//! Feeds operations to a Verilated responder and collects its outputs.

use std::ops::Range;

use hdl_responder::Responder;
use hdl_testkit::Dut;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stellar_wire::config::{RECEIVE_WINDOW, SMALLEST_RECEIVE_WINDOW, SMALL_RECEIVE_WINDOW};
use stellar_wire::hw::messages::Completion;
use stellar_wire::hw::pack::Record;
use stellar_wire::hw::requester::TxAnswer;

/// Four queue pairs that share 512 entries: the tools need minutes for memories of 1,024.
pub type SmallResponder = Responder<2, 8, 9, 9>;
/// The same with windows of [`SMALL_RECEIVE_WINDOW`] packets.
pub type NarrowResponder = Responder<2, 8, 9, 7>;
/// And with windows of [`SMALLEST_RECEIVE_WINDOW`].
pub type SmallestResponder = Responder<2, 8, 9, 5>;
/// Entries of the stash that most tests let a queue pair use.
pub const SLOTS: u16 = 8;
/// Maximum number of entries of a queue pair.
pub const MOST: u16 = 256;
/// The entries of each queue pair. One of them has all that one can have.
pub const PARTS: [Range<u16>; 4] = [256..512, 0..128, 192..256, 128..192];
/// Queue pair numbers: their low two bits are their row.
pub const QPS: [u32; 4] = [0x2a8, 0x155, 0x002, 0x3ff];
/// Cycles after which an operation without an answer is certainly through.
const IDLE_CYCLES: u32 = 200;

/// The inputs of the block, in this order.
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
    Visit {
        qp: u32,
        port: u8,
        forgets: bool,
    },
    /// Told once everything before it is through.
    Good {
        qp: u32,
        plane: u8,
        entropy: u32,
    },
    /// The ports that can send.
    Planes(u8),
    /// It becomes this time, once everything before is through.
    Now(u32),
}

/// The outputs, or the expected outputs.
#[derive(Debug, Default, PartialEq)]
pub struct Outputs {
    pub answers: Vec<Vec<(&'static str, u64)>>,
    pub completions: Vec<Vec<(&'static str, u64)>>,
    /// Queue pair and count.
    pub thresholds: Vec<(u64, u64)>,
    pub failed: Vec<u64>,
    /// The values of the counters [`COUNTERS`].
    pub counters: [u64; 6],
}

pub const COUNTERS: [&str; 6] = [
    "pulses_answered_ack",
    "pulses_answered_nak",
    "pulses_answered_sack",
    "pulses_answered_nack",
    "pulses_wimm_exceeded",
    "pulses_ignored",
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

/// A responder with models of the blocks that it is connected to.
pub struct Bench {
    dut: Dut,
    pub outputs: Outputs,
    pub clocks: u64,
    rng: ChaCha8Rng,
    /// Each receiver accepts in this number of 8 cycles.
    eagerness: u32,
}

impl Bench {
    /// Makes a bench. `seed` and `eagerness` (1 to 8) determine when receivers are ready.
    pub fn new(seed: u64, eagerness: u32) -> Self {
        Self::with_window(RECEIVE_WINDOW, seed, eagerness)
    }

    /// With a window of this many packets.
    pub fn with_window(window: u32, seed: u64, eagerness: u32) -> Self {
        let mut bench = Self {
            dut: match window {
                RECEIVE_WINDOW => Dut::new::<SmallResponder>(),
                SMALL_RECEIVE_WINDOW => Dut::new::<NarrowResponder>(),
                SMALLEST_RECEIVE_WINDOW => Dut::new::<SmallestResponder>(),
                _ => panic!("no responder with a window of {window} packets"),
            },
            outputs: Outputs::default(),
            clocks: 0,
            rng: ChaCha8Rng::seed_from_u64(seed),
            eagerness,
        };
        bench.reset();
        bench
    }

    /// Runs one cycle of reset, with both ports up. Earlier outputs are forgotten. The memories keep their contents.
    pub fn reset(&mut self) {
        self.dut.set("plane_up", 3);
        self.dut.set("now", 0);
        self.dut.reset(1);
        self.outputs = Outputs::default();
    }

    /// Runs one cycle and collects the outputs of ports whose receiver is ready. Returns which of `readies` were high.
    fn clock(&mut self, readies: &[&str]) -> Vec<bool> {
        let takes = [
            "answer_ready",
            "completion_ready",
            "threshold_ready",
            "failed_ready",
        ];
        let [answer, completion, threshold, failed] = takes.map(|ready| {
            let takes = self.rng.random_ratio(self.eagerness, 8);
            self.dut.set(ready, takes.into());
            takes
        });
        let (dut, outputs) = (&mut self.dut, &mut self.outputs);
        dut.eval();
        let were_ready = readies.iter().map(|ready| dut.is(ready)).collect();
        if answer && dut.is("answer_valid") {
            outputs.answers.push(answer_fields(&dut.words("answer")));
        }
        if completion && dut.is("completion_valid") {
            let fields = completion_fields(&dut.words("completion"));
            outputs.completions.push(fields);
        }
        if threshold && dut.is("threshold_valid") {
            let reached = (dut.get("threshold_qp"), dut.get("threshold_count"));
            outputs.thresholds.push(reached);
        }
        if failed && dut.is("failed_valid") {
            outputs.failed.push(dut.get("failed_qp"));
        }
        for (total, port) in outputs.counters.iter_mut().zip(COUNTERS) {
            *total += dut.get(port);
        }
        dut.clock();
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
        self.idle(IDLE_CYCLES * 8 / self.eagerness);
    }

    /// Sets up the port of a stimulus that has a handshake; its `valid` and `ready`.
    fn present(&mut self, stimulus: &Stimulus) -> (&'static str, &'static str) {
        let dut = &mut self.dut;
        let (valid, ready) = match stimulus {
            Stimulus::Outcome(words) => {
                dut.set_words("outcome", words);
                ("outcome_valid", "outcome_ready")
            }
            Stimulus::Configure { qp, settings } => {
                dut.set("settings_qp", u64::from(*qp));
                dut.set_words("settings", settings);
                ("settings_valid", "settings_ready")
            }
            Stimulus::Arm { qp, threshold } => {
                dut.set("arm_qp", u64::from(*qp));
                dut.set("arm_threshold", u64::from(*threshold));
                ("arm_valid", "arm_ready")
            }
            Stimulus::Visit { qp, port, forgets } => {
                dut.set("visit_forgets", u64::from(*forgets));
                dut.set("visit_qp", u64::from(*qp));
                dut.set("visit_port", u64::from(*port));
                ("visit_valid", "visit_ready")
            }
            Stimulus::Good { .. } | Stimulus::Planes(_) | Stimulus::Now(_) => {
                panic!("{stimulus:?} has no handshake")
            }
        };
        dut.set(valid, 1);
        (valid, ready)
    }

    /// Offers all of these at once until each is accepted. Their ports are different.
    pub fn offer(&mut self, stimuli: &[Stimulus]) {
        let mut offered: Vec<_> = stimuli.iter().map(|s| self.present(s)).collect();
        let mut waited = 0;
        while !offered.is_empty() {
            let readies: Vec<&str> = offered.iter().map(|port| port.1).collect();
            let taken = self.clock(&readies);
            for (&(valid, _), _) in offered.iter().zip(&taken).filter(|(_, taken)| **taken) {
                self.dut.set(valid, 0);
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
                self.dut.set("plane_up", u64::from(*up));
            }
            Stimulus::Now(now) => {
                self.drain();
                self.dut.set("now", u64::from(*now));
                self.idle(1);
            }
            _ => self.offer(std::slice::from_ref(stimulus)),
        }
    }

    /// Sets the known-good entropy value that the requester reports in the next cycles.
    pub fn set_good(&mut self, good: Option<(u32, u8, u32)>) {
        let (qp, plane, entropy) = good.unwrap_or_default();
        self.dut.set("good_valid", u64::from(good.is_some()));
        self.dut.set("good_qp", u64::from(qp));
        self.dut.set("good_plane", u64::from(plane));
        self.dut.set("good_entropy", u64::from(entropy));
    }
}
