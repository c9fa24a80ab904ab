//! The round trip of an idle path, from which congestion control takes its parameters.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use sim_net::{ChannelId, HostId, Node, Time, Topology, FCS, PREAMBLE};
use stellar_wire::mrc::{CcState, Meth, Seth};
use stellar_wire::{icrc, Bth, Ethernet, Header, Ipv4, Reth, Udp};

/// Bytes of every frame over IPv4 beside extension headers and payload.
const HEADERS: usize = Ethernet::LEN + Ipv4::LEN + Udp::LEN + Bth::LEN + icrc::LEN;

/// Round trip of a packet with `mtu` bytes and its SACK between the first host and the one that is furthest from it, in picoseconds, in the slowest
/// plane.
pub(crate) fn longest_round_trip(topology: &Topology, mtu: usize) -> Time {
    let data = HEADERS + Meth::LEN + Reth::LEN + mtu;
    let sack = HEADERS + Seth::LEN + CcState::LEN;
    let edges = Edges::new(topology);
    let ports = topology.hosts().first().map_or(0, |host| host.ports.len());
    let plane = |port| {
        let from = Node::Host {
            host: HostId(0),
            port,
        };
        let there = edges.times(from, data);
        // Both directions of a link have the same settings, so the way back takes the time of a SACK from the first host.
        let back = edges.times(from, sack);
        let hosts = there
            .iter()
            .filter(|(node, _)| matches!(node, Node::Host { .. }));
        let trips = hosts.filter_map(|(node, time)| Some(time + back.get(node)?));
        trips.max().unwrap_or(0)
    };
    (0..ports).map(plane).max().unwrap_or(0)
}

/// The channels from every node.
struct Edges<'a> {
    topology: &'a Topology,
    from: HashMap<Node, Vec<(Node, ChannelId)>>,
}

impl<'a> Edges<'a> {
    fn new(topology: &'a Topology) -> Self {
        let mut from: HashMap<Node, Vec<_>> = HashMap::new();
        for channel in topology.channels() {
            let (sender, receiver) = topology.ends(channel);
            from.entry(sender).or_default().push((receiver, channel));
        }
        Self { topology, from }
    }

    /// Least times of a frame of `length` bytes from `start` to every node (Dijkstra 1959). Only switches forward.
    fn times(&self, start: Node, length: usize) -> HashMap<Node, Time> {
        let mut times = HashMap::from([(start, 0)]);
        let mut queue = BinaryHeap::from([Reverse((0, 0))]);
        let mut nodes = vec![start];
        while let Some(Reverse((time, index))) = queue.pop() {
            let node = nodes[index];
            let forwards = node == start || matches!(node, Node::Switch(_));
            if !forwards || times.get(&node).is_some_and(|&best| best < time) {
                continue;
            }
            for &(next, channel) in self.from.get(&node).into_iter().flatten() {
                let at = time + self.hop(channel, next, length);
                if times.get(&next).is_none_or(|&best| at < best) {
                    times.insert(next, at);
                    queue.push(Reverse((at, nodes.len())));
                    nodes.push(next);
                }
            }
        }
        times
    }

    /// Time from the start of a frame on a channel until the next node has processed it.
    fn hop(&self, channel: ChannelId, next: Node, length: usize) -> Time {
        let params = &self.topology.links()[channel.link().0 as usize].params;
        let bits = (PREAMBLE + length + FCS) as u64 * 8_000_000;
        let latency = match next {
            Node::Switch(switch) => self.topology.switches()[switch.0 as usize].latency,
            Node::Host { .. } => 0,
        };
        bits.div_ceil(params.rate_mbps) + params.delay_ps + latency
    }
}
