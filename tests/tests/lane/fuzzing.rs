//! A short run of the fuzzer; `./stellar fuzz` runs a million frames.

use sim_cosim::fuzz::Fuzzer;
use sim_cosim::LaneWidth;

#[test]
fn mutated_frames_place_nothing_they_should_not_and_never_hang_the_lane() {
    for (width, sessions) in [(LaneWidth::Bits1024, 8), (LaneWidth::Bits512, 3)] {
        let mut fuzzer = Fuzzer::new(super::library(width).clone(), width, 2024);
        for _ in 0..sessions {
            fuzzer.session(2_000).unwrap();
        }
        // The run is meaningful only if good packets are still accepted between the bad ones.
        assert!(fuzzer.accepted() > 500, "{} accepted", fuzzer.accepted());
        assert!(fuzzer.bytes_placed() > 100_000);
    }
}
