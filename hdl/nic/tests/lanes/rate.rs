//! Both lanes at line rate.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use stellar_transport::rx::DropReason;

use crate::bench::{Bench, Io};
use crate::reference::Reference;
use crate::traffic::{context, region, Write};

/// Frames without a gap on both ports, `beats` each: every packet is placed, and the last outcome follows the last frame at once.
fn both_ports(width: usize, length: usize, beats: usize) {
    const FRAMES: u32 = 240;
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let mut bench = Bench::new(width);
    let mut reference = Reference::new(&[]);
    for write in region() {
        reference.write(&mut bench, write);
    }
    let qps = [[2, 4, 6, 8], [12, 14, 16, 18]];
    for qp in qps.into_iter().flatten() {
        reference.write(&mut bench, context(qp, 0));
    }
    while !bench.all_sent() {
        bench.step(Io::OPEN);
    }
    for n in 0..FRAMES {
        for (lane, qps) in qps.iter().enumerate() {
            let write = Write {
                qp: qps[n as usize % 4],
                lane,
                psn: n / 4,
                offset: u64::from(n) * 256,
                length,
                immediate: false,
            };
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
    both_ports(512, 1024, 18);
    both_ports(1024, 1024, 9);
}

/// Two beats each and two ports: one token per clock.
#[test]
fn two_ports_of_small_packets_fill_the_core() {
    both_ports(512, 32, 2);
    both_ports(1024, 128, 2);
}
