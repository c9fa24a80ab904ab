//! The engine next to the reference of every queue pair.

use std::sync::Arc;

use hdl_spray_engine::cycles;
use hdl_spray_engine::entropy_lookup::Reflected;
use rust_hdl::prelude::*;
use stellar_transport::spray::{
    EntropyProfile, EvIndex, EvState, Feedback, PathAck, PlaneMask, Policy, SkipScope, Spray,
    SprayConfig,
};
use stellar_transport::time::Ticks;
use stellar_wire::hw::spray::{NamedBy, SprayOp, SprayRequest};
use stellar_wire::mrc::Entropy;
use stellar_wire::rows::RECYCLED_BITS;
use stellar_wire::Psn;

use crate::spray_engine::engine::{Engine, Response, Q};

/// Paths of a plane that are remembered to be taken again.
const RING: usize = 1 << RECYCLED_BITS;

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
    pub base_rtt: u32,
    pub bend_after: u8,
}

/// What an acknowledgement tells besides the entropy value.
#[derive(Clone, Copy, Debug)]
pub struct News {
    pub hint: Feedback,
    /// Packets that are acknowledged for the first time.
    pub packets: u16,
    /// Packets by which the first one that is not acknowledged moves on.
    pub advance: u16,
    /// Round trip in ticks, if there is one.
    pub round_trip: Option<u16>,
    /// Packets that were sent and are not acknowledged after that.
    pub ahead: u16,
}

impl From<Feedback> for News {
    /// One packet of ten.
    fn from(hint: Feedback) -> Self {
        Self {
            hint,
            packets: 1,
            advance: 1,
            round_trip: None,
            ahead: 9,
        }
    }
}

struct Pair {
    registers: Registers,
    spray: Spray,
    una: Psn,
}

pub struct Bench {
    engine: Engine,
    profiles: Vec<Arc<EntropyProfile>>,
    pairs: Vec<Option<Pair>>,
    planes_up: PlaneMask,
    pub now: Ticks,
}

impl Bench {
    /// Creates an engine with `profiles`, after reset, with both ports up.
    pub fn new(profiles: Vec<EntropyProfile>) -> Self {
        Self::of(Engine::new(), profiles)
    }

    /// The same of `engine`, which was reset.
    pub fn of(mut engine: Engine, profiles: Vec<EntropyProfile>) -> Self {
        for (number, profile) in (0..).zip(&profiles) {
            engine.write_profile(number, &profile.rows().expect("a key"));
        }
        Self {
            profiles: profiles.into_iter().map(Arc::new).collect(),
            pairs: (0..1 << Q).map(|_| None).collect(),
            planes_up: PlaneMask::BOTH,
            now: Ticks(0xffff_f000),
            engine,
        }
    }

    /// Returns the cycles of the last operation up to its last response.
    pub fn took(&self) -> usize {
        self.engine.took
    }

    /// Runs cycles without a request.
    pub fn wait(&mut self, cycles: usize) {
        for _ in 0..cycles {
            self.engine.idle_clock();
        }
    }

    /// Executes a request of a queue pair. Returns its responses, at most `count`.
    fn call(&mut self, qp: usize, request: SprayRequest, count: usize) -> Vec<Response> {
        let up = [0, 1].map(|plane| u32::from(self.planes_up.contains(plane)));
        let qp = (qp as u64).to_bits();
        self.engine
            .call(SprayRequest { qp, ..request }, up[0] | up[1] << 1, count)
    }

    /// Executes a request of a queue pair within its maximum time.
    fn ask(&mut self, qp: usize, request: SprayRequest) -> Response {
        let responses = self.call(qp, request, 1);
        let took = self.took();
        let most = cycles::OTHER.max(if request.op == SprayOp::Ack {
            cycles::HOP
        } else {
            0
        });
        assert!(took <= most, "{took} cycles for {request:?}");
        responses[0]
    }

    fn check_usable(&self, qp: usize, response: Response) {
        let pair = self.pairs[qp].as_ref().expect("configured");
        let expected = [0, 1].map(|plane| u64::from(usable(pair, plane)));
        assert_eq!(
            response.usable,
            expected[0] | expected[1] << 1,
            "usable planes"
        );
    }

