//! The round trip that congestion control sees has nothing of the sender's own: neither the read of the payload, nor what waits at its ports.

use sim_nic::RtlNic;
use sim_world::transfer::{run, Run, Transfer};
use sim_world::Plan;

use crate::cables::cabled;

/// Packets of a message of the busy runs, and bytes of all queue pairs together.
const MESSAGE_PACKETS: u32 = 32;
const BYTES: u32 = 8 << 20;
/// Time limit of a run: 10 ms.
const LIMIT: u64 = 10_000_000_000;
/// Ports that are busy add one read of the receiver's memory to a median at most, and this, in picoseconds: a SACK waits for a flush read behind its payload, and that for
/// one that is under way.
const MOST: u64 = 300_000;

/// Round trips of the first queue pair, in picoseconds, shortest first.
struct Seen {
    round_trips: Vec<u64>,
    /// Median of its congestion window, in bytes.
    window: u32,
    gbps: f64,
}

impl Seen {
    fn of(run: &Run<RtlNic>) -> Self {
        let samples = run.world.record().samples();
        let known = samples.iter().filter(|sample| sample.rtt > 0);
        // From the middle on, queues are as long as they stay.
        let known: Vec<_> = known.collect();
        let steady = &known[known.len() / 2..];
        let mut round_trips: Vec<_> = steady.iter().map(|sample| sample.rtt).collect();
        round_trips.sort_unstable();
        let mut windows: Vec<_> = steady.iter().map(|sample| sample.cwnd).collect();
        windows.sort_unstable();
        Self {
            round_trips,
            window: windows[windows.len() / 2],
            gbps: run.report.goodput_gbps,
        }
    }

    fn median(&self) -> u64 {
        self.round_trips[self.round_trips.len() / 2]
    }

    fn longest(&self) -> u64 {
        self.round_trips[self.round_trips.len() - 1]
    }
}

fn plan(mtu_log2: u8, queue_pairs: u32, read_latency: u64) -> Plan {
    let mut plan = cabled(mtu_log2, queue_pairs);
    plan.pcie.reads.latency = read_latency;
    plan
}

/// A queue pair that sends a packet every 20 us.
fn lone(mtu_log2: u8, read_latency: u64) -> Seen {
    let transfer = Transfer {
        bytes: 1 << mtu_log2,
        messages: 4,
        immediates: false,
        interval: 20_000_000,
        limit: LIMIT,
    };
    let plan = plan(mtu_log2, 1, read_latency);
    Seen::of(&run::<RtlNic>(&plan, transfer).expect("an end"))
}

/// Queue pairs that fill both ports.
fn busy(mtu_log2: u8, queue_pairs: u32, read_latency: u64) -> Seen {
    let transfer = Transfer {
        bytes: MESSAGE_PACKETS << mtu_log2,
        messages: (BYTES >> mtu_log2) / MESSAGE_PACKETS / queue_pairs,
        immediates: false,
        interval: 0,
        limit: LIMIT,
    };
    let plan = plan(mtu_log2, queue_pairs, read_latency);
    Seen::of(&run::<RtlNic>(&plan, transfer).expect("an end"))
}

/// In microseconds, of so many picoseconds.
fn micros(time: u64) -> f64 {
    time as f64 / 1e6
}

#[test]
fn a_round_trip_contains_nothing_that_waits_at_the_own_port() {
    println!("read, MTU, queue pairs: alone, busy (median, longest) us; window; Gb/s");
    for read_latency in [600_000, 1_500_000] {
        for mtu_log2 in [12, 10, 8] {
            let alone = lone(mtu_log2, read_latency).longest();
            for queue_pairs in [1, 16] {
                let seen = busy(mtu_log2, queue_pairs, read_latency);
                let (median, longest) = (seen.median(), seen.longest());
                println!(
                    "{:.1} us, {}, {queue_pairs}: {:.1}, {:.1}, {:.1}; {}; {:.0}",
                    micros(read_latency),
                    1 << mtu_log2,
                    micros(alone),
                    micros(median),
                    micros(longest),
                    seen.window,
                    seen.gbps,
                );
                assert!(median < alone + read_latency + MOST, "the own queue shows");
            }
        }
    }
}
