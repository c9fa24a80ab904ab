//! Path policies of RC queue pairs that the driver asks for: two cards under two spines, one of which is slow.

use std::time::Duration;

use sim_nic::{chosen_shape, host_ports, FabricPair, RtlNic};
use sim_world::pair::base_round_trip;
use sim_world::{Plan, Verified};
use stellar_driver::*;
use stellar_wire::rows::DRAIN_PROBES;

use crate::verbs::hosts::*;
use crate::verbs::path_manager::two_spines;
use crate::verbs::profiles::is_slow;

/// Paths of a queue pair.
const PATHS: u8 = 8;
/// Values of profile 0. The queue pair's number says which of them its paths have.
const VALUES: usize = 128;
const MTU_LOG2: u8 = 10;
/// A message of eight windows, which are rounds.
const BYTES: u32 = 1 << 20;
const PACKETS: u64 = (BYTES >> MTU_LOG2) as u64;
/// Bytes of a data packet around its payload, about: headers, checks, preamble and gap.
const FRAME_OVERHEAD: u32 = 90;
/// Queue pairs that draw a first path, until one draws a slow one.
const DRAWS: usize = 16;

/// Connects with these paths and attributes of RTS at both ends.
fn connect_by_rc_paths(qps: [&QueuePair; 2], paths: RcPaths, ready: RcRtsAttributes) {
    let told = qps.map(|qp| qp.connection(ready.psn));
    for (qp, peer) in qps.into_iter().zip([told[1], told[0]]) {
        qp.modify(Modify::Init(InitAttributes::default())).unwrap();
        qp.modify(Modify::RcRtr(RcRtrAttributes {
            mtu_log2: MTU_LOG2,
            paths: Some(paths),
            ..RcRtrAttributes::new(peer)
        }))
        .unwrap();
    }
    for qp in qps {
        qp.modify(Modify::RcRts(ready)).unwrap();
    }
}

/// Round trip on the idle fabric.
fn base_rtt(plan: &Plan) -> Duration {
    let mut plan = plan.clone();
    plan.mtu_log2 = MTU_LOG2;
    Duration::from_nanos(base_round_trip::<RtlNic>(&plan).unwrap().div_ceil(1000))
}

/// What the fabric saw of a message.
#[derive(Debug)]
struct Seen {
    /// Data packets by entropy value, also those that were sent again.
    loads: Vec<u64>,
    /// How far out of order they arrived at most.
    overtaken: u32,
}

impl Seen {
    fn used(&self) -> Vec<usize> {
        let used = |&value: &usize| self.loads[value] > 0;
        (0..VALUES).filter(used).collect()
    }
}

/// Two cards, and memory at both.
struct Cards {
    pair: FabricPair,
    plan: Plan,
    /// Rate of the slow spine in Gb/s, a quarter of that of a port.
    slow_gbps: u32,
    base_rtt: Duration,
    first_entropy: u16,
    hosts: [Host; 2],
    source: MemoryRegion,
    target: MemoryRegion,
    sent: Vec<u8>,
}

impl Cards {
    fn new() -> Self {
        let slow_gbps = host_ports(chosen_shape()).rate_gbps / 4;
        let (pair, plan, devices) = two_spines(&format!("set.rate_gbps = {slow_gbps}"));
        let hosts = open(&devices, false);
        let source = hosts[0].region(BYTES as usize, false);
        let target = hosts[1].region(BYTES as usize, true);
        let sent = pattern(BYTES as usize, 0x6b);
        source.memory().unwrap().write(0, &sent).unwrap();
        Self {
            first_entropy: devices[0].first_entropy(),
            pair,
            base_rtt: base_rtt(&plan),
            plan,
            slow_gbps,
            hosts,
            source,
            target,
            sent,
        }
    }

    /// Whether packets with this entropy value take the slow spine, which is one of port 0.
    fn is_slow(&self, value: usize) -> bool {
        value.is_multiple_of(2) && is_slow(&self.plan, self.first_entropy + value as u16)
    }

    /// Sends a message.
    fn write(&self, qp: &QueuePair, bytes: u32) -> Seen {
        self.pair.watch(self.first_entropy);
        let to = self.target.remote();
        let slice = self.source.slice(0, bytes).unwrap();
        qp.post_send(&WorkRequest::write(1, slice, to.address, to.rkey))
            .unwrap();
        assert_eq!(
            ends(&self.hosts[0].completions(1)),
            [(1, WcStatus::Success)]
        );
        let nothing = Verified {
            bytes: 0,
            succeeded: 0,
            failed: 0,
        };
        let report = self.pair.report(&[], nothing, Vec::new(), 1);
        let mut loads = report.path_loads;
        loads.resize(VALUES, 0);
        Seen {
            loads,
            overtaken: report.out_of_order.max,
        }
    }

