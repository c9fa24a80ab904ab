//! A requester that takes nothing: what does not fit is counted, and what fits comes out in order.

use stellar_wire::hw::core::CoreToken;
use stellar_wire::hw::pack::{to_words, Record};

use stellar_transport::rx::{parse_control, RxConfig};

use crate::control::bench::Bench;
use crate::control::packets::{good, peer};
use crate::control::reference::meaningful;
use crate::front::frames::TestFrame;

/// Entries of the FIFO, less the margin.
const FITS: usize = 512 - 4;

#[test]
fn a_full_fifo_drops_and_counts_and_full_rate_is_taken_before() {
    let mut bench = Bench::new(1024, true, &[(2, peer(2))]);
    let frames: Vec<_> = (0..600)
        .map(|n| TestFrame::good(good(2, (n % 2) as u8, n << 8).emit().expect("a frame")))
        .collect();
    for frame in &frames {
        assert!(frame.bytes.len() <= 128, "one beat");
        bench.send(frame.clone());
    }
    // One frame per cycle: nothing pauses.
    for _ in 0..frames.len() {
        bench.step(false, true, false);
    }
    assert!(bench.all_sent());
    for _ in 0..2000 {
        bench.step(true, true, false);
    }
    let reasons: Vec<_> = bench
        .tokens
        .iter()
        .map(|token| Record::<CoreToken>::new(token).variant("headers.reason"))
        .collect();
    assert_eq!(reasons.len(), frames.len());
    let taken = reasons
        .iter()
        .filter(|r| *r == "DropReason::Control")
        .count();
    let lost = reasons
        .iter()
        .filter(|r| *r == "DropReason::ControlLost")
        .count();
    assert_eq!(taken + lost, frames.len());
    assert!((FITS..=512).contains(&taken), "{taken}");

    while bench.controls.len() < taken {
        let before = bench.controls.len();
        bench.step(true, true, true);
        assert_eq!(bench.controls.len(), before + 1, "one per clock");
    }
    for _ in 0..10 {
        bench.step(true, true, true);
    }
    assert_eq!(bench.controls.len(), taken);
    let kept = frames
        .iter()
        .zip(&reasons)
        .filter(|(_, r)| *r == "DropReason::Control");
    for ((frame, _), found) in kept.zip(&bench.controls) {
        let control = parse_control(&frame.bytes, &RxConfig::default()).expect("control");
        let wanted = to_words(control.to_hw(true).expect("control"));
        assert_eq!(meaningful(found), meaningful(&wanted));
    }

    // There is room again.
    bench.send(frames[0].clone());
    for _ in 0..40 {
        bench.step(false, true, true);
    }
    assert_eq!(bench.controls.len(), taken + 1);
}
