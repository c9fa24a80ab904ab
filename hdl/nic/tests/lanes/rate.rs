//! Both lanes at line rate.

use std::collections::BTreeMap;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use stellar_transport::rx::DropReason;

use crate::lanes::bench::{Bench, Io};
use crate::lanes::reference::Reference;
use crate::lanes::traffic::{context, region, Write};

/// Four queue pairs for each port.
const OWN: [[u32; 4]; 2] = [[2, 4, 6, 8], [12, 14, 16, 18]];
/// One queue pair for both.
const SHARED: [[u32; 4]; 2] = [[2; 4]; 2];

/// Frames without a gap on both ports, `beats` each, out of order by up to 31 packets. Every packet is placed, and the last outcome follows the last
/// frame at once.
fn both_ports(width: usize, length: usize, beats: usize, qps: [[u32; 4]; 2]) {
    const FRAMES: u32 = 240;
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let mut bench = Bench::new(width);
    let mut reference = Reference::new(&[]);
    for write in region() {
        reference.write(&mut bench, write);
    }
    let mut sent: BTreeMap<u32, u32> = qps.into_iter().flatten().map(|qp| (qp, 0)).collect();
    for &qp in sent.keys() {
        reference.write(&mut bench, context(qp, 0));
    }
    while !bench.all_sent() {
        bench.step(Io::OPEN);
    }
    for n in 0..FRAMES {
        // Lane 1 has the first turn.
        for lane in [1, 0] {
            let qp = qps[lane][n as usize % 4];
            let sent = sent.get_mut(&qp).expect("a queue pair of the test");
            let write = Write {
                qp,
                lane,
                psn: *sent ^ 31,
                offset: u64::from(n) * 256,
                length,
                immediate: false,
            };
            *sent += 1;
            let frame = write.frame(&mut rng);
            assert!(
                frame.len().div_ceil(width / 8) <= beats,
                "{} bytes",
                frame.len()
            );
            assert_eq!(reference.send(&mut bench, lane, frame), DropReason::None);
        }
    }
    let start = bench.clock;
    while bench.outcomes.len() < 2 * FRAMES as usize {
        bench.step(Io::OPEN);
        assert!(
            bench.clock - start < 20_000,
            "{} outcomes",
            bench.outcomes.len()
        );
    }
    let clocks = bench.clock - start;
    let wire = u64::from(FRAMES) * beats as u64;
    assert!(
        clocks <= wire + 120,
        "{clocks} clocks for {wire} clocks of frames"
    );
    for _ in 0..100 {
        bench.step(Io::OPEN);
    }
    reference.check(&mut bench);
}

#[test]
fn two_ports_of_full_packets() {
    both_ports(512, 1024, 18, OWN);
    both_ports(1024, 1024, 9, OWN);
}

/// Two beats per frame and two ports give one token per cycle.
#[test]
fn two_ports_of_small_packets_fill_the_core() {
    both_ports(512, 32, 2, OWN);
    both_ports(1024, 128, 2, OWN);
}

/// One queue pair whose packets come through both ports also fills the core.
#[test]
fn one_queue_pair_fills_the_core() {
    both_ports(512, 32, 2, SHARED);
    both_ports(1024, 128, 2, SHARED);
}
