//! Random histories of queue pairs.

use proptest::prelude::*;
use stellar_transport::spray::{
    EntropyProfile, EvIndex, Feedback, GeneratedEntropy, HeaderFields, Policy, SkipScope,
};
use stellar_wire::mrc::Entropy;
use stellar_wire::rows::EXPLICIT_BITS;

use crate::spray_engine::bench::{Bench, News, Registers};
use crate::spray_engine::engine::{Engine, Q};

/// The value that an operation names.
#[derive(Clone, Copy, Debug)]
pub enum Named {
    /// The value chosen this many packets ago.
    Chosen(usize),
    Index(u8),
}

#[derive(Clone, Debug)]
pub enum Step {
    /// Registers; paths and rotation are limited to the profile.
    Configure(Registers),
    /// Chooses paths for this number of packets, from this plane on, with or without alternating between the planes.
    Choose {
        count: usize,
        plane: u8,
        turns: bool,
    },
    /// A burst of this many packets, with or without a value to avoid.
    Burst {
        count: usize,
        plane: u8,
        avoid: Option<Named>,
    },
    Retransmit {
        plane: u8,
        avoid: Named,
    },
    /// After this number of ticks.
    Feedback(u32, Named, Feedback),
    /// After this number of ticks.
    Ack(u32, Named, News),
    /// Acknowledges the entropy value with this number in the profile, changed by an offset, so that it may be in no profile.
    AckNumber(u8, u32),
    /// Probes after this number of ticks.
    Probe(u32),
    /// Probes after this number of ticks, and the response carries no mark and has this round trip.
    ProbeAnswered(u32, u16),
    /// Acknowledges packets on the path in use, after this number of ticks.
    AckHome(u32, News),
    Deny(Named),
    Allow(Named),
    Query(u32),
    /// Ends a round with each of several acknowledgements, these ticks apart, most of them with a mark.
    Rounds(u32, Vec<bool>),
    /// Tells that nothing is in flight, after this number of ticks.
    Empty(u32),
    Plane {
        plane: u8,
        up: bool,
    },
    /// All active values of a plane time out. If it `recovers`, probes of all of them are answered then.
    PlaneFails {
        plane: u8,
        recovers: bool,
    },
}

const FIELDS: HeaderFields = HeaderFields::SourcePortAndFlowLabel;

/// Numbers of active values and of backups.
fn counts() -> impl Strategy<Value = (u8, u8)> {
    let active = prop_oneof![
        1 => Just(1_u8),
        6 => (1..=6_u8).prop_map(|pairs| 2 * pairs),
        2 => (1..=64_u8).prop_map(|pairs| 2 * pairs),
        2 => Just(128),
    ];
    let backups = prop_oneof![1 => Just(0), 3 => (0..=8_u8).prop_map(|pairs| 2 * pairs)];
    (active, backups)
}

fn generated() -> impl Strategy<Value = EntropyProfile> {
    (any::<u32>(), 0..=24_u8, counts()).prop_map(|(base, stride_log2, (active, backups))| {
        let span = u32::from(active + backups - 1) << stride_log2;
        let values = GeneratedEntropy {
            base: base % (u32::MAX - span),
            stride_log2,
            active,
            backups,
        };
        EntropyProfile::generated(values, FIELDS).expect("a usual profile")
    })
}

/// Values of UDP source ports, or wide ones.
fn explicit() -> impl Strategy<Value = EntropyProfile> {
    let most = EvIndex::ACTIVE + EvIndex::BACKUPS;
    let value = prop_oneof![any::<u16>().prop_map(u32::from), any::<u32>()];
    let values = prop::collection::hash_set(value, most);
    (values, counts()).prop_map(|(values, (active, backups))| {
        let values: Vec<Entropy> = values.into_iter().map(Entropy).collect();
        let (active, rest) = values.split_at(active.into());
        let profile = EntropyProfile::explicit(active, &rest[..backups.into()], FIELDS);
        profile.expect("distinct values")
    })
}