    /// Checks that the last `Choose` was as fast as its policy allows, whatever rotations began in it.
    fn check_pace(&self, qp: usize, avoid: Option<u8>) {
        let registers = self.pairs[qp].as_ref().expect("configured").registers;
        let traits = registers.policy.traits();
        let renewal = match (traits.one_path, traits.permuted) {
            (true, _) => 0,
            (false, false) => 2,
            (false, true) => cycles::NEW_ROTATION,
        };
        let is_backup = |index: u8| index & 0xf0 == 0x80;
        let extra = if avoid.is_some_and(is_backup) {
            cycles::AVOID_BACKUP
        } else {
            0
        };
        let first = self.took() - extra - self.engine.gaps.iter().sum::<usize>();
        if traits.recycles {
            let most = cycles::choose(1, 1) + cycles::RECALL + RING;
            assert!(first <= most, "{first} cycles");
            // Paths that are forgotten come before those of the order.
            let most = cycles::FROM_RECYCLED + RING + renewal;
            assert!(self.engine.gaps.iter().all(|&gap| gap <= most));
            return;
        }
        assert!(first <= cycles::choose(1, 1), "{first} cycles");
        for &gap in &self.engine.gaps {
            assert!(gap == 1 || gap == 1 + renewal, "{gap} cycles to the next");
        }
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
    }

    pub fn configure(&mut self, qp: usize, registers: Registers) {
        let config = SprayConfig {
            policy: registers.policy,
            paths: registers.paths,
            planes_up: self.planes_up,
            seed: registers.seed,
            profile: self.profiles[registers.profile].clone(),
            rotation: registers.rotation,
            skip: registers.skip,
            probe_interval: Ticks(registers.probe_interval),
            base_rtt: Ticks(registers.base_rtt),
            bend_after: registers.bend_after,
        };
        self.engine
            .set_settings(config.row(registers.profile as u8).to_hw());
        let spray = Spray::new(config).expect("a configuration that works");
        self.pairs[qp] = Some(Pair {
            registers,
            spray,
            una: Psn::new(0xff_ff00),
        });
        let response = self.ask(qp, request(SprayOp::Configure));
        assert!(!response.found);
        self.check_usable(qp, response);
    }

    /// Chooses a path for one packet. Returns its index, if there is one.
    pub fn choose(&mut self, qp: usize, plane: u8, avoid: Option<u8>) -> Option<u8> {
        self.choose_burst(qp, plane, avoid, 1).pop()
    }

    /// Chooses paths for a burst. Returns their indices, up to the first packet that has no path.
    pub fn choose_burst(
        &mut self,
        qp: usize,
        plane: u8,
        avoid: Option<u8>,
        count: usize,
    ) -> Vec<u8> {
        let request = SprayRequest {
            plane: plane == 1,
            count: (count as u64).to_bits(),
            avoid_valid: avoid.is_some(),
            avoid: u64::from(avoid.unwrap_or(0x55)).to_bits(),
            ..request(SprayOp::Choose)
        };
        let responses = self.call(qp, request, count);
        self.check_pace(qp, avoid);
        let avoid = avoid.and_then(EvIndex::new);
        let mut indices = vec![];
        for &response in &responses {
            let expected = self.pair(qp).spray.choose(avoid, PlaneMask::only(plane));
            let registers = self.pair(qp).registers;
            assert_eq!(response.path(), expected, "{registers:?}");
            self.check_usable(qp, response);
            indices.extend(expected.map(|path| path.index.value()));
        }
        indices
    }

    /// Reports feedback after `passed` more ticks.
    pub fn feedback_after(&mut self, passed: u32, qp: usize, index: u8, feedback: Feedback) {
        self.now = self.now.plus(Ticks(passed));
        self.feedback(qp, index, feedback);
    }

    pub fn feedback(&mut self, qp: usize, index: u8, feedback: Feedback) {
        self.feedback_with(qp, index, feedback, 0);
    }

