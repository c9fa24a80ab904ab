//! Random histories of feedback, denials and plane failures: every choice is allowed.

use proptest::prelude::*;
use stellar_transport::spray::{
    EvState, Feedback, PathAck, PlaneMask, Policy, SkipScope, Spray, SprayConfig,
};
use stellar_transport::time::Ticks;

use crate::spray::common::{config, ev, profile};

#[derive(Clone, Debug)]
enum Step {
    Feedback(u8, Feedback, u32),
    Ack(u8, Feedback, u16, u32),
    Deny(u8),
    Allow(u8),
    Plane(u8, bool),
    Send(Option<u8>),
}

/// The policies that use more than one path at a time.
fn spreading() -> Vec<Policy> {
    let spreads = |policy: &Policy| !policy.traits().one_path;
    Policy::ALL.into_iter().filter(spreads).collect()
}

fn step() -> impl Strategy<Value = Step> {
    let feedback = prop::sample::select(vec![
        Feedback::Good,
        Feedback::Skip,
        Feedback::Trimmed,
        Feedback::Timeout,
        Feedback::AlwaysSkip,
        Feedback::ProbeAnswered,
    ]);
    let hint = prop::sample::select(vec![
        Feedback::Good,
        Feedback::Good,
        Feedback::Skip,
        Feedback::AlwaysSkip,
    ]);
    let wait = prop_oneof![4 => 0..1_000_u32, 1 => 0..20_000_u32];
    let index = prop_oneof![0_u8..12, 128_u8..132];
    prop_oneof![
        6 => (index.clone(), feedback, wait.clone())
            .prop_map(|(index, feedback, wait)| Step::Feedback(index, feedback, wait)),
        6 => (index.clone(), hint, 0..8_u16, wait)
            .prop_map(|(index, hint, packets, wait)| Step::Ack(index, hint, packets, wait)),
        1 => index.clone().prop_map(Step::Deny),
        2 => index.clone().prop_map(Step::Allow),
        1 => (0_u8..2, prop::bool::weighted(0.8)).prop_map(|(plane, up)| Step::Plane(plane, up)),
        10 => prop::option::weighted(0.2, index).prop_map(Step::Send),
    ]
}

proptest! {
    /// After any history, a chosen path is usable. The avoided path is chosen only if there is no other, and no path is chosen only if none is
    /// usable.
    #[test]
    fn choices_are_always_allowed(
        seed in 1_u32..,
        steps in prop::collection::vec(step(), 1..300),
        skip in prop::sample::select(vec![SkipScope::RestOfRotation, SkipScope::NextTurn]),
        policy in prop::sample::select(spreading()),
    ) {
        let profile = profile(12, 4);
        let config = SprayConfig { seed, skip, profile, ..config(policy, 12) };
        let mut spray = Spray::new(config).expect("a usual configuration");
        let mut now = Ticks(u32::MAX - 10_000);
        for step in steps {
            match step {
                Step::Feedback(index, feedback, wait) => {
                    now = now.plus(Ticks(wait));
                    spray.on_feedback(ev(index), feedback, now);
                }
                Step::Ack(index, hint, packets, wait) => {
                    now = now.plus(Ticks(wait));
                    let entropy = spray.entropy(ev(index)).map_or(0, |entropy| entropy.0);
                    spray.on_ack(&PathAck { entropy, hint, packets, ..PathAck::default() }, now);
                }
                Step::Deny(index) => spray.deny(ev(index)),
                Step::Allow(index) => spray.allow(ev(index)),
                Step::Plane(plane, up) => spray.set_plane(plane, up),
                Step::Send(avoid) => {
                    let avoid = avoid.map(ev);
                    let states: Vec<_> = (0..12)
                        .map(ev)
                        .filter(|index| spray.planes_up().contains(index.plane()))
                        .filter_map(|index| Some((index, spray.state(index)?)))
                        .filter(|(_, state)| *state != EvState::Denied)
                        .collect();
                    let good = |state: EvState| matches!(state, EvState::Good | EvState::Skip);
                    match spray.choose(avoid, PlaneMask::BOTH) {
                        None => prop_assert!(states.is_empty(), "{states:?} left"),
                        Some(path) => {
                            prop_assert!(spray.planes_up().contains(path.plane));
                            prop_assert_eq!(spray.index_of(path.entropy), Some(path.index));
                            let state = spray.state(path.index).expect("a known value");
                            prop_assert_ne!(state, EvState::Denied);
                            let others = states.iter().filter(|(index, _)| Some(*index) != avoid);
                            if !good(state) || Some(path.index) == avoid {
                                prop_assert!(!others.clone().any(|(_, state)| good(*state)), "better: {states:?}");
                            }
                            if Some(path.index) == avoid {
                                // The value whose slot a backup serves has no slot of its own.
                                let replaced = usize::from(path.index.is_backup());
                                prop_assert!(others.count() <= replaced, "another: {states:?}");
                            }
                        }
                    }
                }
            }
        }
    }
}
