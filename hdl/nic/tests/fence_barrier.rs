//! `FenceBarrier`: a fence is done in the cycle after the later lane has passed it.

use hdl_nic::FenceBarrier;
use hdl_testkit::Dut;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Fences by which a lane may be ahead.
const AHEAD: u64 = 127;

#[test]
fn a_fence_is_done_when_both_lanes_have_passed_it() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut dut = Dut::new::<FenceBarrier>();
    dut.reset(1);
    let mut passed = [0; 2];
    let mut most_ahead = [0; 2];
    for cycle in 0..20_000 {
        // For a while one lane is faster, then the other.
        let faster = cycle / 500 % 2;
        let before = passed[0].min(passed[1]);
        let reset = rng.random_ratio(1, 2_000);
        dut.set("reset", reset.into());
        for lane in 0..2 {
            let may = passed[lane] < passed[1 - lane] + AHEAD;
            let passes = may && rng.random_ratio(if lane == faster { 5 } else { 2 }, 8);
            dut.set(["passed0", "passed1"][lane], passes.into());
            passed[lane] += u64::from(passes);
            most_ahead[lane] = most_ahead[lane].max(passed[lane].saturating_sub(passed[1 - lane]));
        }
        dut.clock();
        let done = passed[0].min(passed[1]) - before;
        if reset {
            passed = [0; 2];
        }
        let expected = if reset { 0 } else { done };
        assert_eq!(dut.get("done"), expected, "cycle {cycle}");
    }
    assert!(most_ahead.iter().all(|&most| most > 100), "{most_ahead:?}");
}