/// Profiles of a card. Those that may be explicit are half of the time.
pub fn profiles() -> impl Strategy<Value = Vec<EntropyProfile>> {
    let either = || prop_oneof![generated().boxed(), explicit().boxed()];
    let first = prop::collection::vec(either(), 1 << EXPLICIT_BITS);
    let last = prop::collection::vec(generated(), 4);
    (first, last).prop_map(|(first, last)| [first, last].concat())
}

fn registers() -> impl Strategy<Value = Registers> {
    let policy = prop_oneof![
        1 => Just(Policy::SinglePath),
        1 => Just(Policy::RoundRobin),
        1 => Just(Policy::Obs),
        4 => Just(Policy::EvState),
        2 => Just(Policy::Bitmap),
        3 => Just(Policy::Reps),
        3 => Just(Policy::Mixed),
        2 => Just(Policy::FlowBender),
        6 => Just(Policy::Hopper),
        6 => Just(Policy::Hp3),
    ];
    let skip = prop_oneof![Just(SkipScope::RestOfRotation), Just(SkipScope::NextTurn)];
    let seed = prop_oneof![1..16_u32, any::<u32>()];
    let paths = prop_oneof![3 => Just(u8::MAX), 1 => any::<u8>()];
    let interval = prop_oneof![1..100_u32, 1..1_u32 << 31];
    let base_rtt = prop_oneof![4 => 20..200_u32, 1 => 1..1_u32 << 14];
    let times = (interval, base_rtt, 1..4_u8);
    (policy, paths, seed, 0..8_usize, any::<u8>(), skip, times).prop_map(
        |(policy, paths, seed, profile, rotation, skip, times)| Registers {
            policy,
            paths,
            seed: seed.max(1),
            profile,
            rotation,
            skip,
            probe_interval: times.0,
            base_rtt: times.1,
            bend_after: times.2,
        },
    )
}

fn named() -> impl Strategy<Value = Named> {
    prop_oneof![
        6 => (0..40_usize).prop_map(Named::Chosen),
        4 => (0..12_u8).prop_map(Named::Index),
        2 => (128..144_u8).prop_map(Named::Index),
        1 => any::<u8>().prop_map(Named::Index),
    ]
}

fn feedback() -> impl Strategy<Value = Feedback> {
    prop_oneof![
        1 => Just(Feedback::Good),
        6 => Just(Feedback::Skip),
        1 => Just(Feedback::Trimmed),
        3 => Just(Feedback::Timeout),
        1 => Just(Feedback::AlwaysSkip),
        2 => Just(Feedback::ProbeAnswered),
    ]
}

fn news() -> impl Strategy<Value = News> {
    let hint = prop_oneof![
        6 => Just(Feedback::Good),
        3 => Just(Feedback::Skip),
        1 => Just(Feedback::AlwaysSkip),
    ];
    let packets = prop_oneof![8 => 0..=20_u16, 1 => 0..=4_096_u16];
    let ahead = prop_oneof![4 => 0..=40_u16, 1 => 0..=4_096_u16];
    let round_trip = prop_oneof![8 => 20..600_u16, 1 => any::<u16>()];
    let round_trip = prop::option::weighted(0.8, round_trip);
    (hint, packets, ahead, round_trip).prop_map(|(hint, packets, ahead, round_trip)| News {
        hint,
        packets,
        advance: packets,
        round_trip,
        ahead,
    })
}

