//! Verilated cards whose queue pairs have one path at a time, on a fabric where their paths collide.

use sim_nic::{chosen_shape, host_ports, CardSends, MixedNic, RtlNic};
use sim_world::pair::{FIRST_QP, SENDER};
use sim_world::report::Report;
use sim_world::transfer::{run, Transfer};
use sim_world::{MrcPlan, NicKind, Plan, TransportPlan};
use stellar_transport::spray::Policy;

/// Two spines in each plane, whose links have half of the rate of a port. Marks begin early, so queues stay short.
const NARROW_SPINES: &str = "
[defaults]
rate_gbps = 200
ecn = { min_bytes = 20_000, max_bytes = 80_000, max_probability = 1.0 }
[leaf_spine]
planes = 2
leaves = 2
spines = 2
hosts_per_leaf = 1
host_link = { delay_ns = 50 }
spine_link = { delay_ns = 250, rate_gbps = 100 }
";
/// Queue pairs, one for each link to a spine: it takes luck that no two draw the same.
const QPS: u32 = 4;
/// Packets that each of them sends.
const PACKETS: u32 = 128;
/// The same over RC: eight windows, which are rounds.
const RC_PACKETS: u32 = 1024;
/// Runs whose paths are drawn differently.
const SEEDS: u64 = 16;
/// Paths of each queue pair over RC.
const PATHS: u8 = 16;

/// Sends this number of packets on each queue pair, and compares every byte. Packets meet queues, and paths change. Returns the report.
fn collide<N: NicKind>(
    topology: &str,
    seed: u64,
    transport: TransportPlan,
    packets: u32,
) -> Report {
    let ports = host_ports(chosen_shape());
    let topology = ports.topology("narrow_spines", topology).unwrap();
    let mut plan = Plan::new(topology, seed).unwrap();
    plan.transport = transport;
    plan.qps = QPS;
    let transfer = Transfer {
        limit: 2_000_000_000,
        ..Transfer::whole(packets << plan.mtu_log2)
    };
    let run = run::<N>(&plan, transfer).unwrap_or_else(|error| panic!("{error}"));
    let sender = run.world.host(SENDER).nic();
    let used = |qp| {
        sender
            .path_loads(qp)
            .iter()
            .filter(|&&load| load > 0)
            .count()
    };
    // Changes to a path that the queue pair did not have before.
    let moves: usize = (FIRST_QP..FIRST_QP + QPS).map(|qp| used(qp) - 1).sum();
    let report = run.report;
    println!(
        "{transport:?}: {moves} moves, {} marks, {} ns, {:?}, {:?}",
        report.requester.ecn_marks, report.duration_ns, report.out_of_order, report.requester
    );
    assert!(moves > 0, "no queue pair left its path");
    report
}

/// Over MRC, from a card to the reference.
fn collide_over_mrc(policy: Policy, seed: u64) -> Report {
    let transport = TransportPlan::Mrc(MrcPlan {
        policy,
        ..MrcPlan::default()
    });
    let report = collide::<MixedNic<CardSends>>(NARROW_SPINES, seed, transport, PACKETS);
    assert!(report.requester.ecn_marks > 0, "no two paths collide");
    report
}

/// Over RC, between two cards. Without a timeout, a path changes only if a probe was answered.
fn collide_over_rc(policy: Policy) -> Report {
    let transport = TransportPlan::rc(Some(policy), PATHS).expect("a policy of RC");
    // RC has no congestion control: links are slower, and queues hold what windows have.
    let slow = "rate_gbps = 50, queue_bytes = 4_000_000";
    let topology = NARROW_SPINES.replace("rate_gbps = 100", slow);
    let report = collide::<RtlNic>(&topology, 6, transport, RC_PACKETS);
    assert_eq!(report.requester.timeouts, 0);
    report
}

#[test]
fn with_hp3_no_packet_overtakes_another_one_and_none_is_sent_again() {
    let report = collide_over_mrc(Policy::Hp3, 2);
    assert_eq!(report.out_of_order.max, 0);
    assert_eq!(report.requester.retransmissions, 0);
}

/// The queue of the old path may shrink more than Hopper expects while data waits, and that of the new one grow: packets overtake others by what the queue of a link holds. Mostly that
/// is no more than before every packet is marked, and few are sent again.
#[test]
fn with_hopper_packets_overtake_by_a_queue_and_few_are_sent_again() {
    let reports = (1..=SEEDS).map(|seed| collide_over_mrc(Policy::Hopper, seed));
    let reports: Vec<_> = reports.collect();
    let mut longest: Vec<_> = reports.iter().map(|run| run.out_of_order.max).collect();
    longest.sort_unstable();
    let again: u64 = reports
        .iter()
        .map(|run| run.requester.retransmissions)
        .sum();
    assert!(
        longest[longest.len() / 2] < 40 && longest[longest.len() - 1] < 64,
        "{longest:?}"
    );
    assert!(
        again * 200 < SEEDS * u64::from(QPS * PACKETS),
        "{again} packets were sent again"
    );
}

#[test]
fn over_rc_with_hp3_no_packet_overtakes_another_one_and_none_is_sent_again() {
    let report = collide_over_rc(Policy::Hp3);
    assert_eq!(report.out_of_order.max, 0);
    assert_eq!(report.requester.retransmissions, 0);
}

/// A path that is shared becomes slower than the longest delay, so some packets are sent again.
#[test]
fn over_rc_with_hopper_few_packets_are_sent_again() {
    let sums = collide_over_rc(Policy::Hopper).requester;
    assert!(sums.retransmissions < sums.packets / 4, "{sums:?}");
}
