//! When a queue marks congestion.

use serde::{Deserialize, Serialize};

/// Thresholds of ECN marking in the manner of RED (Floyd and Jacobson 1993), on the instantaneous depth of the data
/// queue that a frame finds or leaves behind, in bytes: never below `min_bytes`, always from `max_bytes` on, in between with a
/// probability that grows linearly from 0 to `max_probability`. DCQCN's Kmin, Kmax and Pmax are these three.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EcnThresholds {
    /// Below this depth no frame is marked.
    pub min_bytes: u64,
    /// From this depth on every frame is marked. If it equals `min_bytes`, the function is a step, as in DCTCP.
    pub max_bytes: u64,
    /// Probability just below `max_bytes`, 0 to 1.
    pub max_probability: f64,
    /// A frame is marked when it leaves, by what is behind it, in place of when it comes, by what is in front of it. Then a mark is not as old as the queue is long.
    #[serde(default)]
    pub at_departure: bool,
}

impl EcnThresholds {
    /// Probability that a frame which finds `depth` bytes waiting is marked.
    pub fn probability(&self, depth: u64) -> f64 {
        if depth >= self.max_bytes {
            1.0
        } else if depth <= self.min_bytes {
            0.0
        } else {
            let span = (self.max_bytes - self.min_bytes) as f64;
            self.max_probability * (depth - self.min_bytes) as f64 / span
        }
    }
}
