//! Queue pairs that get another owner.

use proptest::prelude::*;
use stellar_transport::requester::Requester;
use stellar_transport::spray::PlaneMask;

use crate::core::lockstep::Bench;
use crate::core::rig::{PathCounts, Totals};
use crate::core::setup::{Kinds, Pair};

/// Flushes every queue pair and configures it again, as `dice` decides.
fn configure_again(bench: &mut Bench, dice: u64) {
    for qp in 0..bench.pairs.len() {
        bench.flush(qp);
    }
    bench.set_planes(PlaneMask::BOTH);
    bench.compare_counters();
    for pair in &mut bench.pairs {
        if let Requester::Mrc(mrc) = &pair.reference {
            bench.pool.changed(mrc.window().blocks(), 0);
        }
        let number = pair.number;
        *pair = Pair::new(
            number,
            dice.rotate_left(7 * number),
            bench.now,
            &mut bench.rig,
            Kinds::Mixed,
        );
    }
    bench.rig.totals = Totals::default();
    bench.rig.paths = PathCounts::default();
    bench.counted_before_failure = Totals::default();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Nothing of the last owner is left: not a deadline, not a probe that is due, not a message.
    #[test]
    fn a_queue_pair_that_is_configured_again_is_a_new_one(
        dice: [u64; 3], events in prop::collection::vec((0u8..64, any::<u64>()), 60..240),
    ) {
        let mut bench = Bench::new(dice[0]);
        for (events, dice) in events.chunks(events.len().div_ceil(3)).zip(&dice[1..]) {
            for &(kind, dice) in events {
                bench.act(kind, dice);
            }
            configure_again(&mut bench, *dice);
        }
        for &(kind, dice) in &events[events.len() / 2..] {
            bench.act(kind, dice);
        }
        bench.compare_counters();
    }
}
