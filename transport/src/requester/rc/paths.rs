//! The paths of an RC queue pair with a path policy: what the policy is told, and when it lets data leave (`docs/policies.md`, "Over RC").
//!
//! An ACK names no path and carries no mark. So one packet at a time is timed, a slow round trip stands for a mark, and probes and their answers are those of MRC.

use stellar_wire::mrc::{Entropy, Seth};
use stellar_wire::rows::slow_round_trip;

use crate::requester::packet::ProbedPath;
use crate::rx::Psn;
use crate::spray::{EvIndex, Feedback, PathAck, PlaneMask, Spray, SprayConfig, SprayError};
use crate::time::Ticks;

/// What a port may send.
pub(super) enum Turn {
    Nothing,
    Probe(ProbedPath),
    /// Data with this entropy value, which is that of a path of the policy or the queue pair's only one.
    Data(Entropy, Option<EvIndex>),
}

/// How it is told that packets have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// By the ACK of this packet.
    Arrived(Psn),
    /// By the NAK of the packet behind them, which was lost.
    Lost,
    /// By something else, which says nothing of the path.
    Nothing,
}

/// A packet whose acknowledgement tells a round trip.
#[derive(Clone, Copy, Debug)]
struct Timed {
    psn: Psn,
    entropy: Entropy,
    at: Ticks,
}

/// The paths of a queue pair.
#[derive(Clone, Debug)]
pub(super) struct RcPaths {
    spray: Spray,
    /// A longer round trip is that of a congested path.
    slow_rtt: u32,
    timed: Option<Timed>,
    /// The last round trip was that of a congested path.
    slow: bool,
    /// The policy lets no data leave before.
    held: Option<Ticks>,
    /// A probe that is due, until the port of its plane can take it.
    probe_waiting: Option<EvIndex>,
    /// Data packets by path; empty if they are not counted.
    loads: Box<[u64]>,
}

impl RcPaths {
    pub fn new(config: SprayConfig) -> Result<Self, SprayError> {
        Ok(Self {
            slow_rtt: slow_round_trip(config.base_rtt.0),
            spray: Spray::new(config)?,
            timed: None,
            slow: false,
            held: None,
            probe_waiting: None,
            loads: vec![0; EvIndex::ACTIVE + EvIndex::BACKUPS].into(),
        })
    }

    /// What `port` may send: a probe, or data unless the policy holds it back. `empty`: nothing is in flight. `goes_back`: what would leave was sent before.
    ///
    /// The policy's changes of the congestion window are not asked for: RC has none.
    pub fn turn(&mut self, port: u8, empty: bool, goes_back: bool, now: Ticks) -> Turn {
        self.held = self.spray.held_until(now);
        if self.held.is_some() && empty {
            self.spray.on_empty();
            self.held = self.spray.held_until(now);
        }
        if let Some(probe) = self.probe(port, now) {
            return Turn::Probe(probe);
        }
        if self.held.is_some() && !(goes_back && self.spray.resends_while_held()) {
            return Turn::Nothing;
        }
        match self.spray.choose(None, PlaneMask::only(port)) {
            Some(path) => Turn::Data(path.entropy, Some(path.index)),
            None => Turn::Nothing,
        }
    }

    /// The path to probe at `port` now.
    fn probe(&mut self, port: u8, now: Ticks) -> Option<ProbedPath> {
        let planes = self.spray.planes_up();
        self.probe_waiting = self
            .probe_waiting
            .filter(|index| planes.contains(index.plane()))
            .or_else(|| self.spray.probe_due(now));
        let index = self.probe_waiting.filter(|index| index.plane() == port)?;
        self.probe_waiting = None;
        Some(ProbedPath {
            index,
            entropy: self.spray.entropy(index)?,
            is_tail: false,
        })
    }

    /// Counts a data packet that leaves.
    pub fn left(&mut self, index: EvIndex) {
        if let Some(load) = self.loads.get_mut(usize::from(index.value())) {
            *load += 1;
        }
    }

    /// A new packet leaves that asks for an acknowledgement. It is timed, unless an earlier one is.
    pub fn time(&mut self, psn: Psn, entropy: Entropy, at: Ticks) {
        self.timed.get_or_insert(Timed { psn, entropy, at });
    }

    /// Packets are sent again, so the next acknowledgement is no sample.
    pub fn forget_time(&mut self) {
        self.timed = None;
    }

    /// `packets` are acknowledged: all before `una` of those before `next`.
    pub fn acknowledged(&mut self, una: Psn, next: Psn, packets: u32, told: Told, now: Ticks) {
        let timed = self.timed.filter(|timed| timed.psn.is_behind(una));
        if timed.is_some() {
            self.timed = None;
        }
        // If the acknowledgement of the packet itself was lost, the time is too long.
        let sample = timed.filter(|timed| told == Told::Arrived(timed.psn));
        let round_trip = sample.map(|timed| now.since(timed.at).0.min(u16::MAX.into()));
        if let Some(round_trip) = round_trip {
            self.slow = round_trip > self.slow_rtt;
        }
        let entropy = match sample {
            Some(timed) => Some(timed.entropy),
            None => self.spray.entropy(self.spray.home()),
        };
        let ack = PathAck {
            entropy: entropy.unwrap_or_default().0,
            hint: if self.slow || told == Told::Lost {
                Feedback::Skip
            } else {
                Feedback::Good
            },
            sampled: sample.is_some(),
            round_trip: round_trip.unwrap_or(0) as u16,
            packets: packets as u16,
            una,
            next_psn: next,
            // It counts packets, not bytes.
            in_flight: 0,
        };
        self.spray.on_ack(&ack, now);
    }

    /// A probe is answered, with this round trip.
    pub fn probe_answered(&mut self, seth: &Seth, round_trip: Ticks, now: Ticks) {
        let id = seth.ack_psn_offset as u16;
        self.spray
            .on_probe_answer(id, seth.path_hint, round_trip, now);
    }

    /// Nothing has arrived for the timeout.
    pub fn timed_out(&mut self, now: Ticks) {
        let home = self.spray.home();
        self.spray.on_feedback(home, Feedback::Timeout, now);
        self.slow = false;
    }

    /// The time has come at which the policy is asked again.
    pub fn on_timer(&mut self, now: Ticks) {
        self.held = self.held.filter(|&held| !now.reached(held));
    }

    /// The queue pair fails: nothing is due any more.
    pub fn end(&mut self) {
        self.held = None;
    }

    /// Until when the policy holds data back, as it told last.
    pub const fn held(&self) -> Option<Ticks> {
        self.held
    }

    pub fn set_plane(&mut self, plane: u8, up: bool) {
        self.spray.set_plane(plane, up);
    }

    pub fn omit_loads(&mut self) {
        self.loads = Box::default();
    }

    pub const fn loads(&self) -> &[u64] {
        &self.loads
    }
}
