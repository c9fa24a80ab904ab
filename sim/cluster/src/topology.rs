//! Topologies of clusters.

use sim_net::topology::{LeafSpine, LinkSettings, TopologySpec};
use sim_net::{ChannelId, EcnThresholds, Node, Topology, TopologyError};

use crate::files::{read_fat_tree, FatTreeSettings};
use crate::ClusterError;

/// Bytes on the line from which queues mark, and always mark: 10 and 38 frames of 4,150 bytes, at 200 Gb/s 0.22 and 0.82 of the bytes of a round trip.
const ECN: EcnThresholds = EcnThresholds {
    min_bytes: 41_500,
    max_bytes: 157_700,
    max_probability: 1.0,
    at_departure: false,
};
/// Capacity of a queue: 1,000 frames of 4,150 bytes.
const QUEUE_BYTES: u64 = 4_150_000;

/// A plane of leaves and spines as in the comparison with uet-htsim: 200 Gb/s everywhere, 1 us per hop (0.5 us of cable, 0.5 us of switch), ECN at
/// every port, queues of 1,000 frames.
///
/// # Errors
/// [`TopologyError`] for counts that a generator cannot make.
pub fn leaf_spine(
    leaves: usize,
    hosts_per_leaf: usize,
    spines: usize,
) -> Result<Topology, TopologyError> {
    let spec = built_in_spec(1, leaves, hosts_per_leaf, spines);
    Topology::from_spec("built-in leaf-spine fabric", spec)
}

/// The fabric of [`leaf_spine`], with more planes of it.
pub(crate) fn built_in_spec(
    planes: usize,
    leaves: usize,
    hosts_per_leaf: usize,
    spines: usize,
) -> TopologySpec {
    let mut spec = TopologySpec::default();
    spec.fabric.switch_latency_ns = 500.0;
    spec.fabric.ecn_at_last_hop = true;
    spec.defaults = LinkSettings {
        rate_gbps: Some(200.0),
        delay_ns: Some(500.0),
        queue_bytes: Some(QUEUE_BYTES),
        ecn: Some(ECN),
        ..LinkSettings::default()
    };
    spec.leaf_spine = Some(LeafSpine {
        planes,
        leaves,
        spines,
        hosts_per_leaf,
        host_link: LinkSettings::default(),
        spine_link: LinkSettings::default(),
    });
    spec
}

/// Reads the text of a fat tree of htsim, with the queues and marks of [`leaf_spine`].
pub(crate) fn fat_tree(file: &str, text: &str) -> Result<Topology, ClusterError> {
    let settings = FatTreeSettings {
        queue_bytes: Some(QUEUE_BYTES),
        ecn: Some(ECN),
        trim: None,
    };
    read_fat_tree(file, text, &settings)
}

/// Channels from a switch with hosts to another switch.
pub(crate) fn uplinks(topology: &Topology) -> Vec<ChannelId> {
    let mut has_hosts = vec![false; topology.switches().len()];
    for channel in topology.channels() {
        if let (Node::Host { .. }, Node::Switch(switch)) = topology.ends(channel) {
            has_hosts[switch.0 as usize] = true;
        }
    }
    let channels = topology.channels();
    let is_uplink = |&channel: &ChannelId| match topology.ends(channel) {
        (Node::Switch(from), Node::Switch(_)) => has_hosts[from.0 as usize],
        _ => false,
    };
    channels.filter(is_uplink).collect()
}
