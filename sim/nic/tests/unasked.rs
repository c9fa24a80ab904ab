//! Bursts that end inside of a message ask for no SACK, so their last packets wait for the next turn of their queue pair. Nothing may take them for lost.

use sim_nic::RtlNic;
use sim_world::transfer::{run, Transfer};

use crate::cables::cabled;

const QUEUE_PAIRS: u32 = 16;
/// Packets of all queue pairs, and their path MTU.
const PACKETS: u32 = 1 << 14;
const MTU_LOG2: u8 = 8;
/// Time limit of a run: 10 ms.
const LIMIT: u64 = 10_000_000_000;

/// What the sender's port can carry of its packets, at least. Without reason to wait, it is as much with messages of any size.
const LEAST_RATIO: f64 = 0.95;
/// Spurious losses: each queue pair may have some while the ports fill, because its round trips are short at first.
const MOST_LOSSES: u64 = PACKETS as u64 / 500;
/// A SACK for every burst of 32 packets, and some.
const MOST_SACKS: u64 = PACKETS as u64 / 24;

fn check(packets: u32) {
    let plan = cabled(MTU_LOG2, QUEUE_PAIRS);
    let transfer = Transfer {
        bytes: packets << MTU_LOG2,
        messages: PACKETS / QUEUE_PAIRS / packets,
        immediates: false,
        interval: 0,
        limit: LIMIT,
    };
    let report = run::<RtlNic>(&plan, transfer).expect("an end").report;
    let sums = &report.requester;
    println!(
        "{packets} packets a message: {:.1} Gb/s, {:.3} of the wire; {sums:?}",
        report.goodput_gbps, report.ratio
    );
    assert!(report.ratio >= LEAST_RATIO, "the ports are not full");
    assert_eq!(sums.timeouts, 0);
    assert!(sums.early_losses <= MOST_LOSSES, "nothing is lost");
    assert!(
        sums.acknowledgements <= MOST_SACKS,
        "SACKs are not coalesced"
    );
}

#[test]
fn what_nobody_asked_for_is_not_taken_for_lost() {
    for packets in [3, 5] {
        check(packets);
    }
}
