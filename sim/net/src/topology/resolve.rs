//! From the file's keys to a checked topology.

use std::collections::HashMap;

use super::error::{Problem, TopologyError};
use super::generate::expand;
use super::nodes::{check_counts, hosts, switches};
use super::params::{check_dscp, picoseconds, LinkParams};
use super::select::{Named, Names};
use super::spec::{LinkSettings, TopologySpec};
use super::{Change, Host, Link, Topology};
use crate::parcel::Classifier;
use crate::{HostId, LinkId, Node, SwitchId};

/// A problem with its key, before the file's name is added.
pub(super) type Found<T> = Result<T, (String, Problem)>;

impl Topology {
    /// Builds a topology from the contents of a file; errors call it `file`.
    ///
    /// # Errors
    /// See [`Self::from_file`].
    pub fn from_spec(file: &str, spec: TopologySpec) -> Result<Self, TopologyError> {
        build(spec).map_err(|(key, problem)| TopologyError {
            file: file.into(),
            key,
            problem,
        })
    }
}

fn build(mut spec: TopologySpec) -> Found<Topology> {
    expand(&mut spec).map_err(|(key, problem)| (key.to_owned(), problem))?;
    check_counts(&spec)?;
    let mut names = Names {
        hosts: &spec.hosts,
        nodes: node_names(&spec)?,
        links: HashMap::new(),
        ends: Vec::with_capacity(spec.links.len()),
    };
    for (index, link) in (0..).zip(&spec.links) {
        let key = format!("links {:?}", link.name);
        check_name(&link.name).map_err(|problem| ("links".into(), problem))?;
        if names
            .links
            .insert(link.name.clone(), LinkId(index))
            .is_some()
        {
            return Err((key, Problem::DuplicateName));
        }
        let ends_key = || format!("{key}: ends");
        let end = |end: &String| names.end(end).map_err(|problem| (ends_key(), problem));
        let ends = [end(&link.ends[0])?, end(&link.ends[1])?];
        let plane = plane_of(&spec, ends).map_err(|problem| (ends_key(), problem))?;
        names.ends.push((ends, plane));
    }
    let links = links(&spec, &names)?;
    let ports = connect(&spec, &links)?;
    let switches = switches(&spec)?;
    let hosts = hosts(&spec, &ports, &switches)?;
    reachable(&hosts, &links, switches.len())?;
    let fabric = &spec.fabric;
    for &dscp in fabric.control_dscp.iter().flatten() {
        check_dscp(dscp).map_err(|problem| ("fabric.control_dscp".into(), problem))?;
    }
    let balancer = fabric.balancer;
    balancer.check().map_err(|bad| {
        let key = format!("fabric.balancer.{}", bad.parameter);
        (key, bad.into())
    })?;
    let reroute_delay = fabric.reroute_ns.map(picoseconds).transpose();
    Ok(Topology {
        changes: changes(&spec, &names)?,
        usid_block: usid_block(&fabric.usid_block).ok_or_else(|| {
            (
                "fabric.usid_block".into(),
                Problem::BadBlock(fabric.usid_block.clone()),
            )
        })?,
        classifier: Classifier {
            control_dscp: fabric.control_dscp.clone(),
            roce_port: fabric.roce_port,
        },
        ecn_at_last_hop: fabric.ecn_at_last_hop,
        reroute_delay: reroute_delay.map_err(|problem| ("fabric.reroute_ns".into(), problem))?,
        balancer,
        hosts,
        switches,
        links,
    })
}

fn check_name(name: &str) -> Result<(), Problem> {
    if name.is_empty() || name.contains(':') {
        return Err(Problem::BadName(name.into()));
    }
    Ok(())
}

fn node_names(spec: &TopologySpec) -> Found<HashMap<String, Named>> {
    let mut nodes = HashMap::new();
    let hosts = (0..)
        .zip(&spec.hosts)
        .map(|(index, host)| ("hosts", &host.name, Named::Host(HostId(index))));
    let switches = (0..)
        .zip(&spec.switches)
        .map(|(index, switch)| ("switches", &switch.name, Named::Switch(SwitchId(index))));
    for (table, name, node) in hosts.chain(switches) {
        check_name(name).map_err(|problem| (table.into(), problem))?;
        if nodes.insert(name.clone(), node).is_some() {
            return Err((format!("{table} {name:?}"), Problem::DuplicateName));
        }
    }
    Ok(nodes)
}