    /// Reports the answer to a probe, with its round trip in ticks.
    pub fn probe_answered(&mut self, qp: usize, index: u8, round_trip: u16) {
        self.feedback_with(qp, index, Feedback::ProbeAnswered, round_trip);
    }

    fn feedback_with(&mut self, qp: usize, index: u8, feedback: Feedback, round_trip: u16) {
        let now = self.now;
        // No packet has an index that is none. A policy that listens to all feedback does not look at it.
        let hears_all = self.pair(qp).registers.policy.traits().hears_all();
        if hears_all && EvIndex::new(index).is_none() {
            return;
        }
        // The path in use can be named as such.
        let is_home = self.has_one_path(qp) && index == self.home(qp) && now.0 & 1 == 1;
        let response = self.ask(
            qp,
            SprayRequest {
                named_by: if is_home {
                    NamedBy::Home
                } else {
                    NamedBy::Value
                },
                index: u64::from(if is_home { !index } else { index }).to_bits(),
                feedback,
                ack: PathAck {
                    round_trip,
                    ..PathAck::default()
                }
                .to_hw(),
                now: u64::from(now.0).to_bits(),
                ..request(SprayOp::Feedback)
            },
        );
        assert!(!response.found);
        if let Some(index) = EvIndex::new(index) {
            let spray = &mut self.pair(qp).spray;
            if feedback == Feedback::ProbeAnswered {
                spray.on_probe(index, round_trip, now);
            } else {
                spray.on_feedback(index, feedback, now);
            }
        }
        self.check_usable(qp, response);
    }

    /// Reports an acknowledgement that reflects an entropy value, `passed` more ticks later, and looks the value up, too.
    pub fn ack(&mut self, passed: u32, qp: usize, entropy: u32, news: News) {
        self.now = self.now.plus(Ticks(passed));
        let now = self.now;
        let looked_up = self.engine.look_up(Reflected {
            qp: (qp as u64).to_bits(),
            entropy: u64::from(entropy).to_bits(),
            marked: news.hint == Feedback::Skip,
        });
        let pair = self.pair(qp);
        pair.una = pair.una.plus(news.advance.into());
        let ack = PathAck {
            entropy,
            hint: news.hint,
            sampled: news.round_trip.is_some(),
            round_trip: news.round_trip.unwrap_or(entropy as u16),
            packets: news.packets,
            una: pair.una,
            next_psn: pair.una.plus(news.ahead.into()),
            in_flight: u32::from(news.ahead) << 8,
        };
        // A value of the queue pair can be named by its index, and that of the path in use as such.
        let spray = &self.pair(qp).spray;
        let index = spray.index_of(Entropy(entropy)).map(EvIndex::value);
        let is_home = self.has_one_path(qp) && index == Some(self.home(qp));
        let named_by = match now.0 % 3 {
            1 if index.is_some() => NamedBy::Index,
            2 if is_home => NamedBy::Home,
            _ => NamedBy::Value,
        };
        let mut told = ack;
        let mut index = index.unwrap_or(0x55);
        if named_by != NamedBy::Value {
            told.entropy ^= now.0;
        }
        if named_by != NamedBy::Index {
            index ^= 0x3f;
        }
        let response = self.ask(
            qp,
            SprayRequest {
                named_by,
                index: u64::from(index).to_bits(),
                ack: told.to_hw(),
                now: u64::from(now.0).to_bits(),
                ..request(SprayOp::Ack)
            },
        );
        let expected = self.pair(qp).spray.on_ack(&ack, now);
        let index = response.found.then_some(response.index);
        assert_eq!(index, expected.map(EvIndex::value));
        assert_eq!(looked_up, expected.map(EvIndex::value));
        self.check_usable(qp, response);
    }

    /// Asks after `passed` more ticks.
    fn ask_later(&mut self, qp: usize, passed: u32, op: SprayOp) -> Response {
        self.now = self.now.plus(Ticks(passed));
        self.ask(
            qp,
            SprayRequest {
                now: u64::from(self.now.0).to_bits(),
                ..request(op)
            },
        )
    }

