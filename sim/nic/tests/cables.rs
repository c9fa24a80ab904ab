//! Two hosts cabled to each other: nothing waits in a fabric, nothing is lost, and no packet overtakes another one on its way.

use sim_world::{lossy_topology, MrcPlan, Plan, TransportPlan, MAX_PATHS};
use stellar_transport::spray::Policy;

const CABLES: &str = include_str!("../../net/topologies/back_to_back.toml");

/// Queue pairs of oblivious spraying over all paths.
pub fn cabled(mtu_log2: u8, queue_pairs: u32) -> Plan {
    let topology = lossy_topology("back_to_back.toml", CABLES, None).expect("a topology");
    let mut plan = Plan::new(topology, 5).expect("a plan");
    plan.transport = TransportPlan::Mrc(MrcPlan {
        policy: Policy::Obs,
        paths: MAX_PATHS,
        ..MrcPlan::default()
    });
    plan.mtu_log2 = mtu_log2;
    plan.qps = queue_pairs;
    plan.sq_log2 = 12;
    plan
}