/// The plane both ends of a link are in.
fn plane_of(spec: &TopologySpec, ends: [Node; 2]) -> Result<usize, Problem> {
    let name = |node| match node {
        Node::Host { host, .. } => &spec.hosts[host.index()].name,
        Node::Switch(switch) => &spec.switches[switch.index()].name,
    };
    if name(ends[0]) == name(ends[1]) {
        return Err(Problem::SelfLink(name(ends[0]).clone()));
    }
    let [first, second] = ends.map(|node| match node {
        Node::Host { port, .. } => port,
        Node::Switch(switch) => spec.switches[switch.index()].plane,
    });
    if first != second {
        return Err(Problem::CrossPlane(first, second));
    }
    Ok(first)
}

fn links(spec: &TopologySpec, names: &Names) -> Found<Vec<Link>> {
    let mut settings: Vec<LinkSettings> = spec
        .links
        .iter()
        .map(|link| link.set.over(&spec.defaults))
        .collect();
    for (index, over) in spec.overrides.iter().enumerate() {
        let selected = names
            .select(over.link.as_deref(), over.node.as_deref(), over.plane)
            .map_err(|problem| (format!("overrides[{index}]"), problem))?;
        for link in selected {
            settings[link.index()] = over.set.over(&settings[link.index()]);
        }
    }
    let known = spec.links.iter().zip(&names.ends).zip(&settings);
    known
        .map(|((link, &(ends, plane)), set)| {
            let params = LinkParams::check(set)
                .map_err(|(key, problem)| (format!("links {:?}: {key}", link.name), problem))?;
            let name = link.name.clone();
            Ok(Link {
                name,
                plane,
                ends,
                params,
            })
        })
        .collect()
}

/// The link of every host port.
fn connect(spec: &TopologySpec, links: &[Link]) -> Found<HashMap<(HostId, usize), LinkId>> {
    let mut ports = HashMap::new();
    for (index, link) in (0..).zip(links) {
        for node in link.ends {
            let Node::Host { host, port } = node else {
                continue;
            };
            if let Some(LinkId(first)) = ports.insert((host, port), LinkId(index)) {
                let problem = Problem::PortTaken {
                    host: spec.hosts[host.index()].name.clone(),
                    port,
                    link: links[first as usize].name.clone(),
                };
                return Err((format!("links {:?}: ends", link.name), problem));
            }
        }
    }
    Ok(ports)
}

fn usid_block(text: &str) -> Option<u32> {
    let (high, low) = text.split_once(':')?;
    let group = |text| u16::from_str_radix(text, 16).ok();
    Some(u32::from(group(high)?) << 16 | u32::from(group(low)?))
}

/// Checks that within a plane every host reaches every other over the switches.
fn reachable(hosts: &[Host], links: &[Link], switches: usize) -> Found<()> {
    // Connected components by union and find. Hosts forward nothing, so a host joins only itself to its switch.
    let mut parent: Vec<usize> = (0..switches + links.len()).collect();
    fn root(parent: &mut [usize], mut node: usize) -> usize {
        while parent[node] != node {
            parent[node] = parent[parent[node]];
            node = parent[node];
        }
        node
    }
    for (index, link) in links.iter().enumerate() {
        for end in link.ends {
            if let Node::Switch(switch) = end {
                let (a, b) = (
                    root(&mut parent, switches + index),
                    root(&mut parent, switch.index()),
                );
                parent[a] = b;
            }
        }
    }
    let mut first: HashMap<usize, (usize, &str)> = HashMap::new();
    for host in hosts {
        for (plane, port) in host.ports.iter().enumerate() {
            let component = root(&mut parent, switches + port.link.index());
            let (expected, from) = *first.entry(plane).or_insert((component, &host.name));
            if component != expected {
                let (from, to) = (from.to_owned(), host.name.clone());
                return Err((
                    format!("hosts {to:?}: ports[{plane}]"),
                    Problem::NoRoute { plane, from, to },
                ));
            }
        }
    }
    Ok(())
}

fn changes(spec: &TopologySpec, names: &Names) -> Found<Vec<Change>> {
    let mut changes = Vec::new();
    for (index, event) in spec.events.iter().enumerate() {
        let key = |name| format!("events[{index}]{name}");
        let time = picoseconds(event.at_us * 1000.0).map_err(|problem| (key(".at_us"), problem))?;
        let links = names
            .select(event.link.as_deref(), event.node.as_deref(), event.plane)
            .map_err(|problem| (key(""), problem))?;
        changes.extend(links.into_iter().map(|link| Change {
            time,
            link,
            up: event.up,
        }));
    }
    Ok(changes)
}