    /// Returns the value to probe after `passed` more ticks, if one is due.
    pub fn probe(&mut self, qp: usize, passed: u32) -> Option<u8> {
        let response = self.ask_later(qp, passed, SprayOp::Probe);
        let now = self.now;
        self.check_held(qp, response);
        let spray = &mut self.pair(qp).spray;
        let due = spray.probe_due(now);
        let expected = due.map(|index| {
            let entropy = spray.entropy(index).expect("a value of the queue pair");
            (index.value(), entropy.0)
        });
        let probe = response.found.then_some((response.index, response.entropy));
        assert_eq!(probe, expected);
        self.check_usable(qp, response);
        probe.map(|(index, _)| index)
    }

    pub fn deny(&mut self, qp: usize, index: u8) {
        self.software(qp, index, SprayOp::Deny, Spray::deny);
    }

    pub fn allow(&mut self, qp: usize, index: u8) {
        self.software(qp, index, SprayOp::Allow, Spray::allow);
    }

    fn software(&mut self, qp: usize, index: u8, op: SprayOp, act: fn(&mut Spray, EvIndex)) {
        let response = self.ask(
            qp,
            SprayRequest {
                index: u64::from(index).to_bits(),
                ..request(op)
            },
        );
        assert!(!response.found);
        if let Some(index) = EvIndex::new(index) {
            act(&mut self.pair(qp).spray, index);
        }
        let denies = self.pair(qp).spray.denies();
        assert_eq!(response.denies, denies, "software denies a value");
        self.check_usable(qp, response);
    }

    /// Asks whether data may be sent, after `passed` more ticks. Returns until when it may not.
    pub fn query(&mut self, qp: usize, passed: u32) -> Option<u32> {
        let response = self.ask_later(qp, passed, SprayOp::Query);
        assert!(!response.found);
        self.check_usable(qp, response);
        self.check_held(qp, response)
    }

    /// Tells that nothing is in flight, if the queue pair is held, after `passed` more ticks. Returns until when it is held then.
    pub fn empty(&mut self, qp: usize, passed: u32) -> Option<u32> {
        self.query(qp, passed)?;
        let response = self.ask(
            qp,
            SprayRequest {
                empty: true,
                now: u64::from(self.now.0).to_bits(),
                ..request(SprayOp::Query)
            },
        );
        assert!(!response.found);
        self.pair(qp).spray.on_empty();
        self.check_usable(qp, response);
        self.check_held(qp, response)
    }

    /// Checks until when the queue pair is held, and what happens meanwhile. Returns until when.
    fn check_held(&mut self, qp: usize, response: Response) -> Option<u32> {
        let now = self.now;
        let spray = &mut self.pair(qp).spray;
        let held = spray.held_until(now).map(|until| until.0);
        assert_eq!(response.held_until, held);
        assert_eq!(response.window, spray.window_change());
        let drains = held.is_some() && spray.resends_while_held();
        assert_eq!(response.drains, drains);
        held
    }

    /// Whether the queue pair's policy has one path at a time.
    fn has_one_path(&self, qp: usize) -> bool {
        let pair = self.pairs[qp].as_ref().expect("configured");
        pair.registers.policy.traits().one_path
    }

    /// Returns the index of the path in use, with one path at a time.
    pub fn home(&self, qp: usize) -> u8 {
        let pair = self.pairs[qp].as_ref().expect("configured");
        pair.spray.home().value()
    }

    /// Returns the entropy value of an index; from the profile, if the queue pair does not have the index.
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
        feedback: Feedback::Timeout,
        ..SprayRequest::default()
    }
}

/// Returns what `MrcRequester::plane_usable` returns.
fn usable(pair: &Pair, plane: u8) -> bool {
    let good = |index: EvIndex| {
        index.plane() == plane
            && matches!(pair.spray.state(index), Some(EvState::Good | EvState::Skip))
    };
    !pair.registers.policy.traits().one_path
        && pair.spray.planes_up().contains(plane)
        && EvIndex::all().any(good)
}
