//! Parameters of a run, and its measurements.

use crate::read::completer::{Cut, Fault};

/// Behaviour of the environment. Probabilities are in eighths per cycle.
#[derive(Clone, Debug)]
pub struct Load {
    pub seed: u64,
    pub mrrs_code: u64,
    pub cut: Cut,
    pub command: u32,
    pub request: u32,
    pub completion: u32,
    pub out: u32,
    /// Cycles from a request to its first completion, minimum and maximum.
    pub latency: (u64, u64),
    /// Requests are answered one after the other, in order.
    pub in_order: bool,
    /// One request in this number has one of these faults.
    pub faults: Vec<Fault>,
    pub one_in: u32,
    pub timeout: u64,
    /// The timeout is about as long as an answer takes: any command may fail, and the counters may have any value.
    pub races: bool,
}

impl Load {
    /// Everything at full speed, completions of 256 bytes, no faults.
    pub fn full_speed() -> Self {
        Self {
            seed: 1,
            mrrs_code: 2,
            cut: Cut {
                rcb: 64,
                largest: 256,
                random: false,
            },
            command: 8,
            request: 8,
            completion: 8,
            out: 8,
            latency: (1, 1),
            in_order: true,
            faults: vec![],
            one_in: 1,
            timeout: 0,
            races: false,
        }
    }
}

/// Times of events, in cycles.
#[derive(Default, Debug)]
pub struct Report {
    pub requests: Vec<u64>,
    pub completion_beats: Vec<u64>,
    pub out_beats: Vec<u64>,
    pub commands: Vec<u64>,
}