pub fn step() -> impl Strategy<Value = Step> {
    let ticks = prop_oneof![4 => 0..120_u32, 1 => any::<u32>()];
    let short = prop_oneof![9 => 0..200_u32, 1 => 10_000..15_000_u32];
    let off = prop_oneof![6 => Just(0), 1 => Just(1_u32), 1 => Just(u32::MAX), 1 => any::<u32>()];
    let count = prop_oneof![6 => 1..6_usize, 1 => 1..150_usize];
    let burst = prop_oneof![2 => 1..=32_usize, 1 => Just(32)];
    let avoid = prop::option::weighted(0.3, named());
    prop_oneof![
        1 => registers().prop_map(Step::Configure),
        20 => (burst, 0..2_u8, avoid)
            .prop_map(|(count, plane, avoid)| Step::Burst { count, plane, avoid }),
        20 => (count, 0..2_u8, any::<bool>())
            .prop_map(|(count, plane, turns)| Step::Choose { count, plane, turns }),
        6 => (0..2_u8, named()).prop_map(|(plane, avoid)| Step::Retransmit { plane, avoid }),
        12 => (short.clone(), named(), feedback())
            .prop_map(|(ticks, named, feedback)| Step::Feedback(ticks, named, feedback)),
        20 => (short, named(), news()).prop_map(|(ticks, named, news)| Step::Ack(ticks, named, news)),
        4 => (any::<u8>(), off).prop_map(|(number, off)| Step::AckNumber(number, off)),
        4 => ticks.clone().prop_map(Step::Probe),
        6 => (ticks, 10..300_u16).prop_map(|(ticks, round_trip)| Step::ProbeAnswered(ticks, round_trip)),
        30 => (0..300_u32, news()).prop_map(|(ticks, news)| Step::AckHome(ticks, news)),
        12 => (0..100_u32, 10..300_u16).prop_map(|(ticks, round_trip)| Step::ProbeAnswered(ticks, round_trip)),
        3 => named().prop_map(Step::Deny),
        4 => named().prop_map(Step::Allow),
        4 => (0..200_u32).prop_map(Step::Query),
        12 => (0..200_u32).prop_map(Step::Empty),
        12 => (0..8_u32, prop::collection::vec(prop::bool::weighted(0.9), 4..12))
            .prop_map(|(ticks, marks)| Step::Rounds(ticks, marks)),
        3 => (0..2_u8, prop::bool::weighted(0.7)).prop_map(|(plane, up)| Step::Plane { plane, up }),
        1 => (0..2_u8, any::<bool>()).prop_map(|(plane, recovers)| Step::PlaneFails { plane, recovers }),
    ]
}

/// Limits registers to the paths of the profile.
fn fitting(registers: Registers, profile: &EntropyProfile) -> Registers {
    let single = registers.policy.traits().one_path && registers.paths % 4 == 1;
    let most = profile.active() & !1;
    let paths = match (single || most == 0, registers.paths) {
        (true, _) => 1,
        (false, u8::MAX) => most,
        (false, paths) => (2 + paths % most) & !1,
    };
    Registers {
        policy: if paths == 1 && !registers.policy.traits().one_path {
            Policy::SinglePath
        } else {
            registers.policy
        },
        paths: paths.min(profile.active()),
        rotation: registers.rotation % profile.slots(),
        ..registers
    }
}

/// Queue pair, cycles before the step, step.
pub type Timed = (usize, usize, Step);

pub fn timed() -> impl Strategy<Value = Vec<Timed>> {
    let gap = prop_oneof![4 => Just(0), 1 => 1..6_usize];
    prop::collection::vec((0..4_usize, gap, step()), 1..500)
}

/// Executes histories on the engine and its reference.
pub struct Play {
    pub bench: Bench,
    profiles: Vec<EntropyProfile>,
    /// Profile of each queue pair.
    profile_of: Vec<usize>,
    chosen: Vec<Vec<u8>>,
}

impl Play {
    pub fn new(engine: Engine, profiles: Vec<EntropyProfile>) -> Self {
        Self {
            bench: Bench::of(engine, profiles.clone()),
            profiles,
            profile_of: vec![0; 1 << Q],
            chosen: vec![vec![]; 1 << Q],
        }
    }

    fn index(&self, qp: usize, named: Named) -> u8 {
        match named {
            Named::Index(index) => index,
            Named::Chosen(ago) => self.chosen[qp].iter().rev().nth(ago).copied().unwrap_or(0),
        }
    }

