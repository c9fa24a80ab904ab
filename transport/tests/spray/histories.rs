//! Random histories of feedback, denials and plane failures: every choice is allowed.

use proptest::prelude::*;
use stellar_transport::spray::{
    EvState, Feedback, PlaneMask, Policy, SkipScope, Spray, SprayConfig,
};

use crate::spray::common::{config, ev, profile};

#[derive(Clone, Debug)]
enum Step {
    Feedback(u8, Feedback),
    Deny(u8),
    Allow(u8),
    Plane(u8, bool),
    Send(Option<u8>),
}

fn step() -> impl Strategy<Value = Step> {
    let feedback = prop::sample::select(vec![
        Feedback::Good,
        Feedback::Skip,
        Feedback::Timeout,
        Feedback::AlwaysSkip,
        Feedback::ProbeAnswered,
    ]);
    let index = prop_oneof![0_u8..12, 128_u8..132];
    prop_oneof![
        6 => (index.clone(), feedback).prop_map(|(index, feedback)| Step::Feedback(index, feedback)),
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
    ) {
        let profile = profile(12, 4);
        let config = SprayConfig { seed, skip, profile, ..config(Policy::EvState, 12) };
        let mut spray = Spray::new(config).expect("a usual configuration");
        for step in steps {
            match step {
                Step::Feedback(index, feedback) => spray.on_feedback(ev(index), feedback),
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
