//! A lane that stalls does not stop the other one.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use stellar_transport::rx::DropReason;

use crate::lanes::bench::{Bench, Io, Request};
use crate::lanes::reference::Reference;
use crate::lanes::traffic::{context, peer, region, Write};

const STALLED: Io = Io {
    tlp_ready: [true, false],
    ..Io::OPEN
};

/// Lane 1 has packets in flight and its link stops. Lane 0 accepts 300 packets of other queue pairs, with their outcomes, and tables are written. The
/// fence and the queue pair of lane 1 wait.
#[test]
fn a_stalled_link_leaves_the_other_lane_running() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let mut bench = Bench::new(512);
    let mut reference = Reference::new(&[2, 4, 6, 8]);
    for write in region() {
        reference.write(&mut bench, write);
    }
    for qp in [2, 4, 6, 8] {
        reference.write(&mut bench, context(qp, 0));
        bench.write_peer(qp, &peer(qp));
    }
    while !bench.all_sent() {
        bench.step(STALLED);
    }
    let write = |qp, lane, psn| Write {
        qp,
        lane,
        psn,
        offset: 512,
        length: 200,
        immediate: true,
    };
    // The number of frames is limited to what the core accepts: a fence is behind tokens of the core, not behind frames that still wait for it.
    for psn in 0..30 {
        let frame = write(8, 1, psn).frame(&mut rng);
        assert_eq!(reference.send(&mut bench, 1, frame), DropReason::None);
    }
    for _ in 0..400 {
        bench.step(STALLED);
    }
    assert!(bench.outcomes.is_empty() && bench.tlps[1].is_empty());

    let start = bench.clock;
    for psn in 0..300 {
        let frame = write([2, 4, 6][psn as usize % 3], 0, psn / 3).frame(&mut rng);
        assert_eq!(reference.send(&mut bench, 0, frame), DropReason::None);
    }
    while bench.outcomes.len() < 300 {
        bench.step(STALLED);
        assert!(
            bench.clock < start + 2000,
            "{} of 300 outcomes",
            bench.outcomes.len()
        );
    }
    reference.write(&mut bench, context(10, 7));
    for _ in 0..10 {
        bench.step(STALLED);
    }
    assert!(bench.all_sent(), "a table write waits for nobody");

    reference.fence(&mut bench);
    for _ in 0..200 {
        bench.step(STALLED);
    }
    assert!(bench.fences.is_empty());
    for _ in 0..1500 {
        bench.step(Io::OPEN);
    }
    reference.check(&mut bench);
}

/// Fences that wait in one lane only are done once each.
#[test]
fn fences_are_paired() {
    let mut bench = Bench::new(512);
    for lane in 0..2 {
        let mut tlp_ready = [true; 2];
        tlp_ready[lane] = false;
        for _ in 0..20 {
            bench.requests.push_back(Request::Fence);
        }
        for _ in 0..100 {
            bench.step(Io {
                tlp_ready,
                ..Io::OPEN
            });
        }
    }
    for _ in 0..200 {
        bench.step(Io::OPEN);
    }
    assert_eq!(bench.fences.len(), 40);
}

/// Packets and table writes take turns, so each write waits at times.
#[test]
fn tables_are_written_between_packets_of_both_lanes() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut bench = Bench::new(512);
    let busy = [[2, 4], [6, 8]];
    let fresh: Vec<u32> = (10..=60).step_by(2).collect();
    let all: Vec<u32> = (2..=60).step_by(2).collect();
    let mut reference = Reference::new(&all);
    for &qp in &all {
        bench.write_peer(qp, &peer(qp));
    }
    let contexts = busy.into_iter().flatten().map(|qp| context(qp, 0));
    for write in region().into_iter().chain(contexts) {
        reference.write(&mut bench, write);
    }
    while !bench.all_sent() {
        bench.step(Io::OPEN);
    }
    let write = |qp, lane, psn| Write {
        qp,
        lane,
        psn,
        offset: 512,
        length: 0,
        immediate: true,
    };
    for psn in 0..60 {
        for (lane, pairs) in busy.into_iter().enumerate() {
            let frame = write(pairs[psn as usize % 2], lane, psn / 2).frame(&mut rng);
            assert_eq!(reference.send(&mut bench, lane, frame), DropReason::None);
        }
    }
    // The first frames reach the core.
    for _ in 0..60 {
        bench.step(Io::OPEN);
    }
    for &qp in &fresh {
        reference.write(&mut bench, context(qp, 0));
    }
    while !bench.all_sent() {
        bench.step(Io::OPEN);
    }
    for &qp in &fresh {
        let frame = write(qp, 1, 0).frame(&mut rng);
        assert_eq!(reference.send(&mut bench, 1, frame), DropReason::None);
    }
    for _ in 0..1500 {
        bench.step(Io::OPEN);
    }
    reference.check(&mut bench);
}