    pub fn configure(&mut self, qp: usize, registers: Registers) {
        let registers = fitting(registers, &self.profiles[registers.profile]);
        self.profile_of[qp] = registers.profile;
        self.bench.configure(qp, registers);
    }

    fn choose(&mut self, qp: usize, plane: u8, avoid: Option<u8>) {
        let index = self.bench.choose(qp, plane, avoid);
        self.chosen[qp].extend(index);
    }

    pub fn step(&mut self, qp: usize, step: &Step) {
        if let Step::Configure(registers) = step {
            return self.configure(qp, *registers);
        }
        if let Step::Plane { plane, up } = *step {
            return self.bench.set_plane(plane, up);
        }
        if !self.bench.configured(qp) {
            return;
        }
        match *step {
            Step::Configure(_) | Step::Plane { .. } => unreachable!("done above"),
            Step::Choose {
                count,
                plane,
                turns,
            } => {
                for n in 0..count {
                    let turn = if turns { n as u8 & 1 } else { 0 };
                    self.choose(qp, plane ^ turn, None);
                }
            }
            Step::Burst {
                count,
                plane,
                avoid,
            } => {
                let avoid = avoid.map(|named| self.index(qp, named));
                let indices = self.bench.choose_burst(qp, plane, avoid, count);
                self.chosen[qp].extend(indices);
            }
            Step::Retransmit { plane, avoid } => {
                self.choose(qp, plane, Some(self.index(qp, avoid)));
            }
            Step::Feedback(ticks, named, feedback) => {
                let index = self.index(qp, named);
                self.bench.feedback_after(ticks, qp, index, feedback);
            }
            Step::Ack(ticks, named, news) => {
                let entropy = self.bench.entropy(qp, self.index(qp, named));
                self.bench.ack(ticks, qp, entropy, news);
            }
            Step::AckNumber(number, off) => {
                let profile = &self.profiles[self.profile_of[qp]];
                let value = match profile.as_generated() {
                    Some(values) => values
                        .base
                        .wrapping_add(u32::from(number) << values.stride_log2),
                    None => {
                        let index = EvIndex::new(number % 144);
                        let value = index.and_then(|index| profile.entropy(index, 0));
                        value.map_or(0, |value| value.0)
                    }
                };
                let entropy = value.wrapping_add(off);
                self.bench.ack(0, qp, entropy, Feedback::AlwaysSkip.into());
            }
            Step::Probe(ticks) => drop(self.bench.probe(qp, ticks)),
            Step::ProbeAnswered(ticks, round_trip) => {
                if let Some(index) = self.bench.probe(qp, ticks) {
                    self.bench.probe_answered(qp, index, round_trip);
                }
            }
            Step::Deny(named) => self.bench.deny(qp, self.index(qp, named)),
            Step::Allow(named) => self.bench.allow(qp, self.index(qp, named)),
            Step::Query(ticks) => drop(self.bench.query(qp, ticks)),
            Step::Empty(ticks) => drop(self.bench.empty(qp, ticks)),
            Step::AckHome(ticks, news) => {
                let index = self.bench.home(qp);
                let entropy = self.bench.entropy(qp, index);
                self.bench.ack(ticks, qp, entropy, news);
            }
            Step::Rounds(ticks, ref marks) => {
                let entropy = self.bench.entropy(qp, self.bench.home(qp));
                for &marked in marks {
                    let hint = if marked {
                        Feedback::Skip
                    } else {
                        Feedback::Good
                    };
                    let news = News {
                        packets: 9,
                        advance: 9,
                        ..hint.into()
                    };
                    self.bench.ack(ticks, qp, entropy, news);
                }
            }
            Step::PlaneFails { plane, recovers } => {
                let answers = recovers.then_some(Feedback::ProbeAnswered);
                for feedback in [Feedback::Timeout].into_iter().chain(answers) {
                    for slot in 0..64 {
                        self.bench.feedback(qp, slot << 1 | plane, feedback);
                    }
                }
            }
        }
    }
}
