//! Congestion samples of the card.

use std::collections::BTreeMap;

use sim_bfm::Field;
use sim_world::CongestionState;
use stellar_transport::time::Ticks;
use stellar_wire::hw::congestion::CongestionSample;

/// Congestion state of every queue pair at its latest SACK.
pub struct Windows {
    qp: Field<CongestionSample>,
    cwnd: Field<CongestionSample>,
    in_flight: Field<CongestionSample>,
    rtt_valid: Field<CongestionSample>,
    rtt: Field<CongestionSample>,
    latest: BTreeMap<u32, CongestionState>,
}

impl Windows {
    /// The state before any SACK.
    pub fn new() -> Self {
        Self {
            qp: Field::new("qp"),
            cwnd: Field::new("cwnd"),
            in_flight: Field::new("in_flight"),
            rtt_valid: Field::new("rtt_valid"),
            rtt: Field::new("rtt"),
            latest: BTreeMap::new(),
        }
    }

    /// Adds a sample of one cycle.
    pub fn see(&mut self, words: &[u32]) {
        let state = self.latest.entry(self.qp.get(words) as u32).or_default();
        state.cwnd = self.cwnd.get(words) as u32;
        state.in_flight = self.in_flight.get(words) as u32;
        if self.rtt_valid.get(words) == 1 {
            state.rtt = Some(self.rtt.get(words) * Ticks::PICOSECONDS);
        }
    }

    /// State of a queue pair.
    pub fn of(&self, qp: u32) -> Option<CongestionState> {
        self.latest.get(&qp).copied()
    }

    /// State of the queue pair with the lowest number.
    pub fn first(&self) -> Option<CongestionState> {
        self.latest.values().next().copied()
    }

    /// Removes all samples.
    pub fn clear(&mut self) {
        self.latest.clear();
    }
}
