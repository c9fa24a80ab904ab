//! Captures of real hosts: the lane stands in for the Linux rxe machine that received them.

use std::path::Path;

use sim_cosim::{Capture, LaneWidth, RegionSpec, CAPTURE_PD};
use stellar_transport::rx::{DropReason, Owner, PageSize};

fn replay(file: &str, width: LaneWidth) -> (Vec<u8>, sim_cosim::Placed) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("data")
        .join(file);
    let capture = Capture::read(&path).unwrap();
    let mut session = super::session(width);
    for (&qp, &context) in &capture.qps {
        session.write_qp(qp, context).unwrap();
    }
    for b in &capture.buffers {
        let owner = |page| {
            if page % 2 == 0 {
                Owner::Gpu
            } else {
                Owner::Host
            }
        };
        let writes = session.map.add_region(
            &mut session.world.fabric,
            RegionSpec {
                rkey: b.rkey,
                pd: CAPTURE_PD,
                va: b.va,
                length: b.length,
                page: PageSize::Size4K,
            },
            owner,
        );
        for write in &writes {
            session.write_table(write).unwrap();
        }
    }
    session.world.settle().unwrap();
    for frame in &capture.frames {
        session.receive(frame.clone(), false);
    }
    session.settle_and_compare().unwrap();
    session.expect_packets(&capture.frames, 0);
    let placed = session.verify_memory().unwrap();
    (session.world.verdicts.clone(), placed)
}

fn accepted(verdicts: &[u8]) -> usize {
    verdicts
        .iter()
        .filter(|v| **v == DropReason::None.index())
        .count()
}

#[test]
fn every_write_of_rxe_with_mtu_1024_is_placed() {
    for width in [LaneWidth::Bits1024, LaneWidth::Bits512] {
        let (verdicts, placed) = replay("rxe_write_bw_mtu1024.pcap", width);
        // tshark counts 74 first, 148 middle and 74 last packets, all into one buffer of 4,096 bytes.
        assert_eq!(accepted(&verdicts), 296);
        assert_eq!(placed.gpu + placed.host, 4096);
    }
}

#[test]
fn every_write_of_rxe_with_mtu_4096_is_placed_half_in_the_gpu_and_half_in_the_host() {
    let (verdicts, placed) = replay("rxe_write_bw_mtu4096.pcap", LaneWidth::Bits1024);
    // The capture has 8 first, 106 middle and 7 last packets, all into one buffer of 65,536 bytes.
    assert_eq!(accepted(&verdicts), 121);
    assert_eq!((placed.gpu, placed.host), (32_768, 32_768));
}

#[test]
fn atomics_are_refused_and_nothing_is_placed() {
    let (verdicts, placed) = replay("rxe_atomic_fetch_add.pcap", LaneWidth::Bits1024);
    assert_eq!(accepted(&verdicts), 0);
    assert_eq!((placed.gpu, placed.host), (0, 0));
}