    /// Queue pairs with this policy that have drawn a slow path, and that path. One packet tells which one it is.
    fn on_a_slow_path(&self, policy: Policy, ready: RcRtsAttributes) -> ([QueuePair; 2], usize) {
        let paths = RcPaths {
            paths: PATHS,
            base_rtt: self.base_rtt,
            ..RcPaths::new(policy)
        };
        // The others stay: the next queue pair would get the number of one that is gone, and draw the same path.
        let mut others = Vec::new();
        for _ in 0..DRAWS {
            let qps = [0, 1].map(|host: usize| self.hosts[host].qp_over(Transport::Rc));
            connect_by_rc_paths([&qps[0], &qps[1]], paths, ready);
            let used = self.write(&qps[0], 1).used();
            assert_eq!(used.len(), 1, "a packet takes a path of its own profile");
            if self.is_slow(used[0]) {
                return (qps, used[0]);
            }
            others.push(qps);
        }
        panic!("none of {DRAWS} queue pairs draws a slow path");
    }

    /// All bytes are there, and no card reached for memory that is not its own.
    fn check_bytes(&self) {
        assert!(bytes(&self.target) == self.sent, "other bytes arrived");
        assert_eq!(
            (self.pair.bad_accesses(0), self.pair.bad_accesses(1)),
            (0, 0)
        );
    }
}

#[test]
fn with_hp3_a_slow_path_is_left_once_and_nothing_is_sent_again() {
    let cards = Cards::new();
    let ([qa, _qb], old) = cards.on_a_slow_path(Policy::Hp3, RcRtsAttributes::new(5));
    let moved = cards.write(&qa, BYTES);
    let stayed = cards.write(&qa, BYTES);
    let counters = qa.counters().unwrap();
    println!("from {old}: {moved:?}, {stayed:?}, {counters:?}");

    let used = moved.used();
    let [new] = used.iter().filter(|&&path| path != old).collect::<Vec<_>>()[..] else {
        panic!("it is left once: {used:?}");
    };
    assert!(!cards.is_slow(*new));
    assert_eq!(moved.loads[old] + moved.loads[*new], PACKETS);
    // Three rounds with a mark, of a window each. The first acknowledgement begins the first of them, and the pause begins with the last one.
    let window = u64::from(RcRtsAttributes::new(5).window);
    assert!((3 * window..5 * window).contains(&moved.loads[old]));
    assert_eq!((stayed.used(), stayed.loads[*new]), (vec![*new], PACKETS));
    assert_eq!((moved.overtaken, stayed.overtaken), (0, 0));
    for nothing in [
        QpCounter::Retransmissions,
        QpCounter::Naks,
        QpCounter::Timeouts,
    ] {
        assert_eq!(counters.get(nothing), 0, "{nothing:?}");
    }
    let probes = counters.get(QpCounter::ProbesSent);
    assert!((1..=u64::from(DRAIN_PROBES)).contains(&probes), "one pause");
    cards.check_bytes();
}

/// Hopper remembers answers to probes for four base round trips, and RC has one sample in a round trip: the window is one with which that of the slow path is above 2.5
/// base round trips and below four.
#[test]
fn with_hopper_a_slow_path_is_left_without_a_timeout() {
    let cards = Cards::new();
    let bits = u64::from(cards.slow_gbps) * cards.base_rtt.as_nanos() as u64 * 13 / 4;
    let window = (bits / 8) as u32 / ((1 << MTU_LOG2) + FRAME_OVERHEAD);
    println!("base {:?}, window {window}", cards.base_rtt);
    let ready = RcRtsAttributes {
        window: window as u16,
        ack_every: 2,
        ..RcRtsAttributes::new(5)
    };
    let ([qa, _qb], old) = cards.on_a_slow_path(Policy::Hopper, ready);
    let moved = cards.write(&qa, BYTES);
    let stayed = cards.write(&qa, BYTES);
    let counters = qa.counters().unwrap();
    println!("from {old}: {moved:?}, {stayed:?}, {counters:?}");

    assert!(moved.loads[old] > 0 && moved.loads[old] < PACKETS / 2);
    let last = stayed.used();
    assert!(last.iter().all(|&path| path != old && !cards.is_slow(path)));
    assert!(counters.get(QpCounter::ProbesSent) > 0);
    assert_eq!(counters.get(QpCounter::Timeouts), 0);
    cards.check_bytes();
}
