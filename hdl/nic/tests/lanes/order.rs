//! Tests queue pairs that use both lanes, with frames, probes, errors, table writes and fences one after the other, while both PCIe links stall at
//! random and flushes take up to 300 cycles.

use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stellar_transport::rx::{DropReason, QpMode, RECEIVE_WINDOW};

use crate::lanes::bench::{Bench, Io};
use crate::lanes::reference::Reference;
use crate::lanes::traffic::{context, control, misdirected, mode, refused, region, Write};

const QPS: [u32; 5] = [2, 3, 4, 5, 1022];
/// Queue pair without a peer.
const PEERLESS: u32 = 5;
/// Cycles from the last beat of a frame to the core and through it, if there is space.
const THROUGH: usize = 60;

/// Links that stall for up to 200 cycles.
struct Links {
    paused: [u32; 2],
}

impl Links {
    fn io(&mut self, rng: &mut impl Rng) -> Io {
        for paused in &mut self.paused {
            *paused = match *paused {
                0 if rng.random_bool(0.005) => rng.random_range(1..200),
                0 => 0,
                n => n - 1,
            };
        }
        Io {
            tlp_ready: self.paused.map(|paused| paused == 0),
            outcome_ready: rng.random_bool(0.7),
            control_ready: rng.random_bool(0.3),
            ..Io::OPEN
        }
    }
}

fn run(width: usize, seed: u64, items: usize) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut bench = Bench::new(width);
    let peers = QPS.map(|qp| if qp == PEERLESS { 2 } else { qp });
    let mut reference = Reference::new(&peers);
    let mut next = [0_u32; 1024];
    for write in region() {
        reference.write(&mut bench, write);
    }
    for qp in QPS {
        let first = [0, 0xff_fff0, 63, 0x12_3456][rng.random_range(0..4)];
        next[qp as usize] = first;
        reference.write(&mut bench, context(qp, first));
        if qp != PEERLESS {
            bench.write_peer(qp, &crate::lanes::traffic::peer(qp));
        }
    }
    let mut links = Links { paused: [0; 2] };
    for _ in 0..items {
        for endpoint in &mut bench.endpoints {
            endpoint.set_cycles(rng.random_range(0..300));
        }
        while !bench.all_sent() {
            let io = links.io(&mut rng);
            bench.step(io);
        }
        for _ in 0..THROUGH {
            let io = links.io(&mut rng);
            bench.step(io);
        }
        item(&mut bench, &mut reference, &mut next, &mut rng);
    }
    for _ in 0..2000 {
        bench.step(Io::OPEN);
    }
    reference.check(&mut bench);
}

fn item(
    bench: &mut Bench,
    reference: &mut Reference,
    next: &mut [u32; 1024],
    rng: &mut ChaCha8Rng,
) {
    let qp = QPS[rng.random_range(0..QPS.len())];
    let lane = rng.random_range(0..2);
    let expected = next[qp as usize];
    let frame = match rng.random_range(0..40) {
        0 => return reference.fence(bench),
        1 if rng.random_bool(0.3) => return reference.fail(bench, qp),
        1..=2 => {
            next[qp as usize] = rng.random_range(0..1 << 24);
            return reference.write(bench, context(qp, next[qp as usize]));
        }
        3 if mode(qp) == QpMode::Rc => refused(qp, lane, expected, rng),
        3..=6 => control(qp, lane, true, rng.random_bool(0.1), rng),
        7..=11 => control(qp, lane, false, rng.random_bool(0.2), rng),
        _ => {
            let ahead = match mode(qp) {
                // Mostly near, so that the window moves; sometimes anywhere in it, or beyond.
                QpMode::Mrc if rng.random_bool(0.1) => {
                    rng.random_range(0..RECEIVE_WINDOW as i32 + 128)
                }
                QpMode::Mrc => rng.random_range(-3..70),
                QpMode::Rc => [0, 0, 0, 0, 0, 1, -1][rng.random_range(0..7)],
            };
            let base = match mode(qp) {
                QpMode::Mrc => reference
                    .lane
                    .psn_track(qp)
                    .map_or(0, |track| track.epsn().value()),
                QpMode::Rc => expected,
            };
            let write = Write {
                qp,
                lane,
                psn: base.wrapping_add_signed(ahead),
                offset: rng.random_range(0..100_000),
                length: [0, 1, 63, 256, 1024][rng.random_range(0..5)],
                immediate: rng.random(),
            };
            write.frame(rng)
        }
    };
    let frame = if rng.random_bool(0.1) {
        misdirected(&frame, rng)
    } else {
        frame
    };
    let advances = mode(qp) == QpMode::Rc;
    if reference.send(bench, lane, frame) == DropReason::None && advances {
        next[qp as usize] = (expected + 1) & 0xff_ffff;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_lanes_of_one_core_agree_with_the_reference(seed in any::<u64>()) {
        run(512, seed, 150);
    }
}

#[test]
fn wide_lanes_agree_with_the_reference() {
    for seed in 0..4 {
        run(1024, seed, 150);
    }
}
