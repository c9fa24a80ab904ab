//! A Verilated card whose queue pairs have one path at a time, on a fabric where their paths collide, and the reference that receives.

use sim_nic::{chosen_shape, host_ports, CardSends, MixedNic};
use sim_world::pair::{FIRST_QP, SENDER};
use sim_world::transfer::{run, Transfer};
use sim_world::{ArrivalOrder, MrcPlan, Nic, Plan, TransportPlan};
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

/// Sends [`PACKETS`] packets on each queue pair, and compares every byte. Packets meet queues, paths change, and nothing is sent again. Returns the order
/// in which packets arrived.
fn collide(policy: Policy) -> ArrivalOrder {
    let ports = host_ports(chosen_shape());
    let topology = ports.topology("narrow_spines", NARROW_SPINES).unwrap();
    let mut plan = Plan::new(topology, 2).unwrap();
    plan.transport = TransportPlan::Mrc(MrcPlan {
        policy,
        ..MrcPlan::default()
    });
    plan.qps = QPS;
    let transfer = Transfer {
        limit: 2_000_000_000,
        ..Transfer::whole(PACKETS << plan.mtu_log2)
    };
    let run = run::<MixedNic<CardSends>>(&plan, transfer).unwrap_or_else(|error| panic!("{error}"));
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
    let report = &run.report;
    println!(
        "{}: {moves} moves, {} marks, {} ns, {:?}, {} cycles",
        policy.name(),
        report.requester.ecn_marks,
        report.duration_ns,
        report.out_of_order,
        sender.rtl().expect("the card sends").clocks()
    );
    assert_eq!(report.requester.packets, u64::from(QPS * PACKETS));
    assert_eq!(report.requester.retransmissions, 0);
    assert!(report.requester.ecn_marks > 0, "no two paths collide");
    assert!(moves > 0, "no queue pair left its path");
    run.report.out_of_order
}

#[test]
fn with_hp3_no_packet_overtakes_another_one() {
    assert_eq!(collide(Policy::Hp3).max, 0);
}

/// The queue of the old path may shrink more than Hopper expects while data waits, and that of the new one grow: packets overtake others by less than what the queue of a link holds
/// at most before every packet is marked.
#[test]
fn with_hopper_packets_overtake_by_less_than_a_queue_of_marks() {
    let order = collide(Policy::Hopper);
    assert!(order.max < 40, "{order:?}");
}
