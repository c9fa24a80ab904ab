//! The queue of queue pairs that may have work.

use std::collections::VecDeque;

use hdl_requester::WakeQueue;
use hdl_testkit::library;
use proptest::prelude::*;

/// As in the engine of the other tests.
const PAIRS: u64 = 16;

proptest! {
    #[test]
    fn each_queue_pair_named_comes_out_once_in_the_order_it_was_named(
        steps in prop::collection::vec((prop::option::of(0..PAIRS), any::<bool>()), 1..200),
        toggle in prop::option::of(0usize..200),
    ) {
        let mut model = library::<WakeQueue<4, 5, { PAIRS as usize }>>().instantiate();
        let port = |name: &str| model.port(name).unwrap();
        let (clock, reset, plane_up) = (port("clock"), port("reset"), port("plane_up"));
        let (in_valid, in_qp) = (port("in_valid"), port("in_qp"));
        let (out_valid, out_qp, out_ready) = (port("out_valid"), port("out_qp"), port("out_ready"));
        model.set_u64(plane_up, 3);
        model.set_u64(reset, 1);
        model.clock(clock);
        model.set_u64(reset, 0);
        // Its memories are cleared.
        (0..PAIRS).for_each(|_| model.clock(clock));
        let mut waiting = VecDeque::new();
        let mut seen = Vec::new();
        // It is queued until the cycle after it was taken.
        let mut leaving = None;
        // It enters in the cycle after it was named.
        let mut entering = None;
        let quiet = std::iter::repeat_n((None, true), 40);
        for (at, (named, ready)) in steps.iter().copied().chain(quiet).enumerate() {
            if toggle.is_some_and(|toggle| at >= toggle) {
                model.set_u64(plane_up, 1);
            }
            model.set_u64(in_valid, named.is_some().into());
            model.set_u64(in_qp, named.unwrap_or(0));
            model.set_u64(out_ready, ready.into());
            model.eval();
            let gives = ready && model.get_u64(out_valid) == 1;
            if gives {
                seen.push(model.get_u64(out_qp));
            }
            let is_new = |qp: &u64| !waiting.contains(qp) && leaving != Some(*qp);
            let enters = std::mem::replace(&mut entering, named);
            if let Some(qp) = enters.filter(|qp| toggle.is_none() && is_new(qp)) {
                waiting.push_back(qp);
            }
            leaving = None;
            if gives && toggle.is_none() {
                leaving = waiting.pop_front();
                prop_assert_eq!(leaving, seen.last().copied());
            }
            model.clock(clock);
        }
        if toggle.is_some_and(|toggle| toggle < steps.len()) {
            for qp in 0..PAIRS {
                prop_assert!(seen.contains(&qp), "queue pair {} does not hear of the port", qp);
            }
        } else if toggle.is_none() {
            prop_assert!(waiting.is_empty());
        }
    }
}
