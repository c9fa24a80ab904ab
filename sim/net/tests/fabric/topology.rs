//! Topology files: the shipped ones, and the precedence of settings.

use std::path::Path;

use sim_net::topology::TopologySpec;
use sim_net::{Fabric, HostId, Node, Topology};

use crate::common::{run, Sent};

fn shipped(name: &str) -> Topology {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("topologies")
        .join(name);
    Topology::from_file(path).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_shipped_ones_carry_traffic_between_every_pair_in_every_plane() {
    for (name, hosts, switches, links) in [
        ("back_to_back.toml", 2, 0, 2),
        ("leaf_spine.toml", 8, 20, 2 * (8 + 16)),
        ("hpn_small.toml", 32, 34, 2 * (32 + 30)),
    ] {
        let topology = shipped(name);
        assert_eq!(
            (topology.hosts().len(), topology.switches().len()),
            (hosts, switches),
            "{name}"
        );
        assert_eq!(topology.links().len(), links, "{name}");
        let mut fabric = Fabric::new(topology, 1);
        let mut expected = 0;
        for from in 0..hosts as u32 {
            for to in (0..hosts as u32).filter(|&to| to != from) {
                for port in 0..2 {
                    let sent = Sent {
                        port,
                        ..Sent::new(HostId(from), HostId(to))
                    };
                    sent.send(&mut fabric, u64::from(to) * 10_000_000);
                    expected += 1;
                }
            }
        }
        assert_eq!(run(&mut fabric).len(), expected, "{name}");
    }
}

#[test]
fn settings_come_from_the_nearest_place() {
    let text = "
        [defaults]
        rate_gbps = 100
        delay_ns = 1
        loss = 0.5
        [leaf_spine]
        planes = 1
        leaves = 2
        spines = 2
        hosts_per_leaf = 1
        spine_link = { rate_gbps = 400, delay_ns = 2 }
        [[overrides]]
        node = 'p0.spine1'
        set.delay_ns = 3
        [[overrides]]
        link = 'p0.leaf1-spine1'
        set.loss = 0";
    let topology = crate::common::topology(text);
    let of = |name: &str| {
        let link = &topology.links()[topology.link(name).unwrap().0 as usize];
        (
            link.params.rate_mbps,
            link.params.delay_ps,
            link.params.loss,
        )
    };
    assert_eq!(of("p0.h0-leaf0"), (100_000, 1_000, 0.5));
    assert_eq!(of("p0.leaf0-spine0"), (400_000, 2_000, 0.5));
    assert_eq!(of("p0.leaf0-spine1"), (400_000, 3_000, 0.5));
    assert_eq!(of("p0.leaf1-spine1"), (400_000, 3_000, 0.0));
    let params = &topology.links()[0].params;
    assert_eq!(
        (params.queue_bytes, params.control_queue_bytes),
        (1_000_000, 200_000)
    );
    assert_eq!((params.ecn, params.trim, params.jitter_ps), (None, None, 0));
}

#[test]
fn everything_can_be_named() {
    let text = "
        [[hosts]]
        name = 'a'
        ports = [{ mac = '02:aa:bb:cc:dd:EE', ipv4 = '192.0.2.1', ipv6 = '2001:db8::1', usid = 0x2222 }]
        [[hosts]]
        name = 'b'
        [[switches]]
        name = 's'
        usid = 0x0abc
        latency_ns = 0.5
        [[links]]
        name = 'left'
        ends = ['a:0', 's']
        set = { rate_gbps = 25, delay_ns = 0.25 }
        [[links]]
        name = 'right'
        ends = ['s', 'b']
        set = { rate_gbps = 0.5 }";
    let topology = crate::common::topology(text);
    let port = &topology.hosts()[0].ports[0];
    assert_eq!(port.mac.to_string(), "02:aa:bb:cc:dd:ee");
    assert_eq!(
        (port.ipv4.to_string(), port.ipv6.to_string(), port.usid),
        ("192.0.2.1".into(), "2001:db8::1".into(), 0x2222)
    );
    assert_eq!(
        (topology.switches()[0].usid, topology.switches()[0].latency),
        (0xabc, 500)
    );
    let left = topology.link("left").unwrap();
    let host = Node::Host {
        host: HostId(0),
        port: 0,
    };
    let switch = Node::Switch(topology.switch("s").unwrap());
    assert_eq!(topology.ends(left.forward()), (host, switch));
    assert_eq!(topology.ends(left.forward().opposite()), (switch, host));
    assert_eq!(topology.uplink(HostId(0), 0), Some(left.forward()));
    let right = topology.link("right").unwrap();
    assert_eq!(topology.uplink(HostId(1), 0), Some(right.backward()));
    assert_eq!(
        (left.forward().link(), right.backward().link()),
        (left, right)
    );
    assert_eq!(
        (topology.uplink(HostId(1), 1), topology.uplink(HostId(2), 0)),
        (None, None)
    );
    assert_eq!(
        (topology.host("b"), topology.host("s")),
        (Some(HostId(1)), None)
    );
    assert_eq!(topology.links()[1].params.rate_mbps, 500);
}

#[test]
fn a_topology_can_be_built_without_a_file() {
    let mut spec = TopologySpec::default();
    spec.defaults.rate_gbps = Some(200.0);
    spec.back_to_back = Some(sim_net::topology::BackToBack { planes: 2 });
    let text = toml_of(&spec);
    assert_eq!(
        Topology::from_spec("code", spec).unwrap(),
        Topology::from_toml("text", &text).unwrap()
    );
}

/// The specification as the contents of a file.
fn toml_of(spec: &TopologySpec) -> String {
    toml::to_string(spec).unwrap()
}
