//! The links that an override or an event selects, and the node that the end of a link names.

use std::collections::HashMap;

use super::error::Problem;
use super::spec::HostSpec;
use crate::{HostId, LinkId, Node, SwitchId};

/// A node by its name.
#[derive(Clone, Copy, Debug)]
pub(super) enum Named {
    Host(HostId),
    Switch(SwitchId),
}

/// Resolves the names of a topology.
pub(super) struct Names<'a> {
    pub hosts: &'a [HostSpec],
    pub nodes: HashMap<String, Named>,
    pub links: HashMap<String, LinkId>,
    /// Ends and plane of every link.
    pub ends: Vec<([Node; 2], usize)>,
}

impl Names<'_> {
    /// The node `end` of a link names.
    pub(super) fn end(&self, end: &str) -> Result<Node, Problem> {
        let bad = || Problem::BadEnd(end.into());
        let (name, port) = match end.split_once(':') {
            Some((name, port)) => (name, Some(port.parse::<usize>().map_err(|_| bad())?)),
            None => (end, None),
        };
        match (self.node(name)?, port) {
            (Named::Switch(_), Some(_)) => Err(bad()),
            (Named::Switch(switch), None) => Ok(Node::Switch(switch)),
            (Named::Host(host), port) => {
                let ports = self.hosts[host.index()].ports.len();
                let host_name = || name.to_owned();
                match port {
                    Some(port) if port < ports => Ok(Node::Host { host, port }),
                    None if ports == 1 => Ok(Node::Host { host, port: 0 }),
                    None => Err(Problem::PortNeeded(host_name())),
                    Some(port) => Err(Problem::NoSuchPort {
                        host: host_name(),
                        port,
                        ports,
                    }),
                }
            }
        }
    }

    fn node(&self, name: &str) -> Result<Named, Problem> {
        let node = self.nodes.get(name).copied();
        node.ok_or_else(|| Problem::UnknownNode(name.into()))
    }

    /// The links that an override or event selects.
    pub(super) fn select(
        &self,
        link: Option<&str>,
        node: Option<&str>,
        plane: Option<usize>,
    ) -> Result<Vec<LinkId>, Problem> {
        let matching = |wanted: &dyn Fn(&[Node; 2], usize) -> bool| {
            (0..)
                .zip(&self.ends)
                .filter(|(_, (ends, plane))| wanted(ends, *plane))
                .map(|(index, _)| LinkId(index))
                .collect::<Vec<_>>()
        };
        match (link, node, plane) {
            (Some(name), None, None) => {
                let link = self.links.get(name);
                Ok(vec![*link.ok_or_else(|| Problem::UnknownLink(name.into()))?])
            }
            (None, Some(name), None) => {
                let node = self.node(name)?;
                let is_node = |end: &Node| match (node, end) {
                    (Named::Switch(wanted), Node::Switch(switch)) => wanted == *switch,
                    (Named::Host(wanted), Node::Host { host, .. }) => wanted == *host,
                    _ => false,
                };
                Ok(matching(&|ends, _| ends.iter().any(is_node)))
            }
            (None, None, Some(plane)) => {
                let links = matching(&|_, of| of == plane);
                if links.is_empty() {
                    return Err(Problem::UnknownPlane(plane));
                }
                Ok(links)
            }
            _ => Err(Problem::NotOneTarget),
        }
    }
}
