//! Topologies and frames the tests share.

use sim_net::{ChannelId, Delivery, Fabric, Frame, HostId, Node, Time, Topology};
use stellar_wire::mrc::{CcState, Meth, Seth};
use stellar_wire::{
    Bth, Ecn, Ethernet, ExtHeaders, Ip, Ipv4, Ipv6, Opcode, Reth, RoceFrame, Srv6Encap, Udp,
};

/// A topology from a valid text.
pub fn topology(text: &str) -> Topology {
    Topology::from_toml("test", text).unwrap_or_else(|error| panic!("{error}"))
}

/// Three hosts on one switch `s`: `a` and `b` (links `a` and `b`, 100G) send to `c` (link `c`, `bottleneck` settings).
pub fn star(bottleneck: &str) -> Topology {
    star_with(bottleneck, "", "ecn_at_last_hop = true")
}

/// The same with further default settings of links, and settings of the fabric.
pub fn star_with(bottleneck: &str, links: &str, fabric: &str) -> Topology {
    topology(&format!(
        "
        hosts = [{{ name = 'a' }}, {{ name = 'b' }}, {{ name = 'c' }}]
        switches = [{{ name = 's' }}]
        links = [
            {{ name = 'a', ends = ['a', 's'] }},
            {{ name = 'b', ends = ['b', 's'] }},
            {{ name = 'c', ends = ['s', 'c'], set = {{ {bottleneck} }} }},
        ]
        [fabric]
        {fabric}
        [defaults]
        rate_gbps = 100
        {links}
        "
    ))
}

/// `a` and `b` on switch `s`, link `m` (`middle` settings) to switch `t`, and `c` on `t` behind link `c` (`last` settings).
pub fn line(middle: &str, last: &str) -> Topology {
    topology(&format!(
        "
        hosts = [{{ name = 'a' }}, {{ name = 'b' }}, {{ name = 'c' }}]
        switches = [{{ name = 's' }}, {{ name = 't', latency_ns = 400 }}]
        links = [
            {{ name = 'a', ends = ['a', 's'] }},
            {{ name = 'b', ends = ['b', 's'] }},
            {{ name = 'm', ends = ['s', 't'], set = {{ {middle} }} }},
            {{ name = 'c', ends = ['t', 'c'], set = {{ {last} }} }},
        ]
        defaults = {{ rate_gbps = 100 }}
        "
    ))
}

pub const A: HostId = HostId(0);
pub const B: HostId = HostId(1);
pub const C: HostId = HostId(2);

/// The channel from the switch of a [`star`] to `c`.
pub fn bottleneck(topology: &Topology) -> ChannelId {
    topology.link("c").unwrap().forward()
}

/// The fields of a frame that the tests vary.
#[derive(Clone)]
pub struct Sent {
    pub from: HostId,
    pub to: HostId,
    pub port: usize,
    pub sport: u16,
    pub flow_label: u32,
    pub psn: u32,
    pub payload: usize,
    pub ecn: Ecn,
    pub v6: bool,
    pub ack: bool,
    pub srv6: Option<Srv6Encap>,
    pub dscp: u8,
}

impl Sent {
    pub fn new(from: HostId, to: HostId) -> Self {
        Self {
            from,
            to,
            port: 0,
            sport: 0xc000,
            flow_label: 0,
            psn: 0,
            payload: 1000,
            ecn: Ecn::Ect0,
            v6: false,
            ack: false,
            srv6: None,
            dscp: 0,
        }
    }

    /// An MRC WRITE, or a SACK.
    pub fn roce(&self, topology: &Topology) -> RoceFrame {
        let port = |host: HostId| &topology.hosts()[host.0 as usize].ports[self.port];
        let (from, to) = (port(self.from), port(self.to));
        let (dscp, ecn) = (self.dscp, self.ecn);
        let ip = if self.v6 {
            let flow_label = self.flow_label;
            Ip::V6(Ipv6 {
                src: from.ipv6,
                dst: to.ipv6,
                ecn,
                dscp,
                flow_label,
                ..Ipv6::default()
            })
        } else {
            Ip::V4(Ipv4 {
                src: from.ipv4,
                dst: to.ipv4,
                ecn,
                dscp,
                ..Ipv4::default()
            })
        };
        let (opcode, ext, payload) = if self.ack {
            let ext = ExtHeaders {
                seth: Some(Seth::default()),
                cc_state: Some(CcState::default()),
                ..ExtHeaders::default()
            };
            (Opcode::MrcSack, ext, 0)
        } else {
            let ext = ExtHeaders {
                meth: Some(Meth::default()),
                reth: Some(Reth {
                    va: 0x1000,
                    rkey: 7,
                    dma_len: self.payload as u32,
                }),
                ..ExtHeaders::default()
            };
            (Opcode::MrcWriteOnly, ext, self.payload)
        };
        RoceFrame {
            eth: Ethernet {
                dst: to.mac,
                src: from.mac,
                ethertype: 0,
            },
            srv6: self.srv6,
            ip,
            udp: Udp {
                sport: self.sport,
                ..Udp::default()
            },
            bth: Bth {
                opcode,
                psn: self.psn,
                dest_qp: 0x11,
                ..Bth::default()
            },
            ext,
            payload: (0..payload).map(|i| i as u8).collect(),
            ..RoceFrame::default()
        }
    }

    pub fn frame(&self, topology: &Topology) -> Frame {
        Frame::new(self.roce(topology).emit().unwrap())
    }

    /// Sends it into the fabric at `time`.
    pub fn send(&self, fabric: &mut Fabric, time: Time) {
        let frame = self.frame(fabric.topology());
        fabric.send(self.from, self.port, time, frame).unwrap();
    }
}

/// Runs to the end and returns what arrived.
pub fn run(fabric: &mut Fabric) -> Vec<Delivery> {
    let mut deliveries = Vec::new();
    fabric.advance_to(Time::MAX, |delivery| deliveries.push(delivery));
    deliveries
}

/// The frames that arrived, parsed; their iCRC must be correct.
pub fn parsed(delivery: &Delivery) -> RoceFrame {
    RoceFrame::parse(delivery.frame.bytes()).unwrap_or_else(|error| panic!("{error}"))
}

pub fn psns(deliveries: &[Delivery]) -> Vec<u32> {
    deliveries
        .iter()
        .map(|delivery| parsed(delivery).bth.psn)
        .collect()
}

pub fn ecn(delivery: &Delivery) -> Ecn {
    parsed(delivery).ip.ecn()
}

/// Channels between switches, from a switch whose name contains `from`.
pub fn channels_from(topology: &Topology, from: &str) -> Vec<ChannelId> {
    topology
        .channels()
        .filter(|&channel| match topology.ends(channel) {
            (Node::Switch(a), Node::Switch(_)) => {
                topology.switches()[a.0 as usize].name.contains(from)
            }
            _ => false,
        })
        .collect()
}

/// A leaf-spine fabric of one plane, 200G, with `hosts` per leaf.
pub fn leaf_spine(spines: usize, hosts: usize, more: &str) -> Topology {
    topology(&format!(
        "
        [defaults]
        rate_gbps = 200
        delay_ns = 100
        [leaf_spine]
        planes = 1
        leaves = 2
        spines = {spines}
        hosts_per_leaf = {hosts}
        {more}
        "
    ))
}

/// Sends frames numbered from 0 at once over plane 0.
pub fn numbered(fabric: &mut Fabric, count: u32) {
    for psn in 0..count {
        Sent {
            psn,
            payload: 64,
            ..Sent::new(A, B)
        }
        .send(fabric, fabric.now());
    }
}
